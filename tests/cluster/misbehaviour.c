/* misbehaviour WHAT [N]: a BSP program that misbehaves in the way that WHAT names.
 *
 *   flood     prints N MiB of lines from every process
 *   sleep     never reaches the next bsp_sync
 *   stop      stops itself
 *   stophost  stops its parent, bsp-host
 *   fork      leaves N processes behind that have sessions of their own
 *   close     closes all descriptors above stderr, and goes on
 *   closeall  closes them all, before bsp_begin
 *   scribble  writes noise over every piece of memory that it shares, from seed N
 *   crash     pid 1 dies of SIGSEGV
 *   leave     pid 1 leaves without bsp_end
 *   variable  prints BSP_PID from the environment
 *   name      pid 0 leaves an empty file of the name N
 *   fill      writes N MiB of memory that it shares with nobody yet, each process
 *   swarm     says how many of N more processes it could start
 *   disk      pid 0 fills N MiB of the disk, as far as there is room, and sleeps
 *   leavefiles  leaves a secret in each file that is named
 *   eat       fills N MiB, and sends itself more bytes than any machine has memory
 */
#define _GNU_SOURCE /* getline, setsid */
#include <bsp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kSupersteps = 50, kLineBytes = 128, kDescriptors = 1024, kScribbles = 2000 };

static void exchange(void) {
  static int left_neighbour;
  int mine = bsp_pid();
  bsp_push_reg(&left_neighbour, sizeof left_neighbour);
  bsp_sync();
  for (int s = 0; s < kSupersteps; ++s) {
    bsp_put((mine + 1) % bsp_nprocs(), &mine, &left_neighbour, 0, sizeof mine);
    bsp_sync();
  }
  bsp_pop_reg(&left_neighbour);
}

static void flood(long mib) {
  char line[kLineBytes];
  memset(line, 'a' + bsp_pid() % 26, sizeof line);
  line[kLineBytes - 1] = '\n';
  for (long i = 0; i < mib * (1 << 20) / kLineBytes; ++i) fwrite(line, 1, sizeof line, stdout);
}

static void leave_processes(long n) {
  for (long i = 0; i < n; ++i) {
    if (fork() != 0) continue;
    if (fork() != 0) _exit(0);
    setsid();
    for (;;) pause();
  }
}

static void close_from(int first) {
  for (int fd = first; fd < kDescriptors; ++fd) close(fd);
}

/* Noise at random places of each shared mapping that can be written. */
static void scribble(unsigned seed) {
  char *line = NULL;
  size_t room = 0;
  srand(seed * 64 + (unsigned)bsp_pid());
  FILE *maps = fopen("/proc/self/maps", "r");
  struct {
    unsigned char *start;
    size_t nbytes;
  } areas[64];
  int nareas = 0;
  while (maps != NULL && getline(&line, &room, maps) > 0 && nareas < 64) {
    unsigned long start, end;
    char flags[8];
    if (sscanf(line, "%lx-%lx %7s", &start, &end, flags) != 3 || strcmp(flags, "rw-s") != 0)
      continue;
    areas[nareas].start = (unsigned char *)start; /* NOLINT */
    areas[nareas++].nbytes = end - start;
  }
  for (int i = 0; i < nareas; ++i) {
    /* The first pages hold what matters most: they are hit as often as all others together. */
    size_t near = areas[i].nbytes < 65536 ? areas[i].nbytes : 65536;
    for (int n = 0; n < kScribbles; ++n) {
      size_t bound = n % 2 == 0 ? near : areas[i].nbytes;
      size_t at = ((size_t)rand() << 31 ^ (size_t)rand()) % bound;
      areas[i].start[at] = (unsigned char)rand();
    }
  }
  if (nareas == 0) fprintf(stderr, "found nothing to scribble on\n");
}

static void eat(void) {
  size_t nbytes = (size_t)64 << 20;
  char *block = calloc(nbytes, 1);
  for (;;) bsp_send((bsp_pid() + 1) % bsp_nprocs(), NULL, block, (int)nbytes);
}

/* Of a kind that the limit of a process's data does not count. */
static void fill(size_t mib) {
  char *memory = mmap(NULL, mib << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) bsp_abort("mmap\n");
  memset(memory, 1, mib << 20);
}

static void leave_files(char **paths) {
  int left = 0;
  for (; *paths != NULL; ++paths) {
    FILE *file = fopen(*paths, "w");
    left += file != NULL && fputs("secret\n", file) >= 0 && fclose(file) == 0;
  }
  printf("left %d\n", left);
}

static void fill_disk(long mib) {
  static char block[1 << 16];
  FILE *file = fopen("filler", "w");
  if (file == NULL) bsp_abort("filler\n");
  setbuf(file, NULL);
  for (long i = 0; i < mib * (1 << 20) / (long)sizeof block; ++i)
    if (fwrite(block, sizeof block, 1, file) != 1) break;
  for (;;) pause();
}

static void swarm(long n) {
  long started = 0;
  for (pid_t child = 0; started < n && child >= 0; started += child > 0) {
    child = fork();
    if (child == 0)
      for (;;) pause();
  }
  printf("started %ld\n", started);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  long n = argc > 2 ? atol(argv[2]) : 1;
  if (strcmp(what, "closeall") == 0) close_from(0);
  bsp_begin(bsp_nprocs());
  exchange();
  if (strcmp(what, "flood") == 0) flood(n);
  if (strcmp(what, "sleep") == 0)
    for (;;) pause();
  if (strcmp(what, "stop") == 0) raise(SIGSTOP);
  if (strcmp(what, "stophost") == 0) {
    kill(getppid(), SIGSTOP);
    for (;;) pause();
  }
  if (strcmp(what, "fork") == 0) leave_processes(n);
  if (strcmp(what, "close") == 0) close_from(3);
  if (strcmp(what, "scribble") == 0) scribble((unsigned)n);
  if (strcmp(what, "crash") == 0 && bsp_pid() == 1) raise(SIGSEGV);
  if (strcmp(what, "variable") == 0) printf("%d is %s\n", bsp_pid(), getenv("BSP_PID"));
  if (strcmp(what, "leave") == 0 && bsp_pid() == 1) exit(3);
  if (strcmp(what, "name") == 0 && bsp_pid() == 0 && !fopen(argv[2], "w")) bsp_abort("no file");
  if (strcmp(what, "fill") == 0 || strcmp(what, "eat") == 0) fill((size_t)n);
  if (strcmp(what, "swarm") == 0) swarm(n);
  if (strcmp(what, "disk") == 0 && bsp_pid() == 0) fill_disk(n);
  if (strcmp(what, "leavefiles") == 0) leave_files(argv + 2);
  if (strcmp(what, "eat") == 0) eat();
  exchange();
  printf("done\n");
  bsp_end();
  return 0;
}
