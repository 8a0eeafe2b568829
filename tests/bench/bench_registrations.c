/* bench_registrations SECONDS LIVE: what a put costs with one live registration and with LIVE of
 * them. One superstep is LIVE puts of 8 bytes from each process to random processes:
 *   one.live     one registration, random places in its area;
 *   same.live    LIVE registrations, random places in the same area as above;
 *   random.live  LIVE registrations of 8 bytes, a random one for each put. */
#include "agree_bsp.h"

#include "measure.h"

typedef struct {
  int n;
  int random_areas;      /* Put to a random small area instead of the large one. */
  const int *to, *index; /* Destination process, and place or area, of each put. */
  double *large;         /* One area of n doubles. */
  double *small;         /* n areas of one double. */
} Puts;

static void superstep(void *context) {
  const Puts *p = context;
  for (int i = 0; i < p->n; ++i) {
    double value = i;
    if (p->random_areas)
      bsp_put(p->to[i], &value, &p->small[p->index[i]], 0, sizeof value);
    else
      bsp_put(p->to[i], &value, p->large, p->index[i] * (int)sizeof value, sizeof value);
  }
  bsp_sync();
}

/* The last put to each place is the one to be found there. */
static void check(const Puts *p, const double *area) {
  double *expected = allocate((size_t)p->n * sizeof(double));
  memset(expected, 0, (size_t)p->n * sizeof(double));
  for (int source = 0; source < bsp_nprocs(); ++source)
    for (int i = 0; i < p->n; ++i) {
      uint64_t bits = scramble(((uint64_t)source << 32) ^ (uint64_t)i);
      if ((int)(bits % (uint64_t)bsp_nprocs()) == bsp_pid())
        expected[(bits >> 32) % (uint64_t)p->n] = i;
    }
  require(memcmp(expected, area, (size_t)p->n * sizeof(double)) == 0, "puts to registered areas");
  free(expected);
}

static Timing measure_puts(Puts *p, int random_areas, double budget_s) {
  double *area = random_areas ? p->small : p->large;
  p->random_areas = random_areas;
  memset(area, 0, (size_t)p->n * sizeof(double));
  Timing timing = measure(superstep, p, agree, budget_s, 0);
  check(p, area);
  agree(0);
  return timing;
}

static Puts make_puts(int n) {
  Puts p = {.n = n};
  int *to = allocate((size_t)n * sizeof(int));
  int *index = allocate((size_t)n * sizeof(int));
  for (int i = 0; i < n; ++i) {
    uint64_t bits = scramble(((uint64_t)bsp_pid() << 32) ^ (uint64_t)i);
    to[i] = (int)(bits % (uint64_t)bsp_nprocs());
    index[i] = (int)((bits >> 32) % (uint64_t)n);
  }
  p.to = to;
  p.index = index;
  p.large = allocate((size_t)n * sizeof(double));
  p.small = allocate((size_t)n * sizeof(double));
  return p;
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  require(argc == 3, "usage: bench_registrations SECONDS LIVE");
  double budget_s = atof(argv[1]);
  Puts p = make_puts(atoi(argv[2]));
  agree_begin();
  int large_nbytes = p.n * (int)sizeof(double);
  bsp_push_reg(p.large, large_nbytes);
  bsp_sync();
  /* The large area is one of two registrations now; agree() needs the other. */
  Timing one = measure_puts(&p, 0, budget_s);
  /* Registered anew in the middle of the others: neither the oldest nor the newest. */
  bsp_pop_reg(p.large);
  double start_s = now_s();
  for (int i = 0; i < p.n; ++i) {
    if (i == p.n / 2) bsp_push_reg(p.large, large_nbytes);
    bsp_push_reg(&p.small[i], sizeof(double));
  }
  bsp_sync();
  double register_s = now_s() - start_s;
  Timing same = measure_puts(&p, 0, budget_s);
  Timing random = measure_puts(&p, 1, budget_s);
  if (bsp_pid() == 0) {
    report("one.live", one);
    report("same.live", same);
    report("random.live", random);
    figure("register", register_s);
  }
  bsp_end();
  return 0;
}
