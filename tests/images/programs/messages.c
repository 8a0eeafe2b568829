// What libbsp holds: registrations, the queue of messages, tag sizes, buffered puts and gets.
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int registered[1000];

int main(void) {
  bsp_begin(bsp_nprocs());
  const int self = bsp_pid();
  int tag_bytes = 12;
  bsp_set_tagsize(&tag_bytes);
  bsp_push_reg(registered, sizeof registered);
  int *on_heap = malloc(4000);
  memset(on_heap, 0, 4000);
  bsp_push_reg(on_heap, 4000);
  bsp_sync();
  double last = bsp_time();
  for (int step = 0; step < 5; ++step) {
    for (int i = 0; i < 20; ++i) {
      char tag[12], payload[100];
      snprintf(tag, sizeof tag, "tag %d", i);
      snprintf(payload, sizeof payload, "payload %d of superstep %d", i, step);
      bsp_send(self, tag, payload, (int)strlen(payload) + 1 + i);
    }
    const int value = 100 + step;
    bsp_put(self, &value, registered, step * (int)sizeof value, sizeof value);
    bsp_put(self, &value, on_heap, step * (int)sizeof value, sizeof value);
    int got = -1;
    bsp_get(self, registered, (step + 999) % 1000 * (int)sizeof got, &got, sizeof got);
    if (step == 3) bsp_pop_reg(on_heap);
    bsp_sync();
    int count, bytes;
    bsp_qsize(&count, &bytes);
    printf("%d: %d messages, %d bytes, got %d, put %d %d\n", step, count, bytes, got,
           registered[step], on_heap[step]);
    for (int i = 0; i < 10; ++i) {
      char tag[12], payload[200];
      int length;
      bsp_get_tag(&length, tag);
      bsp_move(payload, sizeof payload);
      printf("%s: %d %s\n", tag, length, payload);
    }
    const double now = bsp_time();
    printf("time %s, pid %d of %d\n", now >= last && now < last + 60 ? "goes on" : "jumps",
           bsp_pid(), bsp_nprocs());
    last = now;
    if (step == 3) {  // on_heap is no longer registered.
      bsp_push_reg(on_heap, 4000);
      bsp_sync();
    }
  }
  bsp_end();
  return 0;
}
