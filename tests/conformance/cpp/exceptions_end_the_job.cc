/* Source: bsp.hpp, statement 6
 * Claim: An exception that leaves the function of bsp::run, or an operation of a reduction, ends
 *   the job with its what(), the pid and the superstep, while the others wait at a barrier.
 * Cases: std other operation
 * Procs: 2 4 7
 * Exit: 6
 * Stderr if case == 'std': ^bspnow: bsp::run on pid {p - 1}, superstep 2: an exception left it:
 *   no more rows, at .+$
 * Stderr if case == 'other': ^bspnow: bsp::run on pid {p - 1}, superstep 2: an exception left
 *   it, which is no std::exception, at .+$
 * Stderr if case == 'operation': ^bspnow: an operation on pid \d+, superstep \d+: an exception
 *   left it: cannot combine, at .+$
 */
#include <bsp.hpp>
#include <cstring>
#include <stdexcept>

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  bsp::run([what](bsp::world& world) {
    bsp::array<int> area(10);
    world.sync();
    area.hpput(0, bsp::view<int>(area.data(), 5), 5);
    world.sync();
    if (std::strcmp(what, "operation") == 0) {
      bsp::reduce(1, [](int a, int b) {
        if (a > 0) throw std::runtime_error("cannot combine");
        return a + b;
      });
    }
    if (world.pid() == world.nprocs() - 1) {
      if (std::strcmp(what, "std") == 0) throw std::runtime_error("no more rows");
      throw 7;
    }
    world.sync();
    std::puts("no error");
  });
  return 0;
}
