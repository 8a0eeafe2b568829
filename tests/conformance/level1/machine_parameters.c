/* Source: Oxford toolset, level 1, statement 10
 * Claim: bsp_s, bsp_g, bsp_l and bsp_nhalf are those of BSP_MACHINE: flops a second, flops a word
 *   of 32 bits, flops, words; and without it the same numbers on all processes.
 * Cases: given measured
 * Env if case == 'given': BSP_MACHINE=g=0.5,l=3000,n12=400,s=2e9
 */
#include "bsp_level1.h"

#include "level1/model.h"

static void SameEverywhere(double x) { EXPECT(x > 0 && bsp_minD(x) == x && bsp_maxD(x) == x); }

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  if (argc > 1 && argv[1][0] == 'g') {
    EXPECT(bsp_s() == 2e9);
    EXPECT(bsp_g() > 3.999 && bsp_g() < 4.001); /* 0.5 ns a byte, 4 bytes, 2 flops a ns. */
    EXPECT(bsp_l() > 5999 && bsp_l() < 6001);
    EXPECT_EQ(bsp_nhalf(), 100);
  }
  SameEverywhere(bsp_s());
  SameEverywhere(bsp_g());
  SameEverywhere(bsp_l());
  SameEverywhere(bsp_nhalf());
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
