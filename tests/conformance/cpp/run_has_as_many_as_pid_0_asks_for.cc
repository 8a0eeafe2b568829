/* Source: bsp.hpp, statement 1
 * Claim: Process 0 decides how many processes bsp::run has; what the others hold in that variable
 *   does not matter, and may be 0.
 * Stdout if pid < (p + 1) // 2: {pid} of {(p + 1) // 2}, wanted {(p + 1) // 2 if pid == 0 else 0}
 * Order: any
 */
#include <bsp.hpp>
#include <cstdio>

static int wanted;

static void Spmd() {
  bsp::run(wanted, [](bsp::world& world) {
    std::printf("%d of %d, wanted %d\n", world.pid(), world.nprocs(), wanted);
  });
}

int main(int argc, char** argv) {
  bsp_init(Spmd, argc, argv);
  wanted = (bsp_nprocs() + 1) / 2;
  Spmd();
  return 0;
}
