/* model.h: what the programs of level1 share: numbers that all processes draw alike, and the sizes
 * and contents of areas that they make of them. Include after bsp.h.
 */
#ifndef MODEL_H_
#define MODEL_H_

#include <stdlib.h>

#include "expect.h"

enum { kCalls = 24, kLargeBytes = 400000 };

static unsigned draws = 12345; /* The same on all processes. */

static int Draw(int end) {
  draws = draws * 1103515245u + 12345u;
  return (int)((draws >> 8) % (unsigned)end);
}

/* Bytes of a block, of which `blocks` make an area: nothing, odd ones, one below and one above what
   the library keeps an area for (128 KiB), and large ones. */
static int DrawBytes(int blocks) {
  switch (Draw(6)) {
    case 0:
      return Draw(2);
    case 1:
      return 1 + Draw(40);
    case 2:
      return 8 * (1 + Draw(500));
    case 3:
      return (128 << 10) / blocks + Draw(3) - 1;
    default:
      return 1 + Draw(kLargeBytes / blocks);
  }
}

/* Byte i of what process `pid` has in call `call`. */
static unsigned char Content(int call, int pid, int i) {
  return (unsigned char)(call * 31 + pid * 7 + i * 13 + (i >> 8));
}

/* At least one byte, so that the address is one. */
static unsigned char *NewArea(int bytes) {
  unsigned char *area = (unsigned char *)malloc((size_t)bytes + 1);
  if (!area) bsp_abort("no memory for %d bytes\n", bytes);
  area[bytes] = 0xa5; /* Must stay. */
  return area;
}

static unsigned char *NewFilledArea(int call, int pid, int bytes) {
  unsigned char *area = NewArea(bytes);
  int i;
  for (i = 0; i < bytes; i++) area[i] = Content(call, pid, i);
  return area;
}

#endif /* MODEL_H_ */
