/* Source: semantics, collectives, statement 10
 * Claim: Messages that were sent in the superstep which a collective call ends are gone when it
 *   returns, also where the call takes no more than that superstep.
 * Procs: 1 2 4
 * Cases: free direct tree two-phase pipeline read
 * Env if case != 'free': BSP_COLLECTIVES={case}
 */
#include "bsp_level1.h"
#include "expect.h"

enum { kInts = 64 };

static void AddInt(void *result, void *left, void *right, int *nbytes) {
  EXPECT_EQ(*nbytes, sizeof(int));
  *(int *)result = *(int *)left + *(int *)right;
}

static void Call(int call) {
  static int src[kInts], dst[kInts];
  if (call == 0) bsp_bcast(0, src, dst, (int)sizeof src);
  if (call == 1) bsp_scatter(0, src, dst, (int)sizeof *src);
  if (call == 2) bsp_gather(0, src, dst, (int)sizeof *src);
  if (call == 3) bsp_exchange(src, dst, (int)sizeof *src);
  if (call == 4) bsp_fold(AddInt, src, dst, (int)sizeof *src);
  if (call == 5) bsp_scan(AddInt, src, dst, (int)sizeof *src);
  if (call == 6) bsp_sumI(1);
  if (call == 7) bsp_bcast(0, src, dst, 0);
}

int main(void) {
  int p, me, call;
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  me = bsp_pid();
  for (call = 0; call < 8; call++) {
    int n, bytes, status;
    bsp_send((me + 1) % p, NULL, &me, sizeof me);
    Call(call);
    bsp_qsize(&n, &bytes);
    EXPECT(n == 0 && bytes == 0);
    bsp_get_tag(&status, NULL);
    EXPECT_EQ(status, -1);
  }
  bsp_send((me + 1) % p, NULL, &me, sizeof me);
  bsp_sync();
  bsp_move(&call, sizeof call);
  EXPECT_EQ(call, (me + p - 1) % p);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
