/* Source: MulticoreBSP, calls, statement 8
 * Source: semantics, dialects, statement 6
 * Claim: Each process of a section may begin sections of its own, whose processes are those that
 *   the outer one did not need, shared out by pid; without any, or without a procedure, it is alone
 *   there. After bsp_end it is in the outer section again, with its registrations.
 */
#include "expect.h"
#include "mcbsp.h"

static unsigned available, outer_p;
static int argc_of_main;
static char **argv_of_main;

/* The sum of what all hold, on all. */
static unsigned Sum(unsigned value) {
  unsigned area[64] = {0}, i, sum = 0;
  bsp_push_reg(area, sizeof area);
  bsp_sync();
  for (i = 0; i < bsp_nprocs(); ++i)
    bsp_put(i, &value, area, bsp_pid() * sizeof value, sizeof value);
  bsp_sync();
  for (i = 0; i < bsp_nprocs(); ++i) sum += area[i];
  bsp_pop_reg(area);
  bsp_sync();
  return sum;
}

static void Inner(void) {
  unsigned p;
  bsp_begin(64);
  p = bsp_nprocs();
  EXPECT_EQ(Sum(bsp_pid()), p * (p - 1) / 2);
  bsp_begin(64); /* No procedure: this process alone. */
  EXPECT_EQ(bsp_nprocs(), 1);
  EXPECT_EQ(bsp_pid(), 0);
  EXPECT_EQ(Sum(7), 7);
  bsp_end();
  EXPECT_EQ(bsp_nprocs(), p);
  outer_p = p; /* As process zero of this section leaves it. */
  bsp_end();
}

static void Outer(void) {
  unsigned p, me, area = 0, value = 3, inner;
  int times;
  bsp_begin(available / 2 + 1);
  p = bsp_nprocs();
  me = bsp_pid();
  bsp_push_reg(&area, sizeof area);
  bsp_sync();
  inner = 0;
  for (times = 0; times < 2 + (int)me % 2; ++times) {
    bsp_init(Inner, argc_of_main, argv_of_main);
    Inner();
    inner = outer_p;
  }
  EXPECT_EQ(bsp_nprocs(), p);
  EXPECT_EQ(bsp_pid(), me);
  bsp_put((me + 1) % p, &value, &area, 0, sizeof value);
  bsp_sync();
  EXPECT_EQ(area, 3);
  /* Every process of the job was in one of the inner sections. */
  inner = Sum(inner);
  if (me == 0) EXPECT_EQ(inner, available);
  bsp_end();
}

int main(int argc, char **argv) {
  argc_of_main = argc;
  argv_of_main = argv;
  bsp_init(Outer, argc, argv);
  available = bsp_nprocs();
  Outer();
  Outer();
  puts("ok");
  return 0;
}
