/* Source: bsp.hpp, statement 7
 * Claim: A wrong use ends the job as one of the C calls does, and a position is checked by the
 *   size that the other process has registered.
 * Cases: beyond slice pid tag no_tag queue elements one maxprocs exchange blocks
 * Procs: 2 4
 * Exit: 6
 * Stderr if case == 'beyond': ^bspnow: bsp_put on pid \d, superstep 1: offset 8 \+ 8 bytes is
 *   beyond the 12 bytes registered by pid 1
 * Stderr if case == 'slice': ^bspnow: bsp::view::slice on pid \d, superstep 1: elements 2 to 4
 *   of 3
 * Stderr if case == 'pid': ^bspnow: bsp_put on pid \d, superstep 1: pid 4294967295 is outside
 * Stderr if case == 'tag': ^bspnow: bsp::send on pid \d, superstep 1: the tag has 2 bytes, and
 *   in this superstep tags have 0; call bsp::set_tag
 * Stderr if case == 'no_tag': ^bspnow: bsp_send on pid \d, superstep 2: tag is NULL, and the tag
 *   size is 4
 * Stderr if case == 'queue': ^bspnow: bsp::messages on pid \d, superstep 2: the tags of the
 *   queue have 0 bytes, and Tag has 4
 * Stderr if case == 'elements': ^bspnow: bsp::messages on pid \d, superstep 2: a message of 3
 *   bytes is no whole number of elements of 4
 * Stderr if case == 'one': ^bspnow: bsp::message::value on pid \d, superstep 2: the message has
 *   3
 * Stderr if case == 'maxprocs': ^bspnow: bsp_begin on pid 0 before bsp_begin: maxprocs is 0
 * Stderr if case == 'exchange': ^bspnow: bsp::exchange on pid \d, superstep 1: {p + 1} elements
 *   cannot
 * Stderr if case == 'blocks': ^bspnow: bsp::scatter on pid 1, superstep 1: the blocks have 3
 *   elements
 */
#include <bsp.hpp>
#include <string>
#include <vector>

static void Wrong(bsp::world& world, const std::string& what, bsp::array<int>& three) {
  if (what == "beyond") three.put(1, std::vector<int>(2), 2);
  if (what == "slice") three.slice(2, 2);
  if (what == "pid") three.put(-1, 0);
  if (what == "tag") bsp::send(0, 1, static_cast<short>(1));
  if (what == "no_tag") bsp::set_tag<int>();
  if (what == "exchange") bsp::exchange(std::vector<int>(world.nprocs() + 1));
  if (what == "blocks") bsp::scatter(1, std::vector<int>(3), three[0]);
  for (int pid = 0; pid < world.nprocs(); pid++) bsp::send(pid, std::string("abc"));
  world.sync();
  if (what == "no_tag") bsp::send(0, 1);
  if (what == "queue") bsp::messages<int, int>();
  if (what == "elements") bsp::messages<int>().begin();
  if (what == "one") bsp::messages<char>().begin()->value();
  world.sync();
  std::puts("no error");
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  bsp::run(what == "maxprocs" ? 0 : bsp_nprocs(), [&what](bsp::world& world) {
    bsp::array<int> three(3);
    world.sync();
    Wrong(world, what, three);
  });
  return 0;
}
