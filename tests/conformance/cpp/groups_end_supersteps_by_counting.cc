/* Source: bsp.hpp, statement 13
 * Claim: oblsync ends a superstep of a group with the messages that it counts, and with them alone,
 *   whatever is sent in later supersteps; a reduction is one of them.
 */
#include <bsp.hpp>

#include "expect.h"

int main() {
  bsp::run([](bsp::world& world) {
    bsp::group all(world);
    const int p = all.nprocs(), me = all.pid();
    for (int turn = 0; turn < 50; turn++) {
      // Along a chain: each waits for the one before.
      if (me < p - 1) all.send(me + 1, 100 * turn + me);
      all.oblsync(me > 0 ? 1 : 0);
      EXPECT_EQ(all.messages<int>().size(), me > 0 ? 1 : 0);
      if (me > 0) EXPECT_EQ(all.messages<int>()[0].value(), 100 * turn + me - 1);
    }
    int sum = 0;
    all.reduce(me, sum);
    all.send(me, 'x');
    all.oblsync(2);
    EXPECT_EQ(sum, p * (p - 1) / 2);
    EXPECT_EQ(all.messages<char>()[0].value(), 'x');
    if (me == 0) std::puts("ok");
  });
  return 0;
}
