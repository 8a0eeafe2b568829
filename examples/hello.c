/* hello.c: the smallest BSP program: every process says who it is, in the order of the pids.
 *
 *   bspcc hello.c -o hello && bsprun -n 4 ./hello
 *
 * Superstep i is the turn of process i. What a process prints before a barrier is out before any
 * process prints behind it, hence the order. Cost: p supersteps without communication, p l.
 */
#include <bsp.h>
#include <stdio.h>

int main(void) {
  bsp_begin(bsp_nprocs()); /* Before bsp_begin: the processors available. After it: p. */
  for (int turn = 0; turn < bsp_nprocs(); turn++) {
    if (bsp_pid() == turn) {
      printf("Hello from process %d of %d\n", bsp_pid(), bsp_nprocs());
      fflush(stdout);
    }
    bsp_sync();
  }
  bsp_end();
  return 0;
}
