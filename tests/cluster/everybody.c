/* everybody SUPERSTEPS: every process puts a word to every process, sends it another, and gets a
 * third, and checks what it receives; pid 0 prints whether that was right on all processes. */
#include <bsp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t word(int from, int to, int superstep) {
  return (uint64_t)superstep << 40 ^ (uint64_t)from << 20 ^ (uint64_t)to;
}

static int pid, nprocs;
static uint64_t *put_in, *shown, *got; /* A word for each process. */

static int one_superstep(int superstep) {
  int wrong = 0, nmessages, from, status;
  for (int q = 0; q < nprocs; ++q) shown[q] = ~word(pid, q, superstep);
  for (int i = 0; i < nprocs; ++i) {
    int q = (pid + i) % nprocs;
    uint64_t mine = word(pid, q, superstep);
    bsp_put(q, &mine, put_in, pid * (int)sizeof mine, sizeof mine);
    bsp_send(q, &pid, &mine, sizeof mine);
    bsp_get(q, shown, pid * (int)sizeof mine, &got[q], sizeof mine);
  }
  bsp_sync();
  bsp_qsize(&nmessages, NULL);
  wrong += nmessages != nprocs;
  for (int i = 0; i < nmessages; ++i) {
    uint64_t sent = 0;
    bsp_get_tag(&status, &from);
    bsp_move(&sent, sizeof sent);
    wrong += from != i || sent != word(from, pid, superstep);
  }
  for (int q = 0; q < nprocs; ++q) {
    wrong += put_in[q] != word(q, pid, superstep);
    wrong += got[q] != ~word(q, pid, superstep);
  }
  return wrong;
}

static uint64_t *area(void) {
  uint64_t *words = calloc((size_t)nprocs, sizeof *words);
  bsp_push_reg(words, nprocs * (int)sizeof *words);
  return words;
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  pid = bsp_pid();
  nprocs = bsp_nprocs();
  int supersteps = argc > 1 ? atoi(argv[1]) : 1, tag_bytes = sizeof pid;
  put_in = area();
  shown = area();
  got = area();
  uint64_t *wrong_on = area();
  bsp_set_tagsize(&tag_bytes);
  bsp_sync();
  uint64_t wrong = 0, total = 0;
  for (int s = 0; s < supersteps; ++s) wrong += (uint64_t)one_superstep(s);
  bsp_put(0, &wrong, wrong_on, pid * (int)sizeof wrong, sizeof wrong);
  bsp_sync();
  for (int q = 0; q < nprocs; ++q) total += wrong_on[q];
  if (pid == 0 && total == 0) printf("right on all %d processes\n", nprocs);
  if (pid == 0 && total != 0) printf("wrong: %llu words\n", (unsigned long long)total);
  bsp_end();
  return 0;
}
