/* Source: Oxford toolset, level 1, statement 11
 * Claim: bsp_level1.h can be used from C23.
 */
#include "level1/every_collective.h"

int main(void) {
  EveryCollective();
  return 0;
}
