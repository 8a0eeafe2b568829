/* Source: bsp.hpp, statement 7
 * Claim: A wrong use of a group ends the job as one of pub.h does.
 * Cases: left order moved pid ends count elements one none throws
 * Procs: 2 4
 * Exit: 6
 * Stderr if case == 'left': ^bspnow: bsp_end on pid \d, superstep 0: pid \d is in 1 groups still;
 *   leave them first
 * Stderr if case == 'order': ^bspnow: bsp_done on pid \d, superstep 0: an object that this thread
 *   has made after this one is open still; .+
 * Stderr if case == 'moved': ^bspnow: bsp_sync on pid \d, superstep 0: this t_bsp names no object:
 * Stderr if case == 'pid': ^bspnow: bsp_send on pid \d, superstep 0: pid {p} is outside 0..{p - 1}
 * Stderr if case == 'ends': ^bspnow: bsp_partition on pid \d, superstep 0: part\[0\] is 1, and p is
 * Stderr if case == 'count': ^bspnow: bsp_oblsync on pid \d, superstep 0: 1 messages are expected,
 *   and 2 were sent .+
 * Stderr if case == 'elements': ^bspnow: bsp::group::messages on pid \d, superstep 0: a message of
 *   3 bytes is no whole number of elements of 4
 * Stderr if case == 'one': ^bspnow: bsp::group_message::value on pid \d, superstep 0: the message
 *   has 3 elements
 * Stderr if case == 'none': ^bspnow: bspmsg_data on pid \d, superstep 0: the message is NULL: .+
 * Stderr if case == 'throws': ^bspnow: an operation on pid \d, superstep 0: an exception left it:
 *   cannot combine
 */
#include <bsp.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

static std::optional<bsp::group> kept;

static void Wrong(bsp::world& world, const std::string& what) {
  bsp::group all(world);
  int sum;
  if (what == "left") kept.emplace(world);
  if (what == "order") kept.emplace(all.dup());
  if (what == "moved") {
    bsp::group other = std::move(all);
    all.sync();
  }
  if (what == "pid") all.send(all.nprocs(), 1);
  if (what == "ends") bsp::group sub = all.partition({1});
  if (what == "count") {
    all.send(all.pid(), 1);
    all.send(all.pid(), 2);
    all.oblsync(1);
  }
  if (what == "throws")
    all.reduce(1, sum, [](int, int) -> int { throw std::runtime_error("cannot combine"); });
  all.send(all.pid(), std::string("abc"));
  all.sync();
  if (what == "elements") all.messages<int>()[0];
  if (what == "one") all.messages<char>()[0].value();
  if (what == "none") all.messages<char>()[1];
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  bsp::run([&what](bsp::world& world) { Wrong(world, what); });
  std::puts("no error");
  return 0;
}
