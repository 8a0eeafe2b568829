// Holds something, named by its argument, that cannot be saved; goes on without an image.
#define _GNU_SOURCE
#include <bsp.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *wait_forever(void *unused) {
  (void)unused;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) pause();
  return NULL;
}

static void hold(const char *what) {
  int ends[2];
  if (!strcmp(what, "socket")) socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  if (!strcmp(what, "pipe")) pipe(ends);
  if (!strcmp(what, "eventfd")) eventfd(0, 0);
  if (!strcmp(what, "epoll")) epoll_create1(0);
  if (!strcmp(what, "timerfd")) timerfd_create(CLOCK_MONOTONIC, 0);
  if (!strcmp(what, "memfd")) memfd_create("data", 0);
  if (!strcmp(what, "deleted")) {
    open("gone.txt", O_WRONLY | O_CREAT, 0600);
    unlink("gone.txt");
  }
  if (!strcmp(what, "input")) {
    close(STDIN_FILENO);
    open("gone.txt", O_RDWR | O_CREAT, 0600);
    unlink("gone.txt");
  }
  if (!strcmp(what, "lock")) flock(open("locked.txt", O_WRONLY | O_CREAT, 0600), LOCK_EX);
  if (!strcmp(what, "child") && fork() == 0) wait_forever(NULL);
  if (!strcmp(what, "zombie")) {
    if (fork() == 0) _exit(0);
    siginfo_t ended;
    waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT);
  }
  if (!strcmp(what, "thread")) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_forever, NULL);
  }
  if (!strcmp(what, "shared")) {
    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  }
  if (!strcmp(what, "written")) {
    const int file = open("written.txt", O_RDWR | O_CREAT, 0600);
    const int read_only = open("written.txt", O_RDONLY);
    ftruncate(file, 4096);
    mmap(NULL, 4096, PROT_READ, MAP_SHARED, read_only, 0);
  }
  if (!strcmp(what, "timer")) {
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, &(struct sigevent){.sigev_notify = SIGEV_NONE}, &timer);
  }
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  hold(argc > 1 ? argv[1] : "");
  bsp_sync();
  printf("goes on\n");
  bsp_end();
  return 0;
}
