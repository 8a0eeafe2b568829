/* Source: semantics, collectives, statement 2
 * Claim: Puts and gets issued before a collective call have taken effect when it returns, and what
 *   was pushed is registered, even where it moves nothing; they find the areas of the call as they
 *   were before it.
 * Procs: 1 2 4 7
 * Cases: free direct tree two-phase pipeline read
 * Env if case != 'free': BSP_COLLECTIVES={case}
 */
#include "bsp_level1.h"

#include "expect.h"

enum { kInts = 75000, kMovements = 6 };
static int src[kInts], dst[kInts];

static void AddInts(void *result, void *left, void *right, int *nbytes) {
  int i;
  for (i = 0; i < *nbytes / (int)sizeof(int); i++)
    ((int *)result)[i] = ((int *)left)[i] + ((int *)right)[i];
}

/* `n` elements of `src`, in blocks where there are some, give the same number of `dst`. */
static void Move(int movement, int n) {
  const int block = n / bsp_nprocs() * (int)sizeof(int);
  if (movement == 0) bsp_bcast(0, src, dst, n * (int)sizeof(int));
  if (movement == 1) bsp_scatter(0, src, dst, block);
  if (movement == 2) bsp_gather(0, src, dst, block);
  if (movement == 3) bsp_exchange(src, dst, block);
  if (movement == 4) bsp_fold_elements(AddInts, src, dst, n, (int)sizeof(int));
  if (movement == 5) bsp_scan_elements(AddInts, src, dst, n, (int)sizeof(int));
}

/* Element 0 of the result; all elements of a source are alike. */
static int Result(int movement, int me, int p) {
  if (movement == 4) return p * (p + 1) / 2;
  if (movement == 5) return (me + 1) * (me + 2) / 2;
  return 1;
}

/* A put into, and a get from, what the call is about to write. */
static void Overlap(int movement, int n, int me, int p) {
  const int put = -1000 - me, after = (me + 1) % p;
  int i, got = 0;
  for (i = 0; i < n; i++) src[i] = me + 1, dst[i] = -1 - me;
  bsp_put(after, &put, dst, 0, sizeof put);
  bsp_get(after, dst, 0, &got, sizeof got);
  Move(movement, n);
  EXPECT_EQ(got, -1 - after);
  if (movement != 2 || me == 0) EXPECT_EQ(dst[0], Result(movement, me, p));
}

static void Register(int me, int p) {
  int bytes, here = -1, got = -1, other = -1;
  const int before = (me + p - 1) % p;
  bsp_push_reg(&here, sizeof here);
  bsp_sync();
  for (bytes = 0; bytes < 2; bytes++) {
    char x = 'x', y = 0;
    bsp_push_reg(&other, sizeof other);
    bsp_put((me + 1) % p, &me, &here, 0, sizeof me);
    bsp_bcast(0, &x, &y, bytes);
    EXPECT_EQ(here, before);
    bsp_get(before, &here, 0, &got, sizeof got);
    bsp_put((me + 1) % p, &me, &other, 0, sizeof me);
    bsp_pop_reg(&other);
    EXPECT_EQ(bsp_sumI(1), p);
    EXPECT_EQ(got, (before + p - 1) % p);
    EXPECT_EQ(other, before);
    here = other = got = -1;
    bsp_sync();
  }
}

int main(void) {
  static const int sizes[] = {14, 2500, 15000, kInts};
  int p, me, movement, size;
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  me = bsp_pid();
  Register(me, p);
  bsp_push_reg(dst, sizeof dst);
  bsp_sync();
  for (movement = 0; movement < kMovements; movement++)
    for (size = 0; size < 4; size++) Overlap(movement, sizes[size], me, p);
  if (me == 0) puts("ok");
  bsp_end();
  return 0;
}
