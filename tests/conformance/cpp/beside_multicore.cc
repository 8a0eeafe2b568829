/* Source: bsp.hpp, statement 9
 * Claim: bsp.hpp serves beside either dialect of bsp.h, whose calls act on the same things.
 */
#define BSP_MULTICORE
#include <bsp.hpp>

#include "expect.h"

int main() {
  bsp::run([](bsp::world& world) {
    const std::size_t size = sizeof(int);
    bsp::array<int> area(2, 0);
    world.sync();
    int x = 4;
    bsp_put(bsp_pid(), &x, area.data(), size, size);
    bsp_sync();
    EXPECT(area[0] == 0 && area[1] == 4);
    if (world.pid() == 0) std::puts("ok");
  });
  return 0;
}
