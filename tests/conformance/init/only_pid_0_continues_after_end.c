/* Source: BSPlib 1997, Simulating dynamic processes, statement 4
 * Source: bsp.h, bsp_end, statement 1
 * Claim: Behind bsp_end only process zero goes on with the rest of the program, sequentially, and
 *   has what the parallel part left in its memory.
 * Stdout: sum {p * (p + 1) // 2}
 */
#include "bsp.h"

static int sum;

static void spmd(void) {
  int value, size, status;
  bsp_begin(bsp_nprocs());
  value = bsp_pid() + 1;
  bsp_send(0, NULL, &value, sizeof(value));
  bsp_sync();
  bsp_qsize(&size, NULL);
  for (; size > 0; size--) {
    bsp_get_tag(&status, NULL);
    bsp_move(&value, sizeof(value));
    sum += value;
  }
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(spmd, argc, argv);
  spmd();
  printf("sum %d\n", sum);
  return 0;
}
