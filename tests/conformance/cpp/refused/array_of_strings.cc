/* Source: bsp.hpp, statement 10
 * Claim: An array whose elements own memory elsewhere does not compile.
 * Refused: must be trivially copyable
 */
#include <bsp.hpp>
#include <string>

void Use() { bsp::array<std::string> names(3); }
