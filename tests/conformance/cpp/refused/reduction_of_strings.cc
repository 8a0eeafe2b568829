/* Source: bsp.hpp, statement 10
 * Claim: A reduction of what owns memory elsewhere does not compile.
 * Refused: must be trivially copyable
 */
#include <bsp.hpp>
#include <string>

std::string Use() { return bsp::reduce(std::string("a")); }
