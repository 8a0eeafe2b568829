/* Source: PUB 2003, section 3.1, statement 7
 * Source: PUB 2003, section 3.1, statement 8
 * Source: PUB 2003, section 3.1, statement 9
 * Source: PUB 2003, section 3.1, statement 10
 * Claim: A reduction combines corresponding elements of sbuf, in the order of its members, by an
 *   operation of the program's that gets a parameter, and stores the results in rbuf, which may be
 *   sbuf, on the last member; who is no member takes no part.
 * Cases: range list
 */
#include <pub.h>

#include "pub/affine.h"

enum { kCount = 3000 };

int main(int argc, char **argv) {
  t_bsp bsp;
  static struct Affine values[kCount];
  int p, me, i, k, n = 0, members[64], combined = 0, listed = argc > 1 && argv[1][0] == 'l';
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  if (listed) {
    for (i = p - 1; i >= 0; i -= 2) members[n++] = i; /* Downwards. */
  } else {
    for (i = p / 3; i < p; ++i) members[n++] = i;
  }
  for (i = 0; i < kCount; ++i) values[i] = ElementOf(me, i);
  if (listed) {
    bsp_lreduce(&bsp, members, n, values, values, kCount, compose, &combined);
  } else {
    bsp_greduce(&bsp, p / 3, p - 1, values, values, kCount, compose, &combined);
  }
  bsp_sync(&bsp);
  if (me == members[n - 1]) {
    for (i = 0; i < kCount; i += 7) {
      struct Affine expected = ElementOf(members[0], i), next;
      for (k = 1; k < n; ++k) {
        next = ElementOf(members[k], i);
        expected.a *= next.a;
        expected.b = expected.b * next.a + next.b;
      }
      EXPECT(values[i].a == expected.a && values[i].b == expected.b);
    }
  } else {
    for (i = 0; i < kCount; i += 7) EXPECT(values[i].b == ElementOf(me, i).b);
  }
  EXPECT_EQ(combined, me == members[n - 1] ? (n - 1) * kCount : 0);
  PUB_END(bsp);
  return 0;
}
