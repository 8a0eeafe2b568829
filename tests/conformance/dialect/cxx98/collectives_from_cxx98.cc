/* Source: Oxford toolset, level 1, statement 11
 * Claim: bsp_level1.h can be used from C++98.
 */
#include "level1/every_collective.h"

int main() {
  EveryCollective();
  return 0;
}
