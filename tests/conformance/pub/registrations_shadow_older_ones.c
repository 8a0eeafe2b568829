/* Source: PUB 2003, section 3.2, statement 7
 * Claim: Registrations are BSPlib's, of each object its own: the newest of an address counts, a
 *   bsp_pop_reg removes that, and the older one is valid again; another object registers the same
 *   address anew, with another size, and what it removes stays in the first.
 */
#include <pub.h>

#include "pub/expect_pub.h"

static int area[4]; /* The same name on all processes; the parts differ. */

/* Every process writes to place `at` of the next one's area, which starts at `name`. */
static void PutTo(pbsp bsp, int *name, int at, int value) {
  int p = bsp_nprocs(bsp), me = bsp_pid(bsp);
  area[0] = area[1] = area[2] = area[3] = -1;
  bsp_sync(bsp);
  bsp_put(bsp, (me + 1) % p, &value, name, at * (int)sizeof(int), sizeof value);
  bsp_sync(bsp);
}

int main(int argc, char **argv) {
  t_bsp bsp, sub;
  int part[2], odd;
  PUB_BEGIN(argc, argv, bsp);
  odd = bsp_pid(&bsp) % 2;
  bsp_push_reg(&bsp, area, sizeof area);
  PutTo(&bsp, area, 3, 1);
  EXPECT_EQ(area[3], 1);
  bsp_push_reg(&bsp, area, (2 + odd) * (int)sizeof(int)); /* Less than before, and not alike. */
  PutTo(&bsp, area, 1, 2);
  EXPECT_EQ(area[1], 2);

  part[0] = bsp_nprocs(&bsp) / 2;
  part[1] = bsp_nprocs(&bsp);
  bsp_partition(&bsp, &sub, 2, part);
  bsp_push_reg(&sub, area + 1, 3 * sizeof(int)); /* It overlaps those of all. */
  bsp_push_reg(&sub, area, sizeof area);
  PutTo(&sub, area + 1, 2, 3);
  EXPECT_EQ(area[3], 3);
  PutTo(&sub, area, 3, 4);
  EXPECT_EQ(area[3], 4);
  bsp_pop_reg(&sub, area);
  bsp_pop_reg(&sub, area + 1);
  bsp_sync(&sub);
  bsp_done(&sub);

  PutTo(&bsp, area, 1, 5);
  EXPECT_EQ(area[1], 5);
  bsp_pop_reg(&bsp, area);
  PutTo(&bsp, area, 3, 6);
  EXPECT_EQ(area[3], 6);
  bsp_pop_reg(&bsp, area);
  PUB_END(bsp);
  return 0;
}
