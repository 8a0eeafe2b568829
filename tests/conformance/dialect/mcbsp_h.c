/* Source: MulticoreBSP, calls, statement 5
 * Claim: mcbsp.h is bsp.h in MulticoreBSP's dialect, and brings the types of stdint.h.
 */
#include "mcbsp.h"

#include "expect.h"

int main(void) {
  uint32_t mine, got = 0;
  const size_t size = sizeof mine;
  bsp_begin(bsp_nprocs());
  mine = (uint32_t)bsp_pid() + UINT32_C(7);
  bsp_push_reg(&mine, size);
  bsp_sync();
  bsp_direct_get((bsp_pid() + 1) % bsp_nprocs(), &mine, (size_t)0, &got, size);
  EXPECT_EQ(got, (bsp_pid() + 1) % bsp_nprocs() + 7);
  bsp_hpsend(0, NULL, &mine, size);
  bsp_sync();
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
