/* composition.h: values and an operation on them that is associative and does not commute: maps
 * x -> factor x + addend of 32-bit numbers, and their composition.
 */
#ifndef COMPOSITION_H_
#define COMPOSITION_H_

#include "bsp_level1.h"
#include "level1/model.h"

typedef struct {
  unsigned factor, addend;
} Map;

static Map MapOf(int call, int pid, int i) {
  Map map;
  map.factor = (unsigned)(call * 2654435 + pid * 40503 + i * 97) | 1u;
  map.addend = (unsigned)(call * 69069 + pid * 362437 + i * 13);
  return map;
}

/* First `a`, then `b`. */
static Map Composed(Map a, Map b) {
  Map both;
  both.factor = a.factor * b.factor;
  both.addend = b.factor * a.addend + b.addend;
  return both;
}

static int Apart(const void *a, const void *b, int bytes) {
  const char *x = (const char *)a, *y = (const char *)b;
  return x + bytes <= y || y + bytes <= x;
}

static void Compose(void *result, void *left, void *right, int *nbytes) {
  int i;
  EXPECT(Apart(result, left, *nbytes) && Apart(result, right, *nbytes) &&
         Apart(left, right, *nbytes));
  for (i = 0; i < *nbytes / (int)sizeof(Map); i++)
    ((Map *)result)[i] = Composed(((Map *)left)[i], ((Map *)right)[i]);
}

/* Values of all sizes; not so large that 64 processes have no memory for them. */
static int DrawCount(int p) {
  switch (Draw(4)) {
    case 0:
      return Draw(3);
    case 1:
      return 1 + Draw(100);
    default:
      return 1 + Draw(p > 8 ? 2500 : 30000);
  }
}

/* `pid` below 0: with what is no map of any process. */
static Map *NewMaps(int call, int pid, int count) {
  Map *maps = (Map *)malloc(((size_t)count + 1) * sizeof *maps);
  int i;
  if (!maps) bsp_abort("no memory for %d maps\n", count);
  for (i = 0; i < count; i++) maps[i] = MapOf(call, pid, i);
  return maps;
}

/* `reduce` is bsp_fold or bsp_scan, whose result here is that of processes 0 to end - 1. */
static void CheckReductions(void (*reduce)(void (*op)(void *, void *, void *, int *), void *,
                                           void *, int),
                            int end) {
  int call, i, pid;
  for (call = 0; call < kCalls; call++) {
    int count = DrawCount(bsp_nprocs());
    Map *src = NewMaps(call, bsp_pid(), count), *dst = Draw(2) ? src : NewMaps(call, -1, count);
    reduce(Compose, src, dst, count * (int)sizeof *src);
    for (i = 0; i < count; i++) {
      Map all = MapOf(call, 0, i);
      for (pid = 1; pid < end; pid++) all = Composed(all, MapOf(call, pid, i));
      EXPECT(dst[i].factor == all.factor && dst[i].addend == all.addend);
    }
    if (dst != src) free(dst);
    free(src);
  }
}

#endif /* COMPOSITION_H_ */
