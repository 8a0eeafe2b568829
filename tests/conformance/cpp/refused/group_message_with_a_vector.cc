/* Source: bsp.hpp, statement 10
 * Claim: A message of a group that owns memory elsewhere does not compile.
 * Refused: must be trivially copyable
 */
#include <bsp.hpp>
#include <string>
#include <vector>

void Use(bsp::group& all) { all.send(0, std::vector<std::string>(2)); }
