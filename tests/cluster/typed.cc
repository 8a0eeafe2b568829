// Supersteps that functions of bsp.hpp end, which are inlined: a test finds the calls by the words
// beside them.
#include <bsp.hpp>

int main() {
  bsp::run([](bsp::world& world) {
    bsp::array<int> left(1);
    world.sync(); /* registers */
    for (int i = 0; i < 3; ++i) {
      left.put((world.pid() + 1) % world.nprocs(), world.pid());
      world.sync(); /* puts */
    }
  });
}
