/* lines PAUSE_MS: pid 0 reads standard input to its end, some lines in each superstep of PAUSE_MS,
 * and prints each line with its number. It sends the lines to the last process, too, which prints
 * the sum of all bytes at the end. */
#define _GNU_SOURCE /* getline */
#include <bsp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kLinesASuperstep = 500 };

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  int pause_ms = argc == 2 ? atoi(argv[1]) : 0, last = bsp_nprocs() - 1, more = 1;
  struct timespec pause = {pause_ms / 1000, pause_ms % 1000 * 1000000L};
  long number = 0;
  uint64_t sum = 0, received = 0;
  char *line = NULL;
  size_t room = 0;
  bsp_push_reg(&more, sizeof more);
  bsp_push_reg(&received, sizeof received);
  bsp_sync();
  while (more) {
    for (int i = 0; bsp_pid() == 0 && more && i < kLinesASuperstep; ++i) {
      ssize_t n = getline(&line, &room, stdin);
      more = n > 0;
      for (ssize_t at = 0; at < n; ++at) sum += (unsigned char)line[at];
      if (more) printf("%ld %s", number++, line);
    }
    fflush(stdout);
    nanosleep(&pause, NULL);
    if (bsp_pid() == 0) {
      bsp_put(last, &sum, &received, 0, sizeof sum);
      for (int pid = 1; pid <= last; ++pid) bsp_put(pid, &more, &more, 0, sizeof more);
    }
    bsp_sync();
  }
  if (bsp_pid() == last) printf("sum %llu\n", (unsigned long long)received);
  free(line);
  bsp_end();
  return 0;
}
