/* kept_supersteps SUPERSTEPS BYTES [cut | late | stop | close]: buffered puts of much to every
 * process, alone, beside gets of what they overwrite, one on top of another, and with small ones
 * after them; in each superstep all that each process has must be what BSPlib says. Prints "ok".
 * `cut`, `late`, `stop` and `close` are as in bulk_supersteps.c. */
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disturbances.h"

enum { kGetBytes = 1000, kSmallBytes = 100 };

static int p, self;
static size_t bytes_max;

static unsigned mixed(unsigned s, unsigned from, unsigned to) {
  unsigned x = s * 2654435761u + from * 40503u + to * 9973u;
  x ^= x >> 13;
  x *= 2246822519u;
  return x ^ x >> 16;
}

static unsigned char byte_of(int s, int from, int to, size_t i) {
  return (unsigned char)(s * 31 + from * 7 + to * 13 + (int)(i % 251));
}

/* Between those in which large puts cannot go ahead there are some in which they can: otherwise
 * they would soon not be tried any more. */
static int gets(int s) { return s % 24 == 6; }
static int overlaps(int s) { return s % 24 == 14; }
static int adds_small(int s) { return s % 24 == 22; }

static size_t bytes_of(int s, int from, int to) {
  const unsigned x = mixed((unsigned)s, (unsigned)from, (unsigned)to);
  return x % 4 == 0 ? 0 : x % 4 == 1 ? bytes_max : bytes_max / 2 + x % (bytes_max / 2);
}

static size_t place_of(int s, int from) {
  return overlaps(s) ? (size_t)from * 1000 : (size_t)from * bytes_max;
}

/* All that `from` puts to `to`, into `in`, which is the area there or what it should be. */
static void put_all(int s, int from, int to, unsigned char *in, int by_bsp) {
  static unsigned char *data;
  if (data == NULL) data = malloc(bytes_max);
  const size_t sizes[2] = {bytes_of(s, from, to), adds_small(s) ? kSmallBytes : 0};
  for (int k = 0; k < 2; ++k) {
    const size_t place = place_of(s, from) + (k == 0 ? 0 : bytes_max / 3);
    for (size_t i = 0; i < sizes[k]; ++i) data[i] = byte_of(s + k, from, to, i);
    if (sizes[k] == 0) continue;
    if (by_bsp) {
      bsp_put(to, data, in, (int)place, (int)sizes[k]);
    } else {
      memcpy(in + place, data, sizes[k]);
    }
    memset(data, 0xee, sizes[k]); /* It is buffered. */
  }
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  self = bsp_pid();
  const int supersteps = atoi(argv[1]);
  bytes_max = (size_t)atol(argv[2]);
  const char *how = argc > 3 ? argv[3] : "";
  const size_t area_bytes = (size_t)p * bytes_max;
  unsigned char *in = calloc(area_bytes, 1), *expected = calloc(area_bytes, (size_t)p);
  unsigned char got[kGetBytes];
  bsp_push_reg(in, (int)area_bytes);
  bsp_sync();
  for (int s = 0; s < 3; ++s) bsp_sync(); /* So that lanes are open. */
  nap(0.1);
  bsp_sync();
  disturb(how, self);
  for (int s = 0; s < supersteps; ++s) {
    const int asked = (self + s) % p;
    const size_t from_place = place_of(s, s % p);
    for (int k = 0; k < p; ++k) put_all(s, self, (self + k) % p, in, 1); /* To itself first. */
    if (gets(s) && self == s % p) bsp_get(asked, in, (int)from_place, got, kGetBytes);
    if (strcmp(how, "close") == 0 && self == 1 && s == supersteps / 2) close_descriptors();
    if (strcmp(how, "late") == 0 && mixed((unsigned)s, 1, 1) % (unsigned)p == (unsigned)self)
      nap(s % 2 == 0 ? 0.002 : 0.02);
    bsp_sync();
    if (gets(s) && self == s % p &&
        memcmp(got, expected + (size_t)asked * area_bytes + from_place, kGetBytes) != 0)
      bsp_abort("superstep %d: a get read what was put in it\n", s);
    for (int to = 0; to < p; ++to)
      for (int from = 0; from < p; ++from)
        put_all(s, from, to, expected + (size_t)to * area_bytes, 0);
    const unsigned char *mine = expected + (size_t)self * area_bytes;
    for (size_t i = 0; i < area_bytes; ++i)
      if (in[i] != mine[i]) bsp_abort("superstep %d: byte %zu is wrong\n", s, i);
  }
  if (self == 0) puts("ok");
  bsp_end();
  return 0;
}
