/* affine.h: an operation that is associative and not commutative, on pairs of words: x -> a x + b,
 * one after the other. `param` counts the elements that were combined. Include after pub.h. */
#ifndef AFFINE_H_
#define AFFINE_H_

#include "pub/expect_pub.h"

struct Affine {
  unsigned a, b;
};

static void Compose(void *result, const void *left, const void *right, int count, void *param) {
  struct Affine *to = (struct Affine *)result;
  const struct Affine *f = (const struct Affine *)left, *g = (const struct Affine *)right;
  int i;
  EXPECT((const void *)to != left && (const void *)to != right);
  for (i = 0; i < count; ++i) {
    to[i].a = f[i].a * g[i].a;
    to[i].b = f[i].b * g[i].a + g[i].b;
  }
  *(int *)param += count;
}

static const t_bspop compose[1] = {{sizeof(struct Affine), Compose}};

/* Element i of process q. */
static struct Affine ElementOf(int q, int i) {
  struct Affine f;
  f.a = 2u * (unsigned)(q + 3 * i) + 1u;
  f.b = (unsigned)(q * q + i);
  return f;
}

#endif /* AFFINE_H_ */
