/* page_tables KIND: each process puts 8 bytes to each, or gets them from each. What page tables all
 * take must not grow with what the segment could hold: at most 64 KiB a process, and 2 KiB a pair
 * that talks. */
#include <bsp.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSupersteps = 3, kKiBOfProcess = 64, kKiBOfPair = 2 };

static uint64_t page_tables_kib(void) {
  char line[256];
  uint64_t kib = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL)
    if (sscanf(line, "VmPTE: %" SCNu64, &kib) == 1) break;
  if (status != NULL) fclose(status);
  if (kib == 0) bsp_abort("no VmPTE in /proc/self/status\n");
  return kib;
}

static uint64_t *area(int nprocs) {
  uint64_t *words = calloc((size_t)nprocs, sizeof *words);
  if (words == NULL) bsp_abort("no memory\n");
  bsp_push_reg(words, nprocs * (int)sizeof *words);
  return words;
}

int main(int argc, char **argv) {
  const char *kind = argc > 1 ? argv[1] : "";
  bsp_begin(bsp_nprocs());
  int pid = bsp_pid(), nprocs = bsp_nprocs();
  uint64_t *put_in = area(nprocs), *got = area(nprocs), mine = (uint64_t)pid;
  bsp_sync();
  for (int s = 0; s < kSupersteps; ++s) {
    for (int q = 0; q < nprocs; ++q) {
      if (strcmp(kind, "put") == 0) bsp_put(q, &mine, put_in, pid * (int)sizeof mine, sizeof mine);
      if (strcmp(kind, "get") == 0)
        bsp_get(q, put_in, pid * (int)sizeof mine, got + q, sizeof mine);
    }
    bsp_sync();
  }
  mine = page_tables_kib();
  bsp_put(0, &mine, put_in, pid * (int)sizeof mine, sizeof mine);
  bsp_sync();
  uint64_t all = 0, most = (uint64_t)nprocs * (uint64_t)(kKiBOfProcess + kKiBOfPair * nprocs);
  for (int q = 0; pid == 0 && q < nprocs; ++q) all += put_in[q];
  if (all > most) bsp_abort("%" PRIu64 " KiB of page tables, of %" PRIu64 "\n", all, most);
  if (pid == 0) puts("ok");
  bsp_end();
  return 0;
}
