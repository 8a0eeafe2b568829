/* Source: bsp.hpp, statement 11
 * Claim: A world that is an SPMD section has groups as any other has; they are left before it ends,
 *   also if groups of the section around it are open.
 * Cases: all_left one_kept
 * Exit if case == 'one_kept': 6
 * Stderr if case == 'one_kept': ^bspnow: bsp_end on pid \d+, superstep \d+: pid \d+ is in 1 groups
 *   still; leave them first
 */
#define BSP_MULTICORE
#include <bsp.hpp>
#include <cstring>
#include <optional>

#include "expect.h"

static std::optional<bsp::group> kept;
static bool keeps = false;

static void Inner() {
  bsp::run([](bsp::world& world) {
    bsp::group all(world);
    EXPECT_EQ(all.nprocs(), world.nprocs());
    if (keeps) kept.emplace(world);
  });
}

static void Outer() {
  bsp::run((static_cast<int>(bsp_nprocs()) + 1) / 2, [](bsp::world& world) {
    bsp::group all(world);
    int sum = 0;
    all.reduce(1, sum);
    all.sync();
    EXPECT_EQ(sum, world.nprocs());
    Inner();
    all.send(all.pid(), sum);
    all.sync();
    EXPECT_EQ(all.messages<int>()[0].value(), sum);
  });
}

int main(int argc, char** argv) {
  keeps = argc > 1 && std::strcmp(argv[1], "one_kept") == 0;
  bsp_init(Outer, argc, argv);
  Outer();
  Outer();
  std::puts("ok");
  return 0;
}
