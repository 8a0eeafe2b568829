// Limits, priority and processors that the program has chosen, and more open files than it was
// started with a limit for. Of data it may have little more than it has, as with bsp submit
// --memory.
#define _GNU_SOURCE
#include <bsp.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILES 300
#define DATA_BYTES (16 << 20)

static const int kept[] = {RLIMIT_AS,     RLIMIT_CORE,     RLIMIT_CPU,
                           RLIMIT_DATA,   RLIMIT_FSIZE,    RLIMIT_MEMLOCK,
                           RLIMIT_NOFILE, RLIMIT_MSGQUEUE, RLIMIT_STACK};

static void show(int step, int first) {
  struct rlimit limit;
  cpu_set_t set;
  int count = 0;
  for (unsigned i = 0; i < sizeof kept / sizeof *kept; ++i) {
    getrlimit(kept[i], &limit);
    printf("%d: limit %d is %lu of %lu\n", step, kept[i], limit.rlim_cur, limit.rlim_max);
  }
  sched_getaffinity(0, sizeof set, &set);
  for (int i = 0; i < FILES; ++i) count += fcntl(first + i, F_GETFD) != -1;
  printf("%d: nice %d, processor 0 %d of %d, no_new_privs %d, files %d\n", step,
         getpriority(PRIO_PROCESS, 0), CPU_ISSET(0, &set), CPU_COUNT(&set),
         prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), count);
}

int main(void) {
  struct rlimit limit;
  cpu_set_t alone;
  rlim_t files;
  bsp_begin(bsp_nprocs());
  getrlimit(RLIMIT_NOFILE, &limit);
  files = limit.rlim_cur;
  limit.rlim_cur += FILES + 100;
  limit.rlim_max = limit.rlim_cur + 7;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) perror("setrlimit");
  for (int i = 0; i < FILES; ++i) {
    const int file = open("/dev/null", O_RDONLY);
    if (dup2(file, (int)files + i) < 0) perror("dup2");
    close(file);
  }
  limit.rlim_cur = limit.rlim_max = DATA_BYTES;
  if (setrlimit(RLIMIT_DATA, &limit) != 0) perror("setrlimit");
  getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = 4096;
  setrlimit(RLIMIT_CORE, &limit);
  CPU_ZERO(&alone);
  CPU_SET(0, &alone);
  sched_setaffinity(0, sizeof alone, &alone);
  setpriority(PRIO_PROCESS, 0, 5);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  for (int step = 0; step < 4; ++step) {
    bsp_sync();
    show(step, (int)files);
  }
  bsp_end();
  return 0;
}
