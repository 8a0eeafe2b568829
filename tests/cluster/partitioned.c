/* partitioned SUPERSTEPS LARGE_BYTES [PAUSE_MS]: as mixed, by PUB's calls, and with BSPlib's puts
 * and gets beside them. Each step the processes split into halves, which have supersteps and areas
 * of their own, while what all have sent and put is under way; then they come together again. Pid 0
 * prints a digest of all that every process holds, and with PAUSE_MS writes it to digests.txt,
 * too. */
#include <pub.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "memory_traffic.h"

static t_bsp all;
static uint64_t held = 0xcbf29ce484222325u; /* A digest of what this process has received. */
static uint64_t put_in[64];
static unsigned char *large;

static void hold(const void *bytes, int nbytes) { held = digest(held, bytes, (size_t)nbytes); }

static void hold_messages(pbsp bsp) {
  for (int i = bsp_nmsgs(bsp) - 1; i >= 0; --i) {
    t_bspmsg *msg = bsp_getmsg(bsp, i);
    int source = bspmsg_src(msg);
    hold(&source, sizeof source);
    hold(bspmsg_data(msg), bspmsg_size(msg));
  }
}

static void mix(void *result, const void *left, const void *right, int count, void *param) {
  for (int i = 0; i < count; ++i) {
    uint64_t x = ((const uint64_t *)left)[i] * 31;
    ((uint64_t *)result)[i] = (x ^ ((const uint64_t *)right)[i]) + *(int *)param;
  }
}
static const t_bspop mixing = {sizeof(uint64_t), mix};

/* With one reduction a superstep, and one message that every process sends to its neighbour; puts
 * and gets where the superstep ends by a barrier. */
static void compute_in_halves(int step) {
  t_bsp half;
  uint64_t sum, got = 0, area[64] = {0};
  int part[2] = {bsp_nprocs(&all) / 2, bsp_nprocs(&all)};
  bsp_partition(&all, &half, 2, part);
  int p = bsp_nprocs(&half), me = bsp_pid(&half), next = (me + 1) % p;
  bsp_push_reg(&half, area, sizeof area);
  for (int i = 0; i < 2 + step % 3; ++i) {
    bsp_send(&half, next, &held, sizeof held);
    bsp_gallreduce(&half, 0, p - 1, &held, &sum, 1, &mixing, &step);
    if (i % 2 == 0) {
      bsp_oblsync(&half, 2);
    } else {
      bsp_put(&half, next, &held, area, me * (int)sizeof held, sizeof held);
      bsp_get(&half, next, area, 0, &got, sizeof got);
      bsp_sync(&half);
      hold(&got, sizeof got);
      hold(area, sizeof area);
    }
    hold_messages(&half);
    hold(&sum, sizeof sum);
  }
  bsp_done(&half);
}

static void wait_ms(int pause_ms) {
  struct timespec pause = {pause_ms / 1000, pause_ms % 1000 * 1000000L};
  if (pause_ms > 0) nanosleep(&pause, NULL);
}

int main(int argc, char **argv) {
  bsplib_saveargs(&argc, &argv);
  bsplib_init(BSPLIB_STDPARAMS, &all);
  int p = bsp_nprocs(&all), me = bsp_pid(&all);
  FILE *record = NULL;
  if (argc < 3 || argc > 4 || p > 64) {
    fprintf(stderr, "usage: partitioned SUPERSTEPS LARGE_BYTES [PAUSE_MS]\n");
    exit(2);
  }
  int supersteps = atoi(argv[1]), large_bytes = atoi(argv[2]);
  int pause_ms = argc == 4 ? atoi(argv[3]) : 0;
  if (pause_ms > 0 && me == 0 && (record = fopen("digests.txt", "w")) == NULL) {
    perror("digests.txt");
    exit(1);
  }
  large = calloc((size_t)large_bytes, 1);
  bsp_push_reg(&all, put_in, sizeof put_in);
  memory_begin(large_bytes);
  bsp_sync(&all);
  for (int s = 0; s < supersteps; ++s) {
    uint64_t of_all;
    wait_ms(pause_ms);
    hold(&s, sizeof s);
    for (int i = 0; i < large_bytes; ++i) large[i] = (unsigned char)(held >> i % 56);
    bsp_hpsend(&all, (me + s) % p, large, large_bytes);
    for (int i = 0; i < 4; ++i) bsp_gsend(&all, 0, p - 1, &s, sizeof s); /* Alike. */
    bsp_put(&all, (me + 1) % p, &held, put_in, me * (int)sizeof held, sizeof held);
    memory_superstep(s);
    memory_communicate(s);
    compute_in_halves(s);
    bsp_gallreduce(&all, 0, p - 1, &held, &of_all, 1, &mixing, &s);
    bsp_sync(&all); /* Here an image is taken, with the messages and values that have come. */
    hold_messages(&all);
    hold(put_in, sizeof put_in);
    held = memory_digest(held);
    if (s % 5 == 0) printf("pid %d %016llx\n", me, (unsigned long long)held);
    if (me == 0) printf("superstep %d %016llx\n", s, (unsigned long long)of_all);
    if (record != NULL) {
      fprintf(record, "superstep %d %016llx\n", s, (unsigned long long)of_all);
      if (s % 7 == 3) fflush(record);
    }
    fflush(stdout);
  }
  if (record != NULL) fclose(record);
  bsplib_done();
  return 0;
}
