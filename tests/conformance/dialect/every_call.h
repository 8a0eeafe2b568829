/* every_call.h: one use of every call of bsp.h, in what C89, C23 and C++ have in common, and with
 * the names of types that both dialects have. For MulticoreBSP define BSP_MULTICORE before.
 */
#ifndef EVERY_CALL_H_
#define EVERY_CALL_H_

#include <string.h>

#include "bsp.h"
#include "expect.h"

static int area[8];

static void EveryPutAndGet(void) {
  bsp_nprocs_t p = bsp_nprocs();
  bsp_pid_t next = (bsp_pid() + 1) % p, prev = (bsp_pid() + p - 1) % p;
  bsp_size_t size = (bsp_size_t)sizeof(int);
  int me = (int)bsp_pid(), got[3] = {-1, -1, -1};
  area[4] = 100 + me;
  bsp_push_reg(area, (bsp_size_t)sizeof(area));
  bsp_pushregister(got, 0);
  bsp_sync();
  bsp_put(next, &me, area, 0, size);
  bsp_hpput(next, &me, area, size, size);
  bsp_hput(next, &me, area, 2 * size, size);
  bsp_get(next, area, 4 * size, &got[0], size);
  bsp_hpget(next, area, 4 * size, &got[1], size);
  bsp_direct_get(next, area, 4 * size, &got[2], size);
  EXPECT_EQ(got[2], 100 + (int)next);
  bsp_pop_reg(area);
  bsp_popregister(got);
  bsp_sync();
  EXPECT(area[0] == (int)prev && area[1] == (int)prev && area[2] == (int)prev);
  EXPECT(got[0] == 100 + (int)next && got[1] == 100 + (int)next);
}

static void EveryMessageCall(void) {
  bsp_nprocs_t p = bsp_nprocs();
  bsp_pid_t next = (bsp_pid() + 1) % p, prev = (bsp_pid() + p - 1) % p;
  bsp_size_t size = (bsp_size_t)sizeof(int), status, bytes;
  bsp_count_t messages;
  int me = (int)bsp_pid(), tag = 7, payload = -1;
  void *tag_ptr, *payload_ptr;
  bsp_set_tagsize(&size);
  EXPECT_EQ(size, 0);
  size = (bsp_size_t)sizeof(int);
  bsp_set_tag_size(&size);
  EXPECT_EQ(bsp_sent_tagsize(), 0);
  bsp_sync();
  EXPECT_EQ(bsp_sent_tagsize(), sizeof(int));
  EXPECT_EQ(bsp_queue_tagsize(), 0);
  bsp_send(next, &tag, &me, size);
  bsp_hpsend(next, &tag, &me, size);
  bsp_sync();
  bsp_qsize(&messages, &bytes);
  EXPECT_EQ(messages, 2);
  EXPECT_EQ(bsp_queue_tagsize(), sizeof(int));
  EXPECT_EQ(bytes, 2 * sizeof(int));
  tag = 0;
  bsp_get_tag(&status, &tag);
  EXPECT_EQ(status, sizeof(int));
  EXPECT_EQ(tag, 7);
  bsp_move(&payload, status);
  EXPECT_EQ(payload, (int)prev);
  EXPECT_EQ(bsp_hpmove(&tag_ptr, &payload_ptr), sizeof(int));
  EXPECT(memcmp(tag_ptr, &tag, sizeof(tag)) == 0);
  EXPECT(memcmp(payload_ptr, &payload, sizeof(payload)) == 0);
  bsp_get_tag(&status, &tag);
  EXPECT_EQ(status, (bsp_size_t)-1);
  EXPECT_EQ(bsp_hpmove(&tag_ptr, &payload_ptr), (bsp_size_t)-1);
}

/* No checkpoint has been taken: the area stays what it is. */
static void EveryCheckpointCall(void) {
  area[0] = 5;
  bsp_checkpoint_register(area, (bsp_size_t)sizeof(area));
  bsp_checkpoint_register(NULL, 0);
  EXPECT_EQ(bsp_checkpoint_resume(), 0);
  EXPECT_EQ(area[0], 5);
}

static void EveryCall(void) {
  int sections = -1;
  EXPECT(bsp_superstep(&sections) == 0 && sections == 0);
  bsp_begin(bsp_nprocs());
  EXPECT(bsp_superstep(&sections) == 0 && sections == 1);
  EXPECT(bsp_time() >= 0.0 && bsp_dtime() >= 0.0 && bsp_cputime() >= 0.0);
  EveryCheckpointCall();
  EveryPutAndGet();
  EveryMessageCall();
  EXPECT(bsp_superstep(&sections) > 3 && sections == 1);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
}

#endif /* EVERY_CALL_H_ */
