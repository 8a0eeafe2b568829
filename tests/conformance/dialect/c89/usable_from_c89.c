/* Source: bsp.h, head, statement 1
 * Claim: bsp.h and all its calls can be used from strict C89.
 */
#include "dialect/every_call.h"

int main(int argc, char **argv) {
  bsp_init(EveryCall, argc, argv);
  EveryCall();
  return 0;
}
