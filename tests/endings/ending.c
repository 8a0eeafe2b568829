/* A BSP program that ends in the way that its arguments, NAME=VALUE, describe:
 *
 *   supersteps=N   how many; -1: without end                        begin=P  passed to bsp_begin
 *   how=ACT        what happens, see act()                          status=N for exit
 *   at=S           in superstep S; -1: before bsp_begin; -2: after bsp_end
 *   who=PID        to this process; -1: to all; -2: to all but pid 0
 *   return=N       from main, on pid 0
 *   lines=N        printed by each process in each superstep        width=N  bytes of each
 *   stream=2       ... on standard error
 *   transfer=N     bytes put, got and hpput to the next process in each superstep
 *   binary=N       pid 0 writes N bytes of all values
 *   read=1         pid 0 reads its input to the end, prints how much it was
 *   ignore=1       SIGINT, SIGTERM, SIGHUP and SIGQUIT
 *   children=C     each process starts, as it begins: 1 a daemon that keeps the pipes open, 2 one
 *                  that does not, 3 a child that ignores all signals but SIGKILL
 *   lag=US         all but pid 0 begin US microseconds late, and in each superstep the last process
 *                  is that late
 */
#define _GNU_SOURCE
#include <bsp.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { kAreaBytes = 1 << 20, kWidthMax = 4096 };

enum { kAll = -1, kAllButFirst = -2, kBeforeBegin = -1, kAfterEnd = -2 };

static char **arguments;
static int is_first; /* pid 0, which bsp_init leaves in main. */
static char from[kAreaBytes];
static char into[kAreaBytes];

static const char *text_argument(const char *name) {
  size_t length = strlen(name);
  char **at;
  for (at = arguments + 1; *at != NULL; ++at) {
    if (strncmp(*at, name, length) == 0 && (*at)[length] == '=') return *at + length + 1;
  }
  return NULL;
}

static long argument(const char *name, long otherwise) {
  const char *text = text_argument(name);
  return text == NULL ? otherwise : strtol(text, NULL, 10);
}

static void ignore_signals(void) {
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
}

static void start_child(long kind) {
  if (kind == 0) return;
  fflush(NULL);
  if (fork() != 0) return;
  ignore_signals();
  if (kind != 3) {
    setsid();
    if (fork() != 0) _exit(0);
  }
  if (kind == 2) {
    int fd;
    for (fd = 0; fd < 64; ++fd) close(fd);
  }
  for (;;) pause();
}

static void act(int pid) {
  const char *how = text_argument("how");
  int status = (int)argument("status", 0);
  if (how == NULL) return;
  if (strcmp(how, "abort") == 0) bsp_abort("pid %d gives up\n", pid);
  if (strcmp(how, "exit") == 0) exit(status);
  if (strcmp(how, "_exit") == 0) _exit(status);
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "segv") == 0) {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  }
  if (strcmp(how, "misuse") == 0) bsp_put(bsp_nprocs(), from, into, 0, 1);
  if (strcmp(how, "end") == 0) bsp_end();
  if (strcmp(how, "exec") == 0) execl("/bin/true", "true", (char *)NULL);
  if (strcmp(how, "fork") == 0) {
    if (fork() != 0) _exit(status);
    for (;;) pause();
  }
  if (strcmp(how, "stop") == 0) raise(SIGSTOP);
  if (strcmp(how, "sleep") == 0) {
    for (;;) pause();
  }
  if (strcmp(how, "compute") == 0) {
    volatile unsigned long n = 0;
    for (;;) ++n;
  }
}

/* Whether it is this process's turn to act, now in superstep `at`, or kBeforeBegin, kAfterEnd. */
static int is_due(long at, int pid) {
  long who = argument("who", kAll);
  if (argument("at", 0) != at) return 0;
  return who == kAll || (who == kAllButFirst ? pid != 0 : who == pid);
}

/* Line NUMBER of process PID, `width` bytes with its newline: recognisable if torn. */
static void print_line(FILE *stream, int pid, long number, long width) {
  static char line[kWidthMax];
  int used = snprintf(line, sizeof line, "%d %ld ", pid, number);
  for (; used < width - 1; ++used) line[used] = (char)('a' + (number + used) % 26);
  line[used++] = '\n';
  fwrite(line, 1, (size_t)used, stream);
}

static void write_binary(long nbytes) {
  uint32_t state = 1;
  long i;
  for (i = 0; i < nbytes; ++i) {
    state = state * 1664525u + 1013904223u;
    putchar((int)(state >> 24));
  }
}

static void read_input(void) {
  static char bytes[1 << 16];
  long total = 0;
  long n;
  while ((n = read(0, bytes, sizeof bytes)) > 0) total += n;
  printf("read %ld\n", total);
}

static void communicate(int pid, int p, int nbytes) {
  int next = (pid + 1) % p;
  if (nbytes == 0) return;
  bsp_put(next, from, into, 0, nbytes);
  bsp_get(next, into, kAreaBytes / 2, from + kAreaBytes / 2, nbytes);
  bsp_hpput(next, from, into, kAreaBytes / 4, nbytes);
  bsp_send(next, NULL, from, nbytes);
}

static void compute(int pid, int p) {
  FILE *stream = argument("stream", 1) == 2 ? stderr : stdout;
  long supersteps = argument("supersteps", 3);
  long lines = argument("lines", 0);
  long width = argument("width", 64);
  long lag_us = argument("lag", 0);
  int nbytes = (int)argument("transfer", 0);
  long number = 0;
  long s;
  long i;
  for (s = 0; supersteps < 0 || s < supersteps; ++s) {
    for (i = 0; i < lines; ++i) print_line(stream, pid, number++, width);
    communicate(pid, p, nbytes);
    if (pid == p - 1) usleep((useconds_t)lag_us); /* tidy: lets the others wait in the barrier */
    if (is_due(s, pid)) act(pid);
    bsp_sync();
  }
}

static void spmd(void) {
  int pid;
  /* Here a process only knows whether it is pid 0, by bsp_init. */
  if (is_first) {
    if (is_due(kBeforeBegin, 0)) act(0);
  } else {
    if (is_due(kBeforeBegin, 1)) act(1);
    usleep((useconds_t)argument("lag", 0)); /* tidy: lets pid 0 wait in bsp_begin */
  }
  bsp_begin((int)argument("begin", bsp_nprocs()));
  pid = bsp_pid();
  start_child(argument("children", 0));
  if (argument("read", 0) && pid == 0) read_input();
  if (pid == 0) write_binary(argument("binary", 0));
  bsp_push_reg(into, kAreaBytes);
  bsp_sync();
  compute(pid, bsp_nprocs());
  bsp_end();
  if (is_due(kAfterEnd, pid)) act(pid);
}

int main(int argc, char **argv) {
  arguments = argv;
  if (argument("ignore", 0)) ignore_signals();
  bsp_init(spmd, argc, argv);
  is_first = 1;
  spmd();
  return (int)argument("return", 0);
}
