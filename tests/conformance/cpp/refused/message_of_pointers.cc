/* Source: bsp.hpp, statement 10
 * Claim: A range of pointers is not sent.
 * Refused: a pointer means nothing in the memory of another process
 */
#include <bsp.hpp>
#include <vector>

void Use(const std::vector<char*>& texts) { bsp::send(0, texts); }
