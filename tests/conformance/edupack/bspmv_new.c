/* Source: BSPedupack, programs, statement 2
 * Claim: A product of a sparse matrix and a vector in the new form of BSPedupack: triples by
 *   bsp_send without a tag and bsp_hpmove, components by bsp_get, sums by bsp_send with the index
 *   as the tag.
 * Stdin: {p}
 * Stdout: How many processors do you want to use?
 * Stdout: ok
 */
#include "edupack/new_form.h"

#include <math.h>

#define ORDER 60

typedef struct {
  long i, j;
  double a;
} triple;

bool is_nonzero(long i, long j) { return i == j || (i * 5 + j * 13) % 11 == 0; }
double value(long i, long j) { return 0.5 * i - j; }
long owner(long i, long j, long p) { return (i * 2 + j * 7) % p; }

/* The rows of this process: which, and where each begins; the columns and values. */
static struct {
  long nrows, row[ORDER], start[ORDER + 1], col[ORDER * ORDER];
  double a[ORDER * ORDER];
} mine;

int compare_triples(const void *left, const void *right) {
  const triple *x = (const triple *)left, *y = (const triple *)right;
  long order = x->i != y->i ? x->i - y->i : x->j - y->j;
  return order < 0 ? -1 : order > 0;
}

void triple2crs(triple *t, long nz) {
  qsort(t, nz, sizeof(triple), compare_triples);
  mine.nrows = 0;
  for (long k = 0; k < nz; k++) {
    if (k == 0 || t[k].i != t[k - 1].i) {
      mine.row[mine.nrows] = t[k].i;
      mine.start[mine.nrows++] = k;
    }
    mine.col[k] = t[k].j;
    mine.a[k] = t[k].a;
  }
  mine.start[mine.nrows] = nz;
}

void bspinput2triple(void) {
  long p = bsp_nprocs();
  for (long i = 0; bsp_pid() == 0 && i < ORDER; i++) {
    for (long j = 0; j < ORDER; j++) {
      triple t = {i, j, value(i, j)};
      if (is_nonzero(i, j)) bsp_send(owner(i, j, p), NULL, &t, sizeof(triple));
    }
  }
  bsp_sync();
  bsp_nprocs_t nz;
  bsp_size_t nbytes;
  bsp_qsize(&nz, &nbytes);
  if (nbytes != nz * sizeof(triple)) bsp_abort("%u triples have %zu bytes\n", nz, nbytes);
  triple *all = (triple *)malloc(nbytes + 1);
  if (all == NULL) bsp_abort("bspinput2triple: not enough memory\n");
  for (bsp_nprocs_t k = 0; k < nz; k++) {
    void *tag, *payload;
    if (bsp_hpmove(&tag, &payload) != sizeof(triple)) bsp_abort("no triple\n");
    all[k] = *(triple *)payload;
  }
  triple2crs(all, nz);
  free(all);
}

/* v and u are in cyclic distribution. */
void bspmv(const double *v, double *u) {
  long p = bsp_nprocs(), s = bsp_pid(), nv = nloc(p, s, ORDER);
  double vloc[ORDER];
  bool wanted[ORDER] = {false};
  for (long k = 0; k < mine.start[mine.nrows]; k++) wanted[mine.col[k]] = true;
  for (long j = 0; j < ORDER; j++) {
    if (wanted[j]) bsp_get(j % p, v, j / p * sizeof(double), &vloc[j], sizeof(double));
  }
  bsp_sync();
  for (long r = 0; r < mine.nrows; r++) {
    double sum = 0.0;
    long place = mine.row[r] / p;
    for (long k = mine.start[r]; k < mine.start[r + 1]; k++) sum += mine.a[k] * vloc[mine.col[k]];
    bsp_send(mine.row[r] % p, &place, &sum, sizeof(double));
  }
  bsp_sync();
  for (long i = 0; i < nv; i++) u[i] = 0.0;
  bsp_nprocs_t nsums;
  bsp_qsize(&nsums, NULL);
  for (; nsums > 0; nsums--) {
    bsp_size_t status;
    long i;
    double sum;
    bsp_get_tag(&status, &i);
    bsp_move(&sum, sizeof(double));
    u[i] += sum;
  }
}

void bspmv_test(void) {
  bsp_begin(P);
  long p = bsp_nprocs(), s = bsp_pid(), nv = nloc(p, s, ORDER);
  double v[ORDER], u[ORDER]; /* Of each process, so that all have an address to name them by. */
  size_t tag_size = sizeof(long);
  bsp_push_reg(v, nv * sizeof(double));
  bspinput2triple();
  bsp_set_tagsize(&tag_size);
  if (tag_size != 0) bsp_abort("the first size of tags is %zu\n", tag_size);
  for (long i = 0; i < nv; i++) v[i] = i * p + s + 1.0;
  bsp_sync();
  for (long turn = 0; turn < 3; turn++) bspmv(v, u);
  for (long i = 0; i < nv; i++) {
    double sum = 0.0;
    for (long j = 0; j < ORDER; j++) {
      if (is_nonzero(i * p + s, j)) sum += value(i * p + s, j) * (j + 1.0);
    }
    if (fabs(u[i] - sum) > 1e-9) bsp_abort("component %ld is wrong\n", i * p + s);
  }
  bsp_pop_reg(v);
  bsp_sync();
  if (s == 0) printf("ok\n");
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(bspmv_test, argc, argv);
  read_number_of_processes();
  bspmv_test();
  exit(EXIT_SUCCESS);
}
