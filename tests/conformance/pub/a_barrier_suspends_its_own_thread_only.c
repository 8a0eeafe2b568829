/* Source: PUB 2003, section 4.1.3, statement 3
 * Claim: A barrier of an object of bsp_threadsafe_dup suspends the thread that calls it. The
 *   process goes on with supersteps of another object meanwhile, however long the others' threads
 *   take to come to that barrier.
 */
#include <pthread.h>
#include <pub.h>
#include <semaphore.h>

#include "pub/expect_pub.h"

enum { kSupersteps = 20 };

static t_bsp all, own;
static sem_t others_may_go;

static void *Wait(void *unused) {
  (void)unused;
  if (bsp_pid(&own) != 0) sem_wait(&others_may_go);
  bsp_sync(&own);
  EXPECT_EQ(bsp_nmsgs(&own), 0);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;
  int p, me, step;
  PUB_BEGIN(argc, argv, all);
  p = bsp_nprocs(&all);
  me = bsp_pid(&all);
  bsp_threadsafe_dup(&all, &own);
  EXPECT_EQ(sem_init(&others_may_go, 0, 0), 0);
  EXPECT_EQ(pthread_create(&thread, NULL, Wait, NULL), 0);
  for (step = 0; step < kSupersteps; ++step) {
    bsp_send(&all, (me + 1) % p, &step, sizeof step);
    bsp_sync(&all);
    EXPECT_EQ(bsp_nmsgs(&all), 1);
    EXPECT_EQ(*(int *)bspmsg_data(bsp_getmsg(&all, 0)), step);
  }
  sem_post(&others_may_go);
  EXPECT_EQ(pthread_join(thread, NULL), 0);
  bsp_done(&own);
  PUB_END(all);
  return 0;
}
