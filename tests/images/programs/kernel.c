// What libc takes from the kernel's vdso, and other things that change with the machine.
#define _GNU_SOURCE
#include <bsp.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int same_process(void) { return getpid() == gettid(); }

int main(void) {
  bsp_begin(bsp_nprocs());
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  setenv("ADDED", "by the program", 1);
  prctl(PR_SET_NAME, "renamed");
  errno = 77;
  for (int step = 0; step < 4; ++step) {
    pthread_mutex_lock(&mutex);
    bsp_sync();
    pthread_mutex_unlock(&mutex);
    struct timespec real, resolution;
    struct timeval day;
    clock_gettime(CLOCK_REALTIME, &real);
    clock_getres(CLOCK_MONOTONIC, &resolution);
    gettimeofday(&day, NULL);
    const time_t now = time(NULL);
    unsigned processor = 999, node;
    getcpu(&processor, &node);
    unsigned char noise[16] = {0};
    const ssize_t got = getrandom(noise, sizeof noise, 0);
    printf("%d: clocks agree %d, resolution %ld, processor %d %d, random %zd, sched %d\n", step,
           labs(real.tv_sec - now) < 3 && labs(day.tv_sec - now) < 3, resolution.tv_nsec,
           processor < 999, (int)sched_getcpu() >= 0, got, same_process());
    char name[16];
    prctl(PR_GET_NAME, name);
    struct rlimit stack;
    getrlimit(RLIMIT_STACK, &stack);
    char *here = sbrk(0);
    char *more = sbrk(8192);
    printf("%s, %s, brk %d, stack %d\n", getenv("ADDED"), name, more == here,
           stack.rlim_cur >= 1 << 20);
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, (void *(*)(void *))strdup, "from a thread");
    pthread_join(thread, &result);
    printf("%s\n", (char *)result);
    free(result);
    FILE *child = popen("echo from a child", "r");
    char line[100];
    if (fgets(line, sizeof line, child)) fputs(line, stdout);
    printf("%d\n", pclose(child));
  }
  bsp_end();
  return 3;
}
