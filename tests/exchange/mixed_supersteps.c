/* mixed_supersteps SUPERSTEPS BYTES: every kind of communication at once, to every process, of
 * other sizes in each superstep, with registrations in some, and each byte that arrives is checked.
 * Prints "ok". */
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int p, self;
static size_t bytes_max;

enum { PUT, HPPUT, GET, HPGET, SEND, KINDS };

/* In some supersteps each process does nothing but put, and in half of these send, the same to all:
 * on many nodes that goes by way of others. */
static int is_alike(int s) { return s % 4 == 2; }
static int is_idle(int s, int kind) {
  return is_alike(s) && kind != PUT && !(kind == SEND && s % 8 == 2);
}

/* The byte at `i` of what `from` sends `to` in superstep s by way of `kind`. */
static unsigned char byte_of(int s, int from, int to, int kind, size_t i) {
  if (is_alike(s)) to = 0;
  return (unsigned char)(s * 31 + from * 7 + to * 13 + kind * 101 + i + (i >> 8) * 3);
}

/* How much that is: usually little, sometimes all, sometimes nothing. */
static size_t bytes_of(int s, int from, int to, int kind) {
  if (is_idle(s, kind)) return 0;
  if (is_alike(s)) return (size_t)(1 + (s * 7 + from * 13) % 100);
  unsigned x = (unsigned)(s * 2654435761u + from * 40503u + to * 9973u + kind * 271u);
  x ^= x >> 13;
  x *= 2246822519u;
  x ^= x >> 16;
  switch (x % 8) {
    case 0:
      return 0;
    case 1:
      return bytes_max;
    case 2:
    case 3:
      return x / 8 % (bytes_max + 1);
    default:
      return x / 8 % 100;
  }
}

static void fill(unsigned char *data, size_t bytes, int s, int from, int to, int kind) {
  for (size_t i = 0; i < bytes; ++i) data[i] = byte_of(s, from, to, kind, i);
}

static void check(const unsigned char *data, size_t bytes, int s, int from, int to, int kind) {
  for (size_t i = 0; i < bytes; ++i) {
    if (data[i] == byte_of(s, from, to, kind, i)) continue;
    bsp_abort("superstep %d, kind %d: byte %zu of %zu from %d to %d is wrong\n", s, kind, i, bytes,
              from, to);
  }
}

static unsigned char *area[KINDS], *local[KINDS]; /* p times bytes_max each. */
static unsigned char *spare;                      /* Of PUT: registered in its place, in turn. */
static unsigned char large[1 << 20];              /* More than a frame of a lane holds. */

static void begin(void) {
  const size_t row = (size_t)p * bytes_max;
  spare = malloc(row);
  bsp_push_reg(large, sizeof large);
  for (int kind = 0; kind < KINDS; ++kind) {
    area[kind] = malloc(row);
    local[kind] = malloc(row);
    bsp_push_reg(area[kind], (int)row);
  }
  int tag_bytes = sizeof(int);
  bsp_set_tagsize(&tag_bytes);
  bsp_sync();
}

/* In some supersteps: few registrations, more, and more than fit into a frame of a lane. */
static void register_anew(int s) {
  static char many[40000];
  const int count = s % 16 == 3 ? 3000 : s == 5 ? (int)sizeof many : 0;
  for (int i = 0; i < count; ++i) bsp_push_reg(&many[i], 1);
  for (int i = 0; i < count; ++i) bsp_pop_reg(&many[i]);
  /* All nodes have votes, and one leaves the barrier to its worker. */
  if (s % 16 == 3 && self == 0) {
    memset(large, s, sizeof large);
    for (int q = 1; q < p; ++q) bsp_put(q, large, large, 0, sizeof large);
  }
  if (s % 3 != 1) return;
  unsigned char *const before = area[PUT];
  bsp_pop_reg(before);
  area[PUT] = spare;
  spare = before;
  bsp_push_reg(area[PUT], p * (int)bytes_max);
}

static void communicate(int s, int q, int kind) {
  const size_t at = (size_t)q * bytes_max, mine = (size_t)self * bytes_max;
  const size_t out = bytes_of(s, self, q, kind), in = bytes_of(s, q, self, kind);
  unsigned char *here = local[kind] + at;
  if (is_idle(s, kind)) return;
  if (kind != GET && kind != HPGET) fill(here, out, s, self, q, kind);
  switch (kind) {
    case PUT:
      bsp_put(q, here, area[PUT], (int)mine, (int)out);
      memset(here, 0, out); /* It is buffered. */
      break;
    case HPPUT:
      bsp_hpput(q, here, area[HPPUT], (int)mine, (int)out);
      break;
    case GET:
      bsp_get(q, area[GET], (int)mine, here, (int)in);
      break;
    case HPGET:
      bsp_hpget(q, area[HPGET], (int)mine, here, (int)in);
      break;
    case SEND:
      bsp_send(q, &self, here, (int)out);
      break;
  }
}

static void check_messages(int s) {
  int messages, before = -1, bytes = 0;
  bsp_qsize(&messages, &bytes);
  const int expected = is_idle(s, SEND) ? 0 : p;
  if (messages != expected) bsp_abort("superstep %d: %d messages of %d\n", s, messages, expected);
  for (int k = 0; k < expected; ++k) {
    int from = -1, length;
    bsp_get_tag(&length, &from);
    if (from <= before || (size_t)length != bytes_of(s, from, self, SEND)) {
      bsp_abort("superstep %d: a message of %d bytes from %d\n", s, length, from);
    }
    before = from;
    bsp_move(local[SEND], length);
    check(local[SEND], (size_t)length, s, from, self, SEND);
  }
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  self = bsp_pid();
  const int supersteps = argc > 1 ? atoi(argv[1]) : 20;
  bytes_max = argc > 2 ? (size_t)atol(argv[2]) : 100000;
  begin();
  for (int s = 0; s < supersteps; ++s) {
    /* What others get from here. Unbuffered transfers must not see it change, nor may what they
     * write be looked at meanwhile: so their superstep is another. */
    for (int q = 0; q < p; ++q) {
      for (int kind = GET; kind <= HPGET; ++kind) {
        fill(area[kind] + (size_t)q * bytes_max, bytes_of(s, self, q, kind), s, self, q, kind);
      }
    }
    register_anew(s);
    bsp_sync();
    if (s % 16 == 3)
      for (size_t i = 0; i < sizeof large; ++i)
        if (large[i] != (unsigned char)s) bsp_abort("superstep %d: byte %zu of large\n", s, i);
    for (int q = 0; q < p; ++q) {
      for (int kind = 0; kind < KINDS; ++kind) communicate(s, q, kind);
    }
    bsp_sync();
    /* Sources of unbuffered puts may change from here on. */
    memset(local[HPPUT], 0xee, (size_t)p * bytes_max);
    for (int q = 0; q < p; ++q) {
      const size_t at = (size_t)q * bytes_max;
      check(area[PUT] + at, bytes_of(s, q, self, PUT), s, q, self, PUT);
      check(area[HPPUT] + at, bytes_of(s, q, self, HPPUT), s, q, self, HPPUT);
      check(local[GET] + at, bytes_of(s, q, self, GET), s, q, self, GET);
      check(local[HPGET] + at, bytes_of(s, q, self, HPGET), s, q, self, HPGET);
    }
    check_messages(s);
  }
  if (self == 0) puts("ok");
  bsp_end();
  return 0;
}
