/* Source: PUB 2003, section 4.1.3, statement 1
 * Source: PUB 2003, section 4.1.3, statement 2
 * Claim: Several threads of each process communicate, each in an object of bsp_threadsafe_dup: what
 *   is sent, reduced, put and got there, in groups that are made and left meanwhile, and in
 *   supersteps that end by counting, is what it would be without the others.
 * Procs: 1 2 4 7
 */
#include <pthread.h>
#include <pub.h>

#include "pub/expect_pub.h"

enum { kThreads = 3, kSupersteps = 40 };

typedef struct {
  t_bsp own;
  int number;
} Thread;

static void SendToAll(pbsp bsp, int value) {
  const int p = bsp_nprocs(bsp), me = bsp_pid(bsp);
  int i, sum = 0;
  bsp_gsend(bsp, 0, p - 1, &value, sizeof value);
  bsp_gallreduce(bsp, 0, p - 1, &me, &sum, 1, bspop_addint, NULL);
  bsp_oblsync(bsp, p + 1);
  EXPECT_EQ(sum, p * (p - 1) / 2);
  EXPECT_EQ(bsp_nmsgs(bsp), p);
  for (i = 0; i < p; ++i) EXPECT_EQ(*(int *)bspmsg_data(bsp_findmsg(bsp, i, 0)), value);
}

/* In a group of every process, or of the first one and of the others. */
static void CommunicateInGroup(pbsp bsp, int value) {
  t_bsp group;
  int part[2];
  part[0] = 1;
  part[1] = bsp_nprocs(bsp);
  if (value % 2 == 0) {
    bsp_dup(bsp, &group);
  } else {
    bsp_partition(bsp, &group, 2, part);
  }
  SendToAll(&group, value + 1);
  bsp_done(&group);
}

static void PutAndGet(pbsp bsp, int value) {
  const int p = bsp_nprocs(bsp), next = (bsp_pid(bsp) + 1) % p;
  int area = -1, got = -1;
  bsp_push_reg(bsp, &area, sizeof area);
  bsp_sync(bsp);
  bsp_put(bsp, next, &value, &area, 0, sizeof value);
  bsp_sync(bsp);
  EXPECT_EQ(area, value);
  bsp_get(bsp, next, &area, 0, &got, sizeof got);
  bsp_pop_reg(bsp, &area);
  bsp_sync(bsp);
  EXPECT_EQ(got, value);
}

static void *Communicate(void *argument) {
  Thread *thread = argument;
  int step;
  for (step = 0; step < kSupersteps; ++step) {
    const int value = 1000 * thread->number + step;
    SendToAll(&thread->own, value);
    CommunicateInGroup(&thread->own, value);
    if (step % 4 == thread->number) PutAndGet(&thread->own, value);
  }
  return NULL;
}

int main(int argc, char **argv) {
  Thread threads[kThreads];
  pthread_t running[kThreads];
  t_bsp all;
  int i;
  PUB_BEGIN(argc, argv, all);
  for (i = 0; i < kThreads; ++i) {
    threads[i].number = i;
    bsp_threadsafe_dup(&all, &threads[i].own);
  }
  for (i = 0; i < kThreads; ++i)
    EXPECT_EQ(pthread_create(&running[i], NULL, Communicate, &threads[i]), 0);
  SendToAll(&all, -1); /* This thread, in the object of all. */
  for (i = 0; i < kThreads; ++i) EXPECT_EQ(pthread_join(running[i], NULL), 0);
  for (i = 0; i < kThreads; ++i) bsp_done(&threads[i].own); /* The oldest first. */
  PUB_END(all);
  return 0;
}
