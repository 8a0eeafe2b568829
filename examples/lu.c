/* lu.c: LU decomposition with partial pivoting, P A = L U, of a dense matrix.
 *
 *   bspcc -O2 lu.c -o lu -lm && bsprun -n 4 ./lu --verify data/helmholtz.mtx
 *
 * The p processes form a grid of M x N, and the matrix is distributed over it cyclically in both
 * directions (Bisseling, Parallel Scientific Computation, chapter 2): process (s, t), with pid
 * s N + t, holds the elements a(i, j) with i mod M = s and j mod N = t. So all have work until the
 * end. Stage k, k = 0 .. n - 1, takes two supersteps:
 *   1  The processes of column k look for its largest element from row k on, and put it to all.
 *   2  All know the pivot's row r. The owners of row r put it to their process column; the owners
 *      of row k put that where row r was; the owners of column k divide it by the pivot and put
 *      it to their process row. (That swap and broadcast share a superstep is possible because
 *      a(k, k), which moves to row r, came along in superstep 1.)
 * Then each process updates its part of the rest. In all, for M = N = sqrt(p):
 *   2 n^3 / (3 p) + 3/2 n^2 8 g + 2 n l.
 * (For large M and N, broadcasting in two phases, as Bisseling does, lowers h and costs more l.)
 */
#include <bsp.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "distribution.h"
#include "lu_check.h"
#include "matrix_market.h"
#include "options.h"

static const char kUsage[] =
    "usage: lu [--verify] FILE | lu [--verify] --random=N\n"
    "LU decomposition with partial pivoting of the matrix in FILE (Matrix Market format).\n"
    "  --random=N  a random matrix of order N, 1 to 10000, instead of a file\n"
    "  --verify    check P A = L U, and the pivots against a sequential decomposition\n";

/* What the sequential part of process 0 gives to the SPMD part, and gets from it. */
static int maxprocs = INT_MAX;
static int n;
static double *matrix;  /* Process 0: A by rows; then L, without its ones, and U in its place. */
static int *swapped;    /* Process 0: stage k swapped rows k and swapped[k] >= k. */
static int stages_done; /* n, unless the matrix is singular. */
static double seconds;
static int grid_rows, grid_columns;

/* The largest element that a process has in column k. */
struct Candidate {
  double magnitude; /* 0 if all are 0. */
  double value;
  double diagonal; /* a(k, k), from its owner. */
  int row;
};

/* One process's part of the matrix: local row i is row i M + s, local column j column j N + t. */
struct Part {
  int M, N, s, t;
  int nrows, ncolumns;
  double *a;                    /* nrows x ncolumns, by rows. */
  struct Candidate *candidates; /* [M], registered: by process row. */
  double *pivot_row;            /* [ncolumns], registered: row r, from now on row k. */
  double *displaced_row;        /* [ncolumns], registered: row k, from now on row r. */
  double *multiplier;           /* [nrows], registered: column k of L. */
};

/* Of the indices 0 .. limit - 1, how many are s modulo m. */
static int CyclicSize(int limit, int m, int s) { return (limit - s + m - 1) / m; }

/* Superstep 1 of stage k: finds the largest element, the first one of equals. */
static struct Candidate FindPivot(const struct Part *part, int k) {
  struct Candidate best = {0.0, 0.0, 0.0, -1};
  if (k % part->N == part->t) {
    for (int i = CyclicSize(k, part->M, part->s); i < part->nrows; i++) {
      const int row = i * part->M + part->s;
      const double value = part->a[(size_t)i * part->ncolumns + k / part->N];
      if (row == k) best.diagonal = value;
      if (fabs(value) > best.magnitude) {
        best.magnitude = fabs(value);
        best.value = value;
        best.row = row;
      }
    }
    for (int pid = 0; pid < part->M * part->N; pid++)
      bsp_put(pid, &best, part->candidates, part->s * (int)sizeof best, sizeof best);
  }
  bsp_sync();

  best = part->candidates[0];
  for (int s = 1; s < part->M; s++) {
    const struct Candidate *other = &part->candidates[s];
    if (other->magnitude > best.magnitude ||
        (other->magnitude == best.magnitude && other->row < best.row))
      best = *other;
  }
  best.diagonal = part->candidates[k % part->M].diagonal;
  return best;
}

/* Superstep 2 of stage k: swaps rows k and r = pivot->row, and brings row k of U and column k of L
 * to all that need them. */
static void SwapAndBroadcast(struct Part *part, int k, const struct Candidate *pivot) {
  const int M = part->M, N = part->N, s = part->s, t = part->t, r = pivot->row;
  const int row_nbytes = part->ncolumns * (int)sizeof(double);
  const int below = CyclicSize(k + 1, M, s); /* The first local row below row k. */
  double *row_k = k % M == s ? part->a + (size_t)(k / M) * part->ncolumns : NULL;
  double *row_r = r % M == s ? part->a + (size_t)(r / M) * part->ncolumns : NULL;
  double *column_k = k % N == t ? part->a + k / N : NULL;

  if (row_r != NULL)
    for (int q = 0; q < M; q++) bsp_put(q * N + t, row_r, part->pivot_row, 0, row_nbytes);
  if (row_k != NULL) bsp_put(r % M * N + t, row_k, part->displaced_row, 0, row_nbytes);
  if (column_k != NULL) {
    for (int i = below; i < part->nrows; i++) {
      const int will_be_row_r = i * M + s == r;
      const double value = column_k[(size_t)i * part->ncolumns];
      part->multiplier[i] = (will_be_row_r ? pivot->diagonal : value) / pivot->value;
    }
    for (int q = 0; q < N; q++)
      if (q != t)
        bsp_put(s * N + q, part->multiplier + below, part->multiplier, below * (int)sizeof(double),
                (part->nrows - below) * (int)sizeof(double));
  }
  bsp_sync();

  if (row_r != NULL) memcpy(row_r, part->displaced_row, row_nbytes);
  if (row_k != NULL) memcpy(row_k, part->pivot_row, row_nbytes);
  if (column_k != NULL)
    for (int i = below; i < part->nrows; i++)
      column_k[(size_t)i * part->ncolumns] = part->multiplier[i];
}

/* Local: subtracts column k of L times row k of U from what is below and to the right. */
static void Update(struct Part *part, int k) {
  for (int i = CyclicSize(k + 1, part->M, part->s); i < part->nrows; i++) {
    double *row = &part->a[(size_t)i * part->ncolumns];
    const double multiplier = part->multiplier[i];
    for (int j = CyclicSize(k + 1, part->N, part->t); j < part->ncolumns; j++)
      row[j] -= multiplier * part->pivot_row[j];
  }
}

/* Copies between the matrix, by rows, and `staging`, where the parts follow each other by pid. */
static void Stage(double *staging, int M, int N, int is_gather) {
  size_t place = 0;
  for (int pid = 0; pid < M * N; pid++)
    for (int i = pid / N; i < n; i += M)
      for (int j = pid % N; j < n; j += N, place++) {
        double *element = &matrix[(size_t)i * n + j];
        if (is_gather)
          *element = staging[place];
        else
          staging[place] = *element;
      }
}

/* The processes as a grid that is as square as p allows, with areas for n x n elements. */
static struct Part MakePart(void) {
  struct Part part;
  const int p = bsp_nprocs();
  for (int m = 1; m * m <= p; m++)
    if (p % m == 0) part.M = m;
  part.N = p / part.M;
  part.s = bsp_pid() / part.N;
  part.t = bsp_pid() % part.N;
  part.nrows = CyclicSize(n, part.M, part.s);
  part.ncolumns = CyclicSize(n, part.N, part.t);
  part.a = Allocate((size_t)part.nrows * part.ncolumns, sizeof(double));
  part.candidates = Allocate(part.M, sizeof *part.candidates);
  part.pivot_row = Allocate(part.ncolumns, sizeof(double));
  part.displaced_row = Allocate(part.ncolumns, sizeof(double));
  part.multiplier = Allocate(part.nrows, sizeof(double));
  bsp_push_reg(part.candidates, part.M * (int)sizeof *part.candidates);
  bsp_push_reg(part.pivot_row, part.ncolumns * (int)sizeof(double));
  bsp_push_reg(part.displaced_row, part.ncolumns * (int)sizeof(double));
  bsp_push_reg(part.multiplier, part.nrows * (int)sizeof(double));
  bsp_sync();
  return part;
}

static void FreePart(struct Part *part) {
  free(part->a);
  free(part->candidates);
  free(part->pivot_row);
  free(part->displaced_row);
  free(part->multiplier);
}

static void Decompose(struct Part *part) {
  const double start = bsp_time();
  int k;
  for (k = 0; k < n; k++) {
    const struct Candidate pivot = FindPivot(part, k);
    if (pivot.magnitude == 0.0) break; /* Singular; all processes see it. */
    if (bsp_pid() == 0) swapped[k] = pivot.row;
    SwapAndBroadcast(part, k, &pivot);
    Update(part, k);
  }
  stages_done = k;
  seconds = bsp_time() - start;
}

static void Spmd(void) {
  bsp_begin(maxprocs); /* The value on process 0 counts. */
  BroadcastFromZero(&n, sizeof n);
  struct Part part = MakePart();
  const int is_zero = bsp_pid() == 0;
  const size_t total = is_zero ? (size_t)n * n : 0;
  double *staging = Allocate(total, sizeof *staging);
  if (is_zero) Stage(staging, part.M, part.N, 0);
  bsp_push_reg(staging, (int)(total * sizeof *staging));
  bsp_sync();

  int offset = 0; /* Of this process's part in the staging area. */
  for (int pid = 0; pid < bsp_pid(); pid++)
    offset += CyclicSize(n, part.M, pid / part.N) * CyclicSize(n, part.N, pid % part.N);
  const int nbytes = part.nrows * part.ncolumns * (int)sizeof(double);
  bsp_hpget(0, staging, offset * (int)sizeof(double), part.a, nbytes);
  bsp_sync();
  Decompose(&part);
  bsp_hpput(0, part.a, staging, offset * (int)sizeof(double), nbytes);
  bsp_sync();

  if (is_zero) Stage(staging, part.M, part.N, 1);
  grid_rows = part.M;
  grid_columns = part.N;
  free(staging);
  FreePart(&part);
  bsp_end();
}

/* Uniform in [-1, 1), the same for every p: process 0 makes it. */
static double *RandomMatrix(int order) {
  unsigned long long state = 88172645463325252ULL; /* xorshift64 (Marsaglia, 2003). */
  double *a = Allocate((size_t)order * order, sizeof *a);
  for (size_t i = 0; i < (size_t)order * order; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    a[i] = (double)(state >> 11) / 4503599627370496.0 - 1.0; /* 53 bits / 2^52 */
  }
  return a;
}

int main(int argc, char **argv) {
  static const struct option kOptions[] = {{"random", required_argument, NULL, 'r'},
                                           {"verify", no_argument, NULL, 'v'},
                                           {"help", no_argument, NULL, 'h'},
                                           {NULL, 0, NULL, 0}};
  int verify = 0, option;
  bsp_init(Spmd, argc, argv); /* Only process 0 comes back from here. */
  while ((option = getopt_long(argc, argv, "h", kOptions, NULL)) != -1) {
    if (option == 'r')
      n = IntegerOption("--random", optarg, 1, 10000);
    else if (option == 'v')
      verify = 1;
    else
      ExitWithUsage(option, kUsage);
  }
  if (optind + (n == 0) != argc) errx(kExitUsage, "expected a FILE or --random=N; see --help");
  matrix = n == 0 ? ReadMatrixMarket(argv[optind], &n) : RandomMatrix(n);
  double *original = Allocate((size_t)n * n, sizeof *original);
  memcpy(original, matrix, (size_t)n * n * sizeof *original);
  swapped = Allocate(n, sizeof *swapped);
  maxprocs = n; /* So that no process is without a row or a column. */

  Spmd();

  if (stages_done < n)
    errx(kExitFailed, "the matrix is singular: no pivot in column %d", stages_done + 1);
  int exchanges = 0;
  double log10_determinant = 0.0;
  for (int k = 0; k < n; k++) {
    exchanges += swapped[k] != k;
    log10_determinant += log10(fabs(matrix[(size_t)k * n + k]));
  }
  printf("n = %d on %d x %d processes: %d row exchanges, log10 |det A| = %.6f, %.3f s\n", n,
         grid_rows, grid_columns, exchanges, log10_determinant, seconds);
  if (verify) VerifyLu(original, matrix, swapped, n);
  return 0;
}
