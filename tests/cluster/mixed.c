/* mixed SUPERSTEPS LARGE_BYTES [PAUSE_MS]: traffic of every kind, a function of the superstep and
 * the pid: puts and gets, buffered and not, messages, registrations, tag sizes; small and large.
 * After each superstep pid 0 prints a digest of all that every process holds, so two runs that
 * print the same have computed the same. Every process prints a line of its own now and then. With
 * PAUSE_MS each superstep takes that long at least, and pid 0 writes its lines to the file
 * digests.txt, too, which it opens once and flushes now and then. */
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memory_traffic.h"

enum { kProcessesMax = 64, kMessages = 20 };

static int pid, nprocs, large_bytes;
static uint64_t digests[kProcessesMax];
static FILE *record; /* Of pid 0, if there are pauses. */

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

/* What a superstep does, by its number. */
static void communicate(int superstep, int tag_bytes) {
  const unsigned char *still = memory_still();
  memory_communicate(superstep);
  for (int i = 0; i < kMessages; ++i) send_something(tag_bytes);
  if (superstep % 8 == 5) bsp_send((pid + 1) % nprocs, still, still, large_bytes);
}

/* Every process sends pid 0 a digest of what it holds; pid 0 prints them. */
static void print_digests(int superstep) {
  uint64_t mine = memory_digest(receive(0xcbf29ce484222325u));
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
  bsp_push_reg(digests, sizeof digests);
  memory_begin(large_bytes);
  bsp_sync();
  for (int s = 0; s < supersteps; ++s) {
    int next_tag_bytes = s % 3 * 8;
    memory_superstep(s);
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
