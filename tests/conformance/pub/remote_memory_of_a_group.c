/* Source: PUB 2003, section 3.2, statement 1
 * Source: PUB 2003, section 3.2, statement 2
 * Source: PUB 2003, section 3.2, statement 3
 * Source: PUB 2003, section 3.2, statement 4
 * Source: PUB 2003, section 3.2, statement 5
 * Claim: bsp_push_reg registers an area at whatever address, bsp_put writes to it, bsp_get reads
 *   it, bsp_pop_reg removes it, as in BSPlib, in each group by its own pids; with bsp_hpput and
 *   bsp_hpget, too.
 * Cases: buffered unbuffered
 */
#include <pub.h>

#include "pub/expect_pub.h"

static void Rotate(pbsp bsp, int base, int unbuffered) {
  int p = bsp_nprocs(bsp), me = bsp_pid(bsp), value = base + me, got[2] = {-1, -1};
  int *area = (int *)malloc(sizeof(int) * (size_t)(3 + me % 5));
  area[0] = area[1] = -1;
  area[2] = base + me;
  bsp_push_reg(bsp, area, 3 * sizeof(int));
  bsp_sync(bsp);
  if (unbuffered) {
    bsp_hpput(bsp, (me + 1) % p, &value, area, sizeof(int), sizeof(int));
    bsp_hpget(bsp, (me + 1) % p, area, 2 * sizeof(int), &got[1], sizeof(int));
  } else {
    bsp_put(bsp, (me + 1) % p, &value, area, sizeof(int), sizeof(int));
    value = -2;
    bsp_get(bsp, (me + 1) % p, area, 2 * sizeof(int), &got[1], sizeof(int));
    EXPECT_EQ(got[1], -1);
  }
  bsp_pop_reg(bsp, area);
  bsp_sync(bsp);
  EXPECT_EQ(area[0], -1);
  EXPECT_EQ(area[1], base + (me + p - 1) % p);
  EXPECT_EQ(got[1], base + (me + 1) % p);
  free(area);
}

int main(int argc, char **argv) {
  t_bsp bsp, sub;
  int part[2], p, group, unbuffered = argc > 1 && argv[1][0] == 'u';
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  part[0] = p / 2;
  part[1] = p;
  group = bsp_pid(&bsp) >= p / 2;
  Rotate(&bsp, 100, unbuffered);
  bsp_partition(&bsp, &sub, 2, part);
  Rotate(&sub, 1000 * group, unbuffered);
  bsp_done(&sub);
  Rotate(&bsp, 200, unbuffered);
  PUB_END(bsp);
  return 0;
}
