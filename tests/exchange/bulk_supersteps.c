/* bulk_supersteps SUPERSTEPS BYTES [cut | late | stop | close]: unbuffered puts to every process,
 * of other sizes in each superstep, and each byte that arrives is checked. Prints "ok". Meanwhile
 *   cut    each process shuts one of its sockets down, at a moment that its pid gives, in the
 *          middle of whatever it does;
 *   late   some process computes for longer than the others wait for it;
 *   stop   pid 1 is stopped once, for longer than that;
 *   close  pid 1 closes all its descriptors but the first three, after half of the supersteps. */
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disturbances.h"

static int p, self;

static unsigned mixed(unsigned s, unsigned from, unsigned to) {
  unsigned x = s * 2654435761u + from * 40503u + to * 9973u;
  x ^= x >> 13;
  x *= 2246822519u;
  return x ^ x >> 16;
}

/* What `from` puts to `to`: often nothing, else some of it, mostly much. */
static size_t bytes_of(int s, int from, int to, size_t bytes_max) {
  const unsigned x = mixed((unsigned)s, (unsigned)from, (unsigned)to);
  return x % 3 == 0 ? 0 : x % 3 == 1 ? bytes_max : x / 3 % bytes_max;
}

static unsigned char byte_of(int s, int from, int to, size_t i) {
  return (unsigned char)(s * 31 + from * 7 + to * 13 + (int)(i % 251));
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  self = bsp_pid();
  const int supersteps = atoi(argv[1]);
  const size_t bytes_max = (size_t)atol(argv[2]);
  const char *how = argc > 3 ? argv[3] : "";
  unsigned char *in = calloc((size_t)p, bytes_max), *out = malloc((size_t)p * bytes_max);
  bsp_push_reg(in, (int)((size_t)p * bytes_max));
  bsp_sync();
  for (int s = 0; s < 3; ++s) bsp_sync(); /* So that lanes are open. */
  nap(0.1);
  bsp_sync();
  disturb(how, self);
  for (int s = 0; s < supersteps; ++s) {
    for (int to = 0; to < p; ++to) {
      const size_t bytes = bytes_of(s, self, to, bytes_max);
      unsigned char *const data = out + (size_t)to * bytes_max;
      for (size_t i = 0; i < bytes; ++i) data[i] = byte_of(s, self, to, i);
      bsp_hpput(to, data, in, (int)((size_t)self * bytes_max), (int)bytes);
    }
    if (strcmp(how, "close") == 0 && self == 1 && s == supersteps / 2) close_descriptors();
    if (strcmp(how, "late") == 0 && mixed((unsigned)s, 1, 1) % (unsigned)p == (unsigned)self)
      nap(s % 2 == 0 ? 0.002 : 0.02);
    bsp_sync();
    for (int from = 0; from < p; ++from) {
      const size_t bytes = bytes_of(s, from, self, bytes_max);
      const unsigned char *const data = in + (size_t)from * bytes_max;
      for (size_t i = 0; i < bytes; ++i)
        if (data[i] != byte_of(s, from, self, i))
          bsp_abort("superstep %d: byte %zu of %zu from %d is wrong\n", s, i, bytes, from);
    }
    bsp_sync();
  }
  if (self == 0) puts("ok");
  bsp_end();
  return 0;
}
