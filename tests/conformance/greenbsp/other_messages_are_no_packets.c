/* Source: Green BSP, statement 4
 * Claim: A message that is no packet is an error that says so.
 * Exit: 6
 * Stderr: ^bspnow: bspGetPkt on pid \d+, superstep 1: the queue has a message of 5 bytes
 */
#include "greenbsp.h"

int main(void) {
  bsp_begin(bsp_nprocs());
  bsp_send(bsp_pid(), NULL, "hello", 5);
  bspSynch();
  bspGetPkt();
  puts("no error");
  bsp_end();
  return 0;
}
