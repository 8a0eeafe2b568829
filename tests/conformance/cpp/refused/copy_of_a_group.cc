/* Source: bsp.hpp, statement 10
 * Claim: A group is left once, so its object is not copied.
 * Refused: deleted
 */
#include <bsp.hpp>

void Use(const bsp::group& all) { bsp::group copy(all); }
