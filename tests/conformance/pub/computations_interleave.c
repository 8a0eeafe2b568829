/* Source: PUB 2003, section 4.1.3, statement 6
 * Claim: Different BSP computations are interleaved on the same processors: the example of the
 *   paper, a thread that compares the load of all while another one computes in supersteps of its
 *   own, until the difference is above a threshold and the load is moved.
 * Procs: 1 2 4 7
 */
#include <pthread.h>
#include <pub.h>

#include "pub/expect_pub.h"

enum { kSteps = 30, kThreshold = 8 };

static t_bsp balance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int load, finished;

/* Until all have finished: the least and greatest load of one moment, which is none of another. */
static void *Compare(void *asked) {
  int p = bsp_nprocs(&balance), mine[3], all[3], comparisons;
  for (comparisons = 1;; ++comparisons) {
    pthread_mutex_lock(&lock);
    mine[0] = load;
    mine[1] = -load;
    mine[2] = finished ? 0 : 1;
    pthread_mutex_unlock(&lock);
    bsp_gallreduce(&balance, 0, p - 1, mine, all, 3, bspop_maxint, NULL);
    bsp_oblsync(&balance, 1);
    EXPECT(all[0] >= mine[0] && -all[1] <= mine[0]);
    if (all[0] + all[1] > kThreshold) *(int *)asked = 1;
    if (all[2] == 0) break;
  }
  EXPECT(comparisons >= 1);
  return NULL;
}

/* Each process has a load that grows with its pid; half of the difference goes to the next one. */
static void Compute(pbsp bsp) {
  int p = bsp_nprocs(bsp), me = bsp_pid(bsp), step, total = 0, sum = 0;
  for (step = 0; step < kSteps; ++step) {
    int moved = step % 5 == 4 ? load / 2 : 0;
    bsp_send(bsp, (me + 1) % p, &moved, sizeof moved);
    bsp_sync(bsp);
    pthread_mutex_lock(&lock);
    load += me + 1 - moved + *(int *)bspmsg_data(bsp_getmsg(bsp, 0));
    total = load;
    pthread_mutex_unlock(&lock);
  }
  bsp_gallreduce(bsp, 0, p - 1, &total, &sum, 1, bspop_addint, NULL);
  bsp_sync(bsp);
  EXPECT_EQ(sum, kSteps * p * (p + 1) / 2);
}

int main(int argc, char **argv) {
  t_bsp bsp;
  pthread_t comparer;
  int asked = 0;
  PUB_BEGIN(argc, argv, bsp);
  bsp_threadsafe_dup(&bsp, &balance);
  EXPECT_EQ(pthread_create(&comparer, NULL, Compare, &asked), 0);
  Compute(&bsp);
  pthread_mutex_lock(&lock);
  finished = 1;
  pthread_mutex_unlock(&lock);
  EXPECT_EQ(pthread_join(comparer, NULL), 0);
  if (bsp_nprocs(&bsp) == 1) EXPECT_EQ(asked, 0); /* There is no difference to oneself. */
  bsp_done(&balance);
  PUB_END(bsp);
  return 0;
}
