/* Source: bsp.hpp, statement 10
 * Claim: A range of another element type is not put.
 * Refused: elements of another type than the registered ones
 */
#include <bsp.hpp>
#include <vector>

void Use(bsp::array<double>& area) { area.put(0, std::vector<float>(3)); }
