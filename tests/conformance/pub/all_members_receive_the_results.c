/* Source: PUB 2003, section 3.1, statement 12
 * Claim: In the all-to-all versions of reductions and scans all members receive the result: the
 *   combination of all, or those of all prefixes; a scan gives each member its own prefix.
 * Cases: range list
 */
#include <pub.h>

#include "pub/affine.h"

int main(int argc, char **argv) {
  t_bsp bsp;
  struct Affine mine[2], all[2], prefix[2], prefixes[64 * 2], expected[64][2], next;
  int p, me, i, k, place, table[64], combined = 0;
  int listed = argc > 1 && argv[1][0] == 'l';
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  place = listed ? p - 1 - me : me;
  for (k = 0; k < p; ++k) table[k] = listed ? p - 1 - k : k;
  for (i = 0; i < 2; ++i) mine[i] = ElementOf(me, i);
  if (listed) {
    bsp_lallreduce(&bsp, table, p, mine, all, 2, compose, &combined);
    bsp_lscan(&bsp, table, p, mine, prefix, 2, compose, &combined);
    bsp_lallscan(&bsp, table, p, mine, prefixes, 2, compose, &combined);
  } else {
    bsp_gallreduce(&bsp, 0, p - 1, mine, all, 2, compose, &combined);
    bsp_gscan(&bsp, 0, p - 1, mine, prefix, 2, compose, &combined);
    bsp_gallscan(&bsp, 0, p - 1, mine, prefixes, 2, compose, &combined);
  }
  bsp_oblsync(&bsp, 3);
  for (k = 0; k < p; ++k) {
    for (i = 0; i < 2; ++i) {
      next = ElementOf(table[k], i);
      expected[k][i] = next;
      if (k == 0) continue;
      expected[k][i].a = expected[k - 1][i].a * next.a;
      expected[k][i].b = expected[k - 1][i].b * next.a + next.b;
    }
  }
  EXPECT(memcmp(all, expected[p - 1], sizeof all) == 0);
  EXPECT(memcmp(prefix, expected[place], sizeof prefix) == 0);
  EXPECT(memcmp(prefixes, expected, sizeof all * (size_t)p) == 0);
  EXPECT_EQ(combined, 2 * (p - 1 + place + p - 1));
  bsp_sync(&bsp);
  PUB_END(bsp);
  return 0;
}
