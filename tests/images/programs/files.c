// Open files: read, written, appended, duplicated, high numbers, a directory, /dev/null, one of
// /proc, one that nobody may write to, another working directory, a umask.
#define _GNU_SOURCE
#include <bsp.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void show(const char *name) {
  char text[4096] = {0};
  const int fd = open(name, O_RDONLY);
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  printf("%s: %zd bytes: %s\n", name, n, text);
}

int main(void) {
  bsp_begin(bsp_nprocs());
  FILE *out = fopen("out.txt", "w");
  fprintf(out, "0123456789abcdefghij\n");
  fclose(out);
  umask(027);
  mkdir("below", 0777);
  chdir("below");
  FILE *in = fopen("../out.txt", "r");
  FILE *appended = fopen("appended.txt", "a");
  FILE *updated = fopen("updated.txt", "w+");
  const int raw = open("raw.bin", O_RDWR | O_CREAT, 0666);
  const int twin = dup(raw);
  const int high = fcntl(raw, F_DUPFD, 200);
  const int separate = open("raw.bin", O_RDONLY | O_CLOEXEC);
  const int nothing = open("/dev/null", O_WRONLY);
  const int here = open("..", O_RDONLY | O_DIRECTORY);
  const int memory = open("/proc/meminfo", O_RDONLY);
  const int standard = dup(1);
  const int once = open("once.txt", O_WRONLY | O_CREAT, 0400);
  freopen("errors.txt", "w", stderr);
  for (int step = 0; step < 5; ++step) {
    fprintf(appended, "line %d\n", step);
    if (step % 2) fflush(appended);
    fprintf(updated, "number %d ", step);
    fprintf(stderr, "error %d\n", step);
    char piece[8] = {0};
    pwrite(raw, "x", 1, step);
    write(twin, &"abcdefgh"[step], 2);
    dprintf(once, "%d", step);
    bsp_sync();
    const char c = (char)fgetc(in);
    read(separate, piece, 1);
    char known[4] = {0};
    read(memory, known, 3);
    printf("%d: read %c and %s, raw at %ld %ld %ld, separate at %ld, flags %d %d\n", step, c, piece,
           (long)lseek(raw, 0, SEEK_CUR), (long)lseek(twin, 0, SEEK_CUR),
           (long)lseek(high, 0, SEEK_CUR), (long)lseek(separate, 0, SEEK_CUR),
           fcntl(separate, F_GETFD), fcntl(fileno(appended), F_GETFL) & O_APPEND);
    fflush(stdout);
    dprintf(standard, "by the duplicate\n");
    printf("memory: %s at %ld\n", known, (long)lseek(memory, 0, SEEK_CUR));
    write(nothing, "gone", 4);
    char *directory = getcwd(NULL, 0);
    printf("in %s\n", strrchr(directory, '/'));
    free(directory);
    printf("out.txt is %s\n", faccessat(here, "out.txt", R_OK, 0) == 0 ? "there" : "lost");
    char name[32];
    snprintf(name, sizeof name, "new-%d", step);
    const int created = open(name, O_WRONLY | O_CREAT, 0666);
    struct stat status;
    fstat(created, &status);
    printf("created as %d, mode %o\n", created, status.st_mode & 0777);
    close(created);
    fstat(once, &status);
    printf("written once: mode %o, %ld bytes\n", status.st_mode & 0777, (long)status.st_size);
  }
  fclose(appended);
  fclose(updated);
  show("appended.txt");
  show("updated.txt");
  show("raw.bin");
  show("errors.txt");
  bsp_end();
  return 0;
}
