// Handlers, the mask, the alternate stack, interval timers, pending business.
#define _GNU_SOURCE
#include <bsp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t users, alarms, on_stack;
static char *stack;

static void on_user(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)info;
  (void)context;
  char here;
  on_stack = &here >= stack && &here < stack + 65536;
  ++users;
}

static void on_alarm(int number) {
  (void)number;
  ++alarms;
}

int main(void) {
  bsp_begin(bsp_nprocs());
  stack = malloc(65536);
  const stack_t alternate = {.ss_sp = stack, .ss_size = 65536};
  sigaltstack(&alternate, NULL);
  struct sigaction action = {.sa_sigaction = on_user, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  action = (struct sigaction){.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  signal(SIGUSR2, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGHUP);
  sigprocmask(SIG_BLOCK, &set, NULL);
  const struct itimerval often = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &often, NULL);
  for (int step = 0; step < 4; ++step) {
    bsp_sync();
    raise(SIGUSR1);
    raise(SIGUSR2);
    raise(SIGHUP);
    const int before = alarms;
    while (alarms < before + 3) pause();
    sigset_t pending, mask;
    sigpending(&pending);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    printf("%d: %d times, on its stack %d, blocked %d %d, pending %d\n", step, (int)users,
           (int)on_stack, sigismember(&mask, SIGHUP), sigismember(&mask, SIGTERM),
           sigismember(&pending, SIGHUP));
    const struct timespec now = {0, 0};
    sigtimedwait(&set, NULL, &now);
  }
  bsp_end();
  return 0;
}
