/* Source: Oxford toolset, level 1, statement 11
 * Claim: bsp_level1.h can be used beside MulticoreBSP's dialect of bsp.h.
 */
#define BSP_MULTICORE
#include "level1/every_collective.h"

int main(void) {
  EveryCollective();
  return 0;
}
