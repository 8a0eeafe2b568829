/* Source: bsp.hpp, statement 10
 * Claim: A reduction of a group combines when the superstep ends, so an operation with much state
 *   must be there still.
 * Refused: keep it in a variable until then
 */
#include <bsp.hpp>
#include <vector>

void Use(bsp::group& all, int& sum) {
  std::vector<int> table(10);
  all.reduce(1, sum, [table](int a, int b) { return table[a] + table[b]; });
}
