/* What happens to a process while it computes and communicates: see bulk_supersteps.c. */
#ifndef TESTS_EXCHANGE_DISTURBANCES_H_
#define TESTS_EXCHANGE_DISTURBANCES_H_

#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void nap(double seconds) {
  struct timespec left = {.tv_sec = (time_t)seconds,
                          .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
  while (nanosleep(&left, &left) != 0) continue; /* tidy: a process that is late */
}

/* Of the connections that libbsp has, which are the highest numbers. */
static void cut_one(int signal_number) {
  (void)signal_number;
  static int cuts;
  int found = 0;
  for (int fd = 1023; fd > 900; --fd) {
    struct sockaddr_storage address;
    socklen_t bytes = sizeof address;
    if (getpeername(fd, (struct sockaddr *)&address, &bytes) != 0) continue;
    if (address.ss_family != AF_INET && address.ss_family != AF_INET6) continue;
    if (found++ != cuts) continue;
    shutdown(fd, SHUT_RDWR);
    cuts += 1;
    return;
  }
}

static void cut_sometimes(int self) {
  signal(SIGALRM, cut_one);
  const struct itimerval every = {{0, 70000 + 1700 * self}, {0, 30000 + 9000 * self}};
  setitimer(ITIMER_REAL, &every, NULL);
}

static void stop_once(void) {
  const pid_t stopped = getpid();
  if (fork() != 0) return;
  nap(0.15);
  kill(stopped, SIGSTOP);
  nap(2.5);
  kill(stopped, SIGCONT);
  _exit(0);
}

/* The worker alone carries what lanes carried. */
static void close_descriptors(void) { closefrom(STDERR_FILENO + 1); }

/* From now on, as `how` says, to process number `self`. */
static void disturb(const char *how, int self) {
  if (strcmp(how, "cut") == 0) cut_sometimes(self);
  if (strcmp(how, "stop") == 0 && self == 1) stop_once();
}

#endif /* TESTS_EXCHANGE_DISTURBANCES_H_ */
