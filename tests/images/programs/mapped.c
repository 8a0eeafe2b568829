// A file is mapped to be read, and is larger than all data that the program may have.
#define _GNU_SOURCE
#include <bsp.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FILE_BYTES = 12 << 20, DATA_BYTES = 2 << 20, LINE_BYTES = 64 };

static unsigned long sum(const unsigned char *bytes, size_t count) {
  unsigned long total = 0;
  for (size_t i = 0; i < count; ++i) total = total * 31 + bytes[i];
  return total;
}

int main(void) {
  bsp_begin(bsp_nprocs());
  FILE *made = fopen("input.txt", "w");
  for (int i = 0; i < FILE_BYTES / LINE_BYTES; ++i) fprintf(made, "%63d\n", i);
  fclose(made);
  const int file = open("input.txt", O_RDONLY);
  unsigned char *input = mmap(NULL, FILE_BYTES, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  unsigned char *data = malloc(DATA_BYTES);
  struct rlimit limit;
  getrlimit(RLIMIT_DATA, &limit);
  for (int step = 0; step < 4; ++step) {
    memset(data + step, 'a' + step, DATA_BYTES / 2);
    bsp_sync();
    printf("%d: %lx and %lx, of data %d\n", step, sum(input, FILE_BYTES), sum(data, DATA_BYTES),
           limit.rlim_cur < FILE_BYTES);
  }
  bsp_end();
  return 0;
}
