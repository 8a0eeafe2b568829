/* Source: semantics, collectives, statement 9
 * Claim: What a call moves or combines is what `src` holds when puts and gets issued before it have
 *   taken effect, whoever issued them: the same on all processes, in the first call and in later
 *   ones, of any size, by each algorithm.
 * Procs: 2 7
 * Cases: free direct tree two-phase pipeline read
 * Env if case != 'free': BSP_COLLECTIVES={case}
 */
#include "bsp_level1.h"
#include "expect.h"

enum { kInts = 75012, kCalls = 8 };
static int src[kInts], dst[kInts], area;

static void AddInts(void *result, void *left, void *right, int *nbytes) {
  int i;
  for (i = 0; i < *nbytes / (int)sizeof(int); i++)
    ((int *)result)[i] = ((int *)left)[i] + ((int *)right)[i];
}

/* Of `n` elements, or blocks of n / p. */
static void Make(int call, int n) {
  const int each = (int)sizeof(int), block = n / bsp_nprocs() * each;
  if (call == 0) bsp_bcast(0, src, dst, n * each);
  if (call == 1) bsp_scatter(0, src, dst, block);
  if (call == 2) bsp_gather(0, src, dst, block);
  if (call == 3) bsp_exchange(src, dst, block);
  if (call == 4) bsp_fold(AddInts, src, dst, n * each);
  if (call == 5) bsp_scan(AddInts, src, dst, n * each);
  if (call == 6) bsp_fold_elements(AddInts, src, dst, n, each);
  if (call == 7) bsp_scan_elements(AddInts, src, dst, n, each);
}

/* Element i of `src` on `pid`: a put brings the first one, a get the last. */
static int Source(int pid, int i, int n) {
  if (i == 0) return 1000 + pid;
  return i == n - 1 ? 5000 + (pid + 1) % bsp_nprocs() : pid;
}

static int Result(int call, int i, int n) {
  const int me = bsp_pid(), block = n / bsp_nprocs();
  const int end = call % 2 == 1 ? me + 1 : bsp_nprocs(); /* Of those that are combined. */
  int pid, sum = 0;
  if (call == 0) return Source(0, i, n);
  if (call == 1) return Source(0, me * block + i, n);
  if (call == 2) return Source(i / block, i % block, n);
  if (call == 3) return Source(i / block, me * block + i % block, n);
  for (pid = 0; pid < end; pid++) sum += Source(pid, i, n);
  return sum;
}

static void Check(int call, int n) {
  const int p = bsp_nprocs(), me = bsp_pid(), after = (me + 1) % p, put = 1000 + after;
  int i;
  for (i = 0; i < n; i++) src[i] = me, dst[i] = -1;
  bsp_put(after, &put, src, 0, sizeof put);
  bsp_get(after, &area, 0, &src[n - 1], sizeof area);
  Make(call, n);
  if (call == 2 && me != 0) return;
  for (i = 0; i < (call == 1 ? n / p : n); i++) EXPECT_EQ(dst[i], Result(call, i, n));
}

int main(void) {
  static const int sizes[] = {28, 15008, kInts};
  int call, size;
  bsp_begin(bsp_nprocs());
  area = 5000 + bsp_pid();
  bsp_push_reg(src, sizeof src);
  bsp_push_reg(&area, sizeof area);
  bsp_sync();
  for (call = 0; call < kCalls; call++)
    for (size = 0; size < 3; size++) Check(call, sizes[size]);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
