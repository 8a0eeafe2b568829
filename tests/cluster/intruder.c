/* intruder SUPERSTEPS WORKER_PID OTHER...: tries what a program of a job may not do, says as whom,
 * and leaves a file and links to somebody else's. Others are paths, and processes by their number.
 * One line for each attempt that succeeded: "can ...", and for each process that is gone, of which
 * nothing is shown then: "missed ...". Then SUPERSTEPS supersteps of a tenth of a second. */
#define _GNU_SOURCE
#include <bsp.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void try_file(const char *path) {
  if (open(path, O_RDONLY) >= 0) printf("can read %s\n", path);
  if (open(path, O_WRONLY) >= 0) printf("can write %s\n", path);
}

static void try_process(pid_t pid) {
  if (kill(pid, 0) == 0)
    printf("can signal %d\n", (int)pid);
  else if (errno == ESRCH)
    printf("missed %d\n", (int)pid);
  static const char *const kFiles[] = {"environ", "maps", "mem"};
  for (size_t i = 0; i < sizeof kFiles / sizeof *kFiles; ++i) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, kFiles[i]);
    try_file(path);
  }
  if (ptrace(PTRACE_SEIZE, pid, 0, 0) == 0) printf("can trace %d\n", (int)pid);
}

/* What the kernel, left to itself, would let a user try: each has been a way in. */
static void try_system_calls(void) {
  if (syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1) >= 0)
    puts("can use the daemon's keys");
  if (syscall(SYS_userfaultfd, 0) >= 0) puts("can hold up the kernel");
  char parameters[256] = {0};
  if (syscall(SYS_io_uring_setup, 1, parameters) >= 0 || errno != EPERM)
    puts("can ask through a ring");
  if (unshare(CLONE_NEWUSER) == 0) puts("can be root of a namespace");
  if (mount("none", "/mnt", "tmpfs", 0, NULL) == 0) puts("can mount");
}

/* Where memory is gone the kernel is to end it before any daemon. */
static void try_to_outlive(void) {
  int score = 0;
  FILE *file = fopen("/proc/self/oom_score_adj", "r");
  if (file == NULL || fscanf(file, "%d", &score) != 1 || score <= 0) puts("can outlive the worker");
  if (file != NULL) fclose(file);
}

static void try_all(int argc, char **argv) {
  uid_t real, effective, saved;
  getresuid(&real, &effective, &saved);
  printf("runs as %d %d %d, groups %d\n", (int)real, (int)effective, (int)saved,
         getgroups(0, NULL));
  if (setuid(0) == 0 || seteuid(0) == 0 || setgid(0) == 0 || setgroups(0, NULL) == 0)
    puts("can change users");
  try_process(getppid()); /* bsp-host */
  try_process(atoi(argv[2]));
  for (int i = 3; i < argc; ++i)
    if (argv[i][0] == '/')
      try_file(argv[i]);
    else
      try_process(atoi(argv[i]));
  for (int fd = 4; fd < 1000; ++fd)
    if (fcntl(fd, F_GETFD) != -1) {
      char path[64], target[256] = "";
      snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
      ssize_t n = readlink(path, target, sizeof target - 1);
      if (n < 0 || (strncmp(target, "/memfd:", 7) != 0 && strncmp(target, "socket:", 7) != 0))
        printf("can use descriptor %d, %s\n", fd, target);
    }
  try_system_calls();
  try_to_outlive();
  for (char **variable = environ; *variable != NULL; ++variable)
    if (strstr(*variable, "SECRET") != NULL) printf("can see %s\n", *variable);
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  if (argc < 3) bsp_abort("intruder SUPERSTEPS WORKER_PID OTHER...\n");
  if (bsp_pid() == 0) {
    try_all(argc, argv);
    FILE *left = fopen("left", "w");
    if (left == NULL || fputs("left\n", left) < 0 || fclose(left) != 0) bsp_abort("left\n");
    if (symlink("/etc/shadow", "shadow") != 0 || symlink("/etc", "etc") != 0) bsp_abort("links\n");
    if (mkfifo("pipe", 0600) != 0) bsp_abort("pipe\n");
    printf("works\n");
    fflush(stdout);
  }
  const struct timespec tenth = {0, 100000000L};
  for (int i = atoi(argv[1]); i > 0; --i) {
    nanosleep(&tenth, NULL);  // tidy: as if it computed
    bsp_sync();
  }
  bsp_end();
  return 0;
}
