#include "memory_traffic.h"

#include <bsp.h>
#include <stdlib.h>
#include <string.h>

enum { kSmallPuts = 30, kGets = 10 };

static int pid, nprocs, large_bytes, superstep;
static uint64_t chance;       /* A function of the superstep and the pid. */
static unsigned char *put_in; /* All may put anywhere: the order decides what stays. */
static unsigned char *got;    /* Nobody else writes here. */
static unsigned char *hp_in;  /* A block for each process that may hpput. */
static unsigned char *still;  /* Never changes: hpput's source, and hpget's. */
static unsigned char *extra;  /* Registered in some supersteps only. */

uint64_t draw(void) {
  uint64_t z = chance += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int below(int bound) { return (int)(draw() % (uint64_t)bound); }

uint64_t digest(uint64_t sum, const void *bytes, size_t nbytes) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < nbytes; ++i) sum = (sum ^ p[i]) * 0x100000001b3u;
  return sum;
}

static unsigned char *area(size_t nbytes) {
  unsigned char *memory = calloc(nbytes, 1);
  if (memory == NULL) bsp_abort("no memory\n");
  bsp_push_reg(memory, (int)nbytes);
  return memory;
}

void memory_begin(int of_bytes) {
  if (of_bytes < 2 * kSmallBytes) bsp_abort("LARGE_BYTES: at least %d\n", 2 * kSmallBytes);
  pid = bsp_pid();
  nprocs = bsp_nprocs();
  large_bytes = of_bytes;
  put_in = area((size_t)large_bytes);
  got = area((size_t)(kGets * kSmallBytes + large_bytes));
  hp_in = area((size_t)nprocs * (size_t)large_bytes);
  still = area((size_t)large_bytes);
  extra = calloc((size_t)large_bytes, 1);
  if (extra == NULL) bsp_abort("no memory\n");
  chance = 12345;
  for (int i = 0; i < large_bytes; ++i) still[i] = (unsigned char)draw();
}

static void put_something(int nbytes, int hp) {
  int to = below(nprocs);
  if (hp) {
    bsp_hpput(to, still + below(large_bytes - nbytes + 1), hp_in, pid * large_bytes, nbytes);
    return;
  }
  unsigned char *source = malloc((size_t)nbytes);
  for (int i = 0; i < nbytes; ++i) source[i] = (unsigned char)draw();
  bsp_put(to, source, put_in, below(large_bytes - nbytes + 1), nbytes);
  memset(source, 0, (size_t)nbytes); /* It is buffered. */
  free(source);
}

static void get_something(int i, int hp) {
  int nbytes = 1 + below(kSmallBytes), offset = below(large_bytes - nbytes + 1);
  bsp_get(below(nprocs), put_in, offset, got + i * kSmallBytes, nbytes);
  if (hp) bsp_hpget(below(nprocs), still, 0, got + kGets * kSmallBytes, large_bytes);
}

void memory_superstep(int number) {
  superstep = number;
  chance = (uint64_t)number << 32 ^ (uint64_t)pid << 16;
}

void memory_communicate(int number) {
  for (int i = 0; i < kSmallPuts; ++i) put_something(1 + below(kSmallBytes), 0);
  for (int i = 0; i < kGets; ++i) get_something(i, i == 0 && number % 4 == 1);
  if (number % 4 == 2) put_something(large_bytes, 0);
  if (number % 4 == 3) put_something(large_bytes, 1);
  if (number % 6 == 1) bsp_push_reg(extra, large_bytes);
  if (number % 6 == 2) bsp_put((pid + 1) % nprocs, still, extra, pid, large_bytes - nprocs);
  if (number % 6 == 3) bsp_pop_reg(extra);
}

uint64_t memory_digest(uint64_t sum) {
  sum = digest(sum, put_in, (size_t)large_bytes);
  sum = digest(sum, got, (size_t)(kGets * kSmallBytes + large_bytes));
  /* A process that is faster may hpput in the next superstep, before others have read this. */
  if (superstep % 4 != 2) sum = digest(sum, hp_in, (size_t)(nprocs * large_bytes));
  return digest(sum, extra, (size_t)large_bytes);
}

const unsigned char *memory_still(void) { return still; }
