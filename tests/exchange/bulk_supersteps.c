/* bulk_supersteps SUPERSTEPS BYTES [cut | late | stop]: unbuffered puts to every process, of other
 * sizes in each superstep, and each byte that arrives is checked. Prints "ok". Meanwhile
 *   cut   each process shuts one of its sockets down, at a moment that its pid gives, in the middle
 *         of whatever it does;
 *   late  some process computes for longer than the others wait for it;
 *   stop  pid 1 is stopped once, for longer than that. */
#include <bsp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int p, self;

static unsigned mixed(unsigned s, unsigned from, unsigned to) {
  unsigned x = s * 2654435761u + from * 40503u + to * 9973u;
  x ^= x >> 13;
  x *= 2246822519u;
  return x ^ x >> 16;
}

/* What `from` puts to `to`: often nothing, else some of it, mostly much. */
static size_t bytes_of(int s, int from, int to, size_t bytes_max) {
  const unsigned x = mixed((unsigned)s, (unsigned)from, (unsigned)to);
  return x % 3 == 0 ? 0 : x % 3 == 1 ? bytes_max : x / 3 % bytes_max;
}

static unsigned char byte_of(int s, int from, int to, size_t i) {
  return (unsigned char)(s * 31 + from * 7 + to * 13 + (int)(i % 251));
}

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

static void cut_sometimes(void) {
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

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  p = bsp_nprocs();
  self = bsp_pid();
  const int supersteps = atoi(argv[1]);
  const size_t bytes_max = (size_t)atol(argv[2]);
  const char *how = argc > 3 ? argv[3] : "";
  unsigned char *in = calloc((size_t)p, bytes_max), *out = malloc((size_t)p * bytes_max);
  bsp_push_reg(in, (int)((size_t)p * bytes_max));
  bsp_sync();
  for (int s = 0; s < 3; ++s) bsp_sync(); /* So that lanes are open. */
  nap(0.1);
  bsp_sync();
  if (strcmp(how, "cut") == 0) cut_sometimes();
  if (strcmp(how, "stop") == 0 && self == 1) stop_once();
  for (int s = 0; s < supersteps; ++s) {
    for (int to = 0; to < p; ++to) {
      const size_t bytes = bytes_of(s, self, to, bytes_max);
      unsigned char *const data = out + (size_t)to * bytes_max;
      for (size_t i = 0; i < bytes; ++i) data[i] = byte_of(s, self, to, i);
      bsp_hpput(to, data, in, (int)((size_t)self * bytes_max), (int)bytes);
    }
    if (strcmp(how, "late") == 0 && mixed((unsigned)s, 1, 1) % (unsigned)p == (unsigned)self)
      nap(s % 2 == 0 ? 0.002 : 0.02);
    bsp_sync();
    for (int from = 0; from < p; ++from) {
      const size_t bytes = bytes_of(s, from, self, bytes_max);
      const unsigned char *const data = in + (size_t)from * bytes_max;
      for (size_t i = 0; i < bytes; ++i)
        if (data[i] != byte_of(s, from, self, i))
          bsp_abort("superstep %d: byte %zu of %zu from %d is wrong\n", s, i, bytes, from);
    }
    bsp_sync();
  }
  if (self == 0) puts("ok");
  bsp_end();
  return 0;
}
