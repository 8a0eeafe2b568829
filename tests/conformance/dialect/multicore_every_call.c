/* Source: semantics, dialects, statement 1
 * Source: semantics, dialects, statement 2
 * Source: MulticoreBSP, calls, statement 1
 * Claim: With BSP_MULTICORE every call works with sizes of type size_t; bsp_get_tag and bsp_hpmove
 *   give (size_t)-1 on an empty queue.
 */
#define BSP_MULTICORE
#include "dialect/every_call.h"

int main(void) {
  EveryCall();
  return 0;
}
