/* sections SUPERSTEPS LARGE_BYTES [PAUSE_MS]: as mixed, in SPMD sections as MulticoreBSP has them:
 * one of all processes, or of fewer, for each step, and in some of them each process has one of its
 * own. Between them pid 0 prints a digest of all that the section's processes hold, and with
 * PAUSE_MS writes it to digests.txt, too. */
#include <mcbsp.h>
#include <stdlib.h>
#include <time.h>

enum { kMostProcesses = 64 };

static uint64_t held = 0xcbf29ce484222325u; /* A digest of what this process has received. */
static uint64_t all_held[kMostProcesses];
static struct { int number, large_bytes, pause_ms; } step; /* Of pid 0, which tells the others. */
static unsigned wanted;                                    /* Only pid 0 has it. */

static void hold(const void *bytes, size_t nbytes) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < nbytes; ++i) held = (held ^ p[i]) * 0x100000001b3u;
}

static void wait_ms(int pause_ms) {
  struct timespec pause = {pause_ms / 1000, pause_ms % 1000 * 1000000L};
  if (pause_ms > 0) nanosleep(&pause, NULL); /* tidy: as asked for */
}

static void send_around(const void *bytes, size_t nbytes) {
  void *tag, *payload;
  bsp_send((bsp_pid() + 1) % bsp_nprocs(), NULL, bytes, nbytes);
  bsp_sync();
  size_t got = bsp_hpmove(&tag, &payload);
  hold(payload, got);
}

static void of_each(void) {
  bsp_begin(kMostProcesses);
  for (int i = 0; i < 2; ++i) send_around(&held, sizeof held);
  bsp_end();
}

static void of_all(void) {
  bsp_begin(wanted);
  unsigned p = bsp_nprocs(), me = bsp_pid();
  bsp_push_reg(&step, sizeof step);
  bsp_push_reg(all_held, sizeof all_held);
  bsp_sync();
  for (unsigned i = 1; me == 0 && i < p; ++i) bsp_put(i, &step, &step, 0, sizeof step);
  bsp_sync();
  hold(&step.number, sizeof step.number);
  wait_ms(step.pause_ms);
  unsigned char *large = malloc((size_t)step.large_bytes);
  for (int i = 0; i < step.large_bytes; ++i) large[i] = (unsigned char)(held >> i % 56);
  send_around(large, (size_t)step.large_bytes);
  free(large);
  if (step.number % 3 == 1) {
    bsp_init(of_each, 0, NULL);
    of_each();
  }
  if (step.number % 5 == 0) printf("pid %u %016llx\n", me, (unsigned long long)held);
  bsp_put(0, &held, all_held, me * sizeof held, sizeof held);
  bsp_sync();
  bsp_end();
}

int main(int argc, char **argv) {
  FILE *record = NULL;
  bsp_init(of_all, argc, argv);
  if (argc < 3 || argc > 4 || bsp_nprocs() > kMostProcesses) {
    fprintf(stderr, "usage: sections SUPERSTEPS LARGE_BYTES [PAUSE_MS]\n");
    exit(2);
  }
  step.large_bytes = atoi(argv[2]);
  step.pause_ms = argc == 4 ? atoi(argv[3]) : 0;
  if (step.pause_ms > 0 && (record = fopen("digests.txt", "w")) == NULL) {
    perror("digests.txt");
    exit(1);
  }
  for (step.number = 0; step.number < atoi(argv[1]); ++step.number) {
    uint64_t digest = 0;
    wanted = step.number % 4 == 3 ? (unsigned)(1 + step.number % 3) : bsp_nprocs();
    of_all();
    for (unsigned i = 0; i < wanted; ++i) digest = digest * 31 + all_held[i];
    printf("superstep %d %016llx\n", step.number, (unsigned long long)digest);
    if (record != NULL)
      fprintf(record, "superstep %d %016llx\n", step.number, (unsigned long long)digest);
    if (record != NULL && step.number % 7 == 3) fflush(record);
  }
  if (record != NULL) fclose(record);
  return 0;
}
