/* Source: bsp.hpp, statement 10
 * Claim: A std::pair, which holds nothing elsewhere but assigns by a function of its own, does not
 *   compile, and the error says what does.
 * Refused: must be trivially copyable.*No std::pair or std::tuple; use a struct
 */
#include <bsp.hpp>
#include <utility>

void Use() { bsp::send(0, std::pair<int, double>(1, 2.0)); }
