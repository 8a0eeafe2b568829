/* Source: bsp.hpp, statement 8
 * Claim: bsp::resume registers elements and ranges as the areas of a checkpoint; a job that
 *   begins finds them as they were, by 0.
 */
#include <bsp.hpp>
#include <vector>

#include "expect.h"

int main() {
  bsp::run([](bsp::world& world) {
    int step = 3;
    std::vector<double> x(10, 1.5);
    bsp::array<char> text(5, 'a');
    EXPECT_EQ(bsp::resume(step, x, text), 0);
    EXPECT(step == 3 && x[9] == 1.5 && text[4] == 'a');
    world.sync();
    if (world.pid() == 0) std::puts("ok");
  });
  return 0;
}
