/* Source: semantics, PUB, statement 6
 * Claim: An operation of a reduction may ask for p and the pid. That it sends, moves memory, calls
 *   another reduction, ends a superstep or makes a group is an error.
 * Cases: bsp_send bsp_hpsend bsp_gsend bsp_put bsp_get bsp_gscan bsp_sync bsp_oblsync bsp_dup
 * Procs: 2 4
 * Exit: 6
 * Stderr: ^bspnow: {case} on pid \d+, superstep \d+: it is called within an operation of a
 *   collective call, .+
 */
#include <pub.h>

#include "pub/expect_pub.h"

#define CALLED(name) (strcmp(call, #name) == 0)

static const char *call;
static int me, p;

static void AddAndCall(void *result, const void *left, const void *right, int count, void *param) {
  pbsp bsp = (pbsp)param;
  static int x;
  t_bsp made;
  (void)count;
  EXPECT_EQ(bsp_pid(bsp), me);
  EXPECT_EQ(bsp_nprocs(bsp), p);
  if (CALLED(bsp_send)) bsp_send(bsp, 0, &x, sizeof x);
  if (CALLED(bsp_hpsend)) bsp_hpsend(bsp, 0, &x, sizeof x);
  if (CALLED(bsp_gsend)) bsp_gsend(bsp, 0, p - 1, &x, sizeof x);
  if (CALLED(bsp_put)) bsp_put(bsp, 0, &x, &x, 0, sizeof x);
  if (CALLED(bsp_get)) bsp_get(bsp, 0, &x, 0, &x, sizeof x);
  if (CALLED(bsp_gscan)) bsp_gscan(bsp, 0, p - 1, &x, &x, 1, bspop_addint, NULL);
  if (CALLED(bsp_sync)) bsp_sync(bsp);
  if (CALLED(bsp_oblsync)) bsp_oblsync(bsp, 0);
  if (CALLED(bsp_dup)) bsp_dup(bsp, &made);
  *(int *)result = *(const int *)left + *(const int *)right;
}

int main(int argc, char **argv) {
  static const t_bspop add_and_call[1] = {{sizeof(int), AddAndCall}};
  t_bsp bsp;
  int sum;
  PUB_BEGIN(argc, argv, bsp);
  call = argv[1];
  me = bsp_pid(&bsp);
  p = bsp_nprocs(&bsp);
  bsp_gallreduce(&bsp, 0, p - 1, &me, &sum, 1, add_and_call, &bsp);
  if (CALLED(bsp_send)) {
    bsp_oblsync(&bsp, 1);
  } else {
    bsp_sync(&bsp);
  }
  PUB_END(bsp);
  return 0;
}
