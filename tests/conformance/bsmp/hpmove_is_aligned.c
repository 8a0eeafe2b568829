/* Source: BSPlib 1997, hpmove, statement 5
 * Source: semantics, messages, statement 6
 * Claim: Tag and payload that bsp_hpmove points at are contiguous and aligned for any type that
 *   fits into them, whatever the sizes of the tag and of the messages before.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bsp.h"
#include "expect.h"

typedef union {
  long double real;
  void *pointer;
  long long integer;
} Strictest;

typedef struct {
  char one;
  Strictest strictest;
} Probe;

enum { kAlignment = offsetof(Probe, strictest), kMessages = 100 };

/* Of a type that takes `size` bytes: these are a multiple of it, and it is a power of two. */
static int alignment_for(int size) {
  int alignment = 1;
  while (2 * alignment <= size && 2 * alignment <= kAlignment) alignment *= 2;
  return alignment;
}

int main(void) {
  static const int tag_sizes[] = {0, 1, 7, 8, 12, 33};
  char data[kMessages + 40];
  void *tag, *payload;
  int t, i, size;
  bsp_begin(bsp_nprocs());
  for (i = 0; i < (int)sizeof(data); i++) data[i] = (char)i;
  for (t = 0; t < 6; t++) {
    size = tag_sizes[t];
    bsp_set_tagsize(&size);
    bsp_sync();
    for (i = 0; i < kMessages; i++)
      bsp_send((bsp_pid() + 1) % bsp_nprocs(), data + i, data + 1, i * 37 % kMessages);
    bsp_sync();
    for (i = 0; i < kMessages; i++) {
      size = bsp_hpmove(&tag, &payload);
      EXPECT_EQ(size, i * 37 % kMessages);
      if (tag_sizes[t] > 0) EXPECT_EQ((uintptr_t)tag % alignment_for(tag_sizes[t]), 0);
      if (size > 0) EXPECT_EQ((uintptr_t)payload % alignment_for(size), 0);
      if (tag_sizes[t] > 0) EXPECT(memcmp(tag, data + i, tag_sizes[t]) == 0);
      if (size > 0) EXPECT(memcmp(payload, data + 1, size) == 0);
    }
  }
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
