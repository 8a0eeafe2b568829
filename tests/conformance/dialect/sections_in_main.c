/* Source: MulticoreBSP, calls, statement 6
 * Source: semantics, dialects, statement 5
 * Claim: Without bsp_init all processes run main, and may begin a section again; it has at most the
 *   processes of the one before it. Those that it does not need end. A child that the program makes
 *   by fork may exit.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "mcbsp.h"

static unsigned Sum(void) {
  unsigned area[64] = {0}, i, sum = 0, value = bsp_pid() + 1;
  bsp_push_reg(area, sizeof area);
  bsp_sync();
  for (i = 0; i < bsp_nprocs(); ++i)
    bsp_put(i, &value, area, bsp_pid() * sizeof value, sizeof value);
  bsp_sync();
  for (i = 0; i < bsp_nprocs(); ++i) sum += area[i];
  return sum; /* The area stays registered. */
}

static void Fork(void) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) exit(7);
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

int main(void) {
  const unsigned n = bsp_nprocs();
  unsigned p;
  for (p = n; p > 0; p /= 2) {
    bsp_begin(p);
    EXPECT_EQ(bsp_nprocs(), p);
    EXPECT_EQ(Sum(), p * (p + 1) / 2);
    bsp_end();
    EXPECT_EQ(bsp_nprocs(), p);
    Fork();
  }
  bsp_begin(n);
  EXPECT_EQ(bsp_nprocs(), 1);
  bsp_end();
  puts("ok");
  return 0;
}
