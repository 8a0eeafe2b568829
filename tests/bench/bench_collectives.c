/* bench_collectives SECONDS NBYTES...: bsp_bcast, and sums of vectors of NBYTES: by
 * bsp_fold_elements and bsp_scan_elements, which may cut them, and by bsp_fold and bsp_scan. */
#include <bsp_level1.h>

#include "agree_bsp.h"
#include "collective_steps.h"

static void add(void *result, void *left, void *right, int *nbytes) {
  double *restrict sum = result; /* The three never overlap. */
  const double *restrict a = left, *restrict b = right;
  for (int i = 0; i < *nbytes / (int)sizeof(double); ++i) sum[i] = a[i] + b[i];
}

static void bcast(void *context) {
  const Vectors *v = context;
  bsp_bcast(0, v->src, v->dst, v->nbytes);
}
static void reduce(void *context) {
  const Vectors *v = context;
  bsp_fold_elements(add, v->src, v->dst, v->nbytes / (int)sizeof(double), sizeof(double));
}
static void scan(void *context) {
  const Vectors *v = context;
  bsp_scan_elements(add, v->src, v->dst, v->nbytes / (int)sizeof(double), sizeof(double));
}
static void reduce_whole(void *context) {
  const Vectors *v = context;
  bsp_fold(add, v->src, v->dst, v->nbytes);
}
static void scan_whole(void *context) {
  const Vectors *v = context;
  bsp_scan(add, v->src, v->dst, v->nbytes);
}

int main(int argc, char **argv) {
  const Collective collectives[] = {{"bcast", bcast, first_value},
                                    {"reduce", reduce, sum_of_all},
                                    {"scan", scan, sum_up_to},
                                    {"reduce_whole", reduce_whole, sum_of_all},
                                    {"scan_whole", scan_whole, sum_up_to}};
  bsp_begin(bsp_nprocs());
  agree_begin();
  time_collectives(collectives, 5, agree, bsp_pid(), bsp_nprocs(), argc, argv);
  bsp_end();
  return 0;
}
