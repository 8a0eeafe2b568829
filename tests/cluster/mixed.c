/* mixed SUPERSTEPS LARGE_BYTES [PAUSE_MS]: traffic of every kind, a function of the superstep and
 * the pid: puts and gets, buffered and not, messages, registrations, tag sizes; small and large.
 * After each superstep pid 0 prints a digest of all that every process holds, so two runs that
 * print the same have computed the same. Every process prints a line of its own now and then. With
 * PAUSE_MS each superstep takes that long at least, and pid 0 writes its lines to the file
 * digests.txt, too, which it opens once and flushes now and then. */
#include <bsp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kProcessesMax = 64, kSmallPuts = 30, kGets = 10, kMessages = 20, kSmallBytes = 200 };

static int pid, nprocs, large_bytes;
static uint64_t chance;       /* A function of the superstep and the pid. */
static unsigned char *put_in; /* All may put anywhere: the order decides what stays. */
static unsigned char *got;    /* Nobody else writes here. */
static unsigned char *hp_in;  /* A block for each process that may hpput. */
static unsigned char *still;  /* Never changes: hpput's source, and hpget's. */
static unsigned char *extra;  /* Registered in some supersteps only. */
static uint64_t digests[kProcessesMax];
static FILE *record; /* Of pid 0, if there are pauses. */

static uint64_t draw(void) {
  uint64_t z = chance += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int below(int bound) { return (int)(draw() % (uint64_t)bound); }

static unsigned char *area(size_t nbytes) {
  unsigned char *memory = calloc(nbytes, 1);
  if (memory == NULL) bsp_abort("no memory\n");
  bsp_push_reg(memory, (int)nbytes);
  return memory;
}

static uint64_t digest(uint64_t sum, const void *bytes, size_t nbytes) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < nbytes; ++i) sum = (sum ^ p[i]) * 0x100000001b3u;
  return sum;
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

static void send_something(int tag_bytes) {
  unsigned char tag[16], payload[kSmallBytes];
  for (int i = 0; i < tag_bytes; ++i) tag[i] = (unsigned char)draw();
  int nbytes = below(kSmallBytes);
  for (int i = 0; i < nbytes; ++i) payload[i] = (unsigned char)draw();
  bsp_send(below(nprocs), tag, payload, nbytes);
}

static uint64_t receive(uint64_t sum) {
  int nmessages, status;
  unsigned char tag[16];
  unsigned char *payload = malloc((size_t)large_bytes);
  bsp_qsize(&nmessages, NULL);
  for (int i = 0; i < nmessages; ++i) {
    memset(tag, 0, sizeof tag);
    bsp_get_tag(&status, tag);
    bsp_move(payload, status);
    sum = digest(digest(sum, tag, sizeof tag), payload, (size_t)status);
  }
  free(payload);
  return sum;
}

/* What a superstep does in addition to small traffic, by its number. */
static void communicate(int superstep, int tag_bytes) {
  for (int i = 0; i < kSmallPuts; ++i) put_something(1 + below(kSmallBytes), 0);
  for (int i = 0; i < kGets; ++i) get_something(i, i == 0 && superstep % 4 == 1);
  for (int i = 0; i < kMessages; ++i) send_something(tag_bytes);
  if (superstep % 4 == 2) put_something(large_bytes, 0);
  if (superstep % 4 == 3) put_something(large_bytes, 1);
  if (superstep % 8 == 5) bsp_send((pid + 1) % nprocs, still, still, large_bytes);
  if (superstep % 6 == 1) bsp_push_reg(extra, large_bytes);
  if (superstep % 6 == 2) bsp_put((pid + 1) % nprocs, still, extra, pid, large_bytes - nprocs);
  if (superstep % 6 == 3) bsp_pop_reg(extra);
}

/* Every process sends pid 0 a digest of what it holds; pid 0 prints them. */
static void print_digests(int superstep) {
  uint64_t mine = receive(0xcbf29ce484222325u);
  mine = digest(mine, put_in, (size_t)large_bytes);
  mine = digest(mine, got, (size_t)(kGets * kSmallBytes + large_bytes));
  mine = digest(mine, hp_in, (size_t)(nprocs * large_bytes));
  mine = digest(mine, extra, (size_t)large_bytes);
  if (superstep % 5 == 0) printf("pid %d %016llx\n", pid, (unsigned long long)mine);
  bsp_put(0, &mine, digests, pid * (int)sizeof mine, sizeof mine);
  bsp_sync();
  if (pid == 0) {
    uint64_t all = digest(0xcbf29ce484222325u, digests, sizeof digests);
    printf("superstep %d %016llx\n", superstep, (unsigned long long)all);
    if (record != NULL)
      fprintf(record, "superstep %d %016llx\n", superstep, (unsigned long long)all);
    if (record != NULL && superstep % 7 == 3) fflush(record);
  }
  fflush(stdout);
}

static void wait_ms(int pause_ms) {
  struct timespec pause = {pause_ms / 1000, pause_ms % 1000 * 1000000L};
  if (pause_ms > 0) nanosleep(&pause, NULL);
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  pid = bsp_pid();
  nprocs = bsp_nprocs();
  if (argc < 3 || argc > 4 || nprocs > kProcessesMax)
    bsp_abort("usage: mixed SUPERSTEPS LARGE_BYTES [PAUSE_MS]\n");
  int supersteps = atoi(argv[1]), tag_bytes = 0, pause_ms = argc == 4 ? atoi(argv[3]) : 0;
  if (pause_ms > 0 && pid == 0 && (record = fopen("digests.txt", "w")) == NULL)
    bsp_abort("digests.txt: cannot be written\n");
  large_bytes = atoi(argv[2]);
  if (large_bytes < 2 * kSmallBytes) bsp_abort("LARGE_BYTES: at least %d\n", 2 * kSmallBytes);
  bsp_push_reg(digests, sizeof digests);
  put_in = area((size_t)large_bytes);
  got = area((size_t)(kGets * kSmallBytes + large_bytes));
  hp_in = area((size_t)nprocs * (size_t)large_bytes);
  still = area((size_t)large_bytes);
  extra = calloc((size_t)large_bytes, 1);
  chance = 12345;
  for (int i = 0; i < large_bytes; ++i) still[i] = (unsigned char)draw();
  bsp_sync();
  for (int s = 0; s < supersteps; ++s) {
    int next_tag_bytes = s % 3 * 8;
    chance = (uint64_t)s << 32 ^ (uint64_t)pid << 16;
    wait_ms(pause_ms);
    communicate(s, tag_bytes);
    bsp_set_tagsize(&next_tag_bytes);
    bsp_sync();
    print_digests(s);
    tag_bytes = s % 3 * 8;
  }
  if (record != NULL) fclose(record);
  bsp_end();
  return 0;
}
