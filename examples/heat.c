/* heat.c: how heat spreads over a plate: Jacobi's iteration for the heat equation in the plane.
 *
 *   bspcc -O2 heat.c -o heat && bsprun -n 4 ./heat --steps=2000 --picture=plate.pgm --verify
 *
 * The edge of the plate keeps its temperature; in every step each inner point takes the mean of
 * its four neighbours. The inner rows are distributed in blocks, and a process keeps a copy of the
 * row above its block and of the one below it, the halo. A step is one superstep: a process first
 * computes its outer rows and puts them straight into its neighbours' halo, without a buffer, then
 * computes the others, meanwhile the rows may travel. With R x C points a step costs
 *   4 R C / p + 2 * 8 C g + l.
 * (Squares in place of strips would send 4 * 8 sqrt(R C / p): less from p = 4 on, in four puts, two
 * of them not contiguous.)
 */
#include <bsp.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "distribution.h"
#include "options.h"
#include "pgm.h"

static const char kUsage[] =
    "usage: heat [OPTION...]\n"
    "The temperature of a plate whose edge is kept as it is, by Jacobi's iteration.\n"
    "  --plate=FILE      begin with this PGM picture: black is 0 degrees, white 100\n"
    "  --size=ROWSxCOLS  without a picture: the size of a cold plate with one hot edge, 3x3 to\n"
    "                    16384x16384; default 200x300\n"
    "  --steps=K         steps, 0 to 1000000000; default 1000\n"
    "  --picture=FILE    write the last state as a PGM picture\n"
    "  --verify          compare with a sequential computation, bit by bit\n";

static const double kHot = 100.0;

/* What all processes must know: set on process 0 before bsp_begin, and broadcast. */
static struct Parameters {
  int nrows, ncolumns; /* The edge included. */
  int steps;
} plate = {200, 300, 1000};

/* What the sequential part of process 0 gives to the SPMD part, and gets from it. */
static int maxprocs = INT_MAX;
static double *temperature; /* Process 0: of the plate, by rows. */
static double seconds;
static int nprocs;

/* One row of the next state from three of this one; the edge stays. */
static void StepRow(const double *above, const double *row, const double *below, double *next) {
  next[0] = row[0];
  for (int j = 1; j < plate.ncolumns - 1; j++)
    next[j] = 0.25 * (above[j] + below[j] + row[j - 1] + row[j + 1]);
  next[plate.ncolumns - 1] = row[plate.ncolumns - 1];
}

/* The steps of one process. `now` and `next` are registered and hold the block's rows 1 .. nrows
 * between two halo rows. Returns the one of the two that holds the last state. */
static double *Iterate(double *now, double *next, int nrows) {
  const int p = bsp_nprocs(), s = bsp_pid(), C = plate.ncolumns;
  const int row_nbytes = C * (int)sizeof(double);
  for (int step = 0; step < plate.steps; step++) {
    StepRow(now, now + C, now + 2 * C, next + C);
    if (nrows > 1) {
      const double *last = now + (size_t)nrows * C;
      StepRow(last - C, last, last + C, next + (size_t)nrows * C);
    }
    /* Unbuffered is safe: nobody touches the halo of `next`, nor these rows, before the barrier,
     * and by the time they are written again a further barrier has passed. */
    if (s > 0) {
      const int rows_above = BlockSize(plate.nrows - 2, p, s - 1);
      bsp_hpput(s - 1, next + C, next, (rows_above + 1) * row_nbytes, row_nbytes);
    }
    if (s < p - 1) bsp_hpput(s + 1, next + (size_t)nrows * C, next, 0, row_nbytes);

    for (int i = 2; i < nrows; i++) {
      const double *row = now + (size_t)i * C;
      StepRow(row - C, row, row + C, next + (size_t)i * C);
    }
    bsp_sync();
    double *const old = now;
    now = next;
    next = old;
  }
  return now;
}

static void Spmd(void) {
  bsp_begin(maxprocs); /* The value on process 0 counts. */
  BroadcastFromZero(&plate, sizeof plate);
  const int p = bsp_nprocs(), s = bsp_pid(), C = plate.ncolumns;
  const int row_nbytes = C * (int)sizeof(double);
  const int first = BlockBegin(plate.nrows - 2, p, s); /* Row of the plate that is row 0 here. */
  const int nrows = BlockSize(plate.nrows - 2, p, s);
  double *now = Allocate((size_t)(nrows + 2) * C, sizeof *now);
  double *next = Allocate((size_t)(nrows + 2) * C, sizeof *next);
  if (s != 0) temperature = Allocate(1, sizeof *temperature); /* An address, for the slot. */
  bsp_push_reg(temperature, s == 0 ? plate.nrows * row_nbytes : 0);
  bsp_push_reg(now, (nrows + 2) * row_nbytes);
  bsp_push_reg(next, (nrows + 2) * row_nbytes);
  bsp_sync();

  bsp_hpget(0, temperature, first * row_nbytes, now, (nrows + 2) * row_nbytes);
  bsp_sync();
  /* The plate's upper and lower edge. Nothing else: a neighbour that is ahead may already have put
   * its row of the first step into the halo of `next`. */
  if (s == 0) memcpy(next, now, row_nbytes);
  if (s == p - 1) memcpy(next + (size_t)(nrows + 1) * C, now + (size_t)(nrows + 1) * C, row_nbytes);
  const double start = bsp_time();
  const double *last = Iterate(now, next, nrows);
  seconds = bsp_time() - start;
  nprocs = p;
  bsp_hpput(0, last + C, temperature, (first + 1) * row_nbytes, nrows * row_nbytes);
  bsp_sync();

  free(now);
  free(next);
  bsp_end();
}

/* A cold plate; the left edge is hot. */
static double *ColdPlate(void) {
  double *cold = Allocate((size_t)plate.nrows * plate.ncolumns, sizeof *cold);
  for (int i = 0; i < plate.nrows; i++) cold[(size_t)i * plate.ncolumns] = kHot;
  return cold;
}

/* `begin` is the first state: computes all steps again, on one process, and frees it. */
static int Verify(double *begin) {
  const int R = plate.nrows, C = plate.ncolumns;
  double *next = Allocate((size_t)R * C, sizeof *next);
  memcpy(next, begin, (size_t)R * C * sizeof *next);
  for (int step = 0; step < plate.steps; step++) {
    for (int i = 1; i < R - 1; i++)
      for (int j = 1; j < C - 1; j++) {
        const size_t here = (size_t)i * C + j;
        next[here] = 0.25 * (begin[here - C] + begin[here + C] + begin[here - 1] + begin[here + 1]);
      }
    double *const old = begin;
    begin = next;
    next = old;
  }
  for (size_t here = 0; here < (size_t)R * C; here++)
    if (memcmp(&temperature[here], &begin[here], sizeof(double)) != 0)
      errx(kExitFailed, "verification failed: row %zu, column %zu is %.17g, sequentially %.17g",
           here / C, here % C, temperature[here], begin[here]);
  printf("verified: all %d x %d points have the bits of a sequential computation\n", R, C);
  free(begin);
  free(next);
  return 0;
}

/* Takes ROWSxCOLS apart. */
static void ParseSize(const char *text) {
  char end;
  if (sscanf(text, "%dx%d%c", &plate.nrows, &plate.ncolumns, &end) != 2 || plate.nrows < 3 ||
      plate.nrows > 16384 || plate.ncolumns < 3 || plate.ncolumns > 16384)
    errx(kExitUsage, "--size: '%s' is not ROWSxCOLS from 3x3 to 16384x16384", text);
}

int main(int argc, char **argv) {
  static const struct option kOptions[] = {{"plate", required_argument, NULL, 'p'},
                                           {"size", required_argument, NULL, 's'},
                                           {"steps", required_argument, NULL, 'k'},
                                           {"picture", required_argument, NULL, 'o'},
                                           {"verify", no_argument, NULL, 'v'},
                                           {"help", no_argument, NULL, 'h'},
                                           {NULL, 0, NULL, 0}};
  const char *plate_path = NULL, *picture_path = NULL;
  int verify = 0, option;
  bsp_init(Spmd, argc, argv); /* Only process 0 comes back from here. */
  while ((option = getopt_long(argc, argv, "h", kOptions, NULL)) != -1) {
    switch (option) {
      case 'p':
        plate_path = optarg;
        break;
      case 's':
        ParseSize(optarg);
        break;
      case 'k':
        plate.steps = IntegerOption("--steps", optarg, 0, 1000000000);
        break;
      case 'o':
        picture_path = optarg;
        break;
      case 'v':
        verify = 1;
        break;
      default:
        ExitWithUsage(option, kUsage);
    }
  }
  if (optind != argc) errx(kExitUsage, "unexpected argument '%s'; see --help", argv[optind]);
  temperature =
      plate_path == NULL ? ColdPlate() : ReadPgm(plate_path, kHot, &plate.nrows, &plate.ncolumns);
  if (plate.nrows < 3 || plate.ncolumns < 3)
    errx(kExitFailed, "%s: smaller than 3 x 3", plate_path);
  const size_t nbytes = (size_t)plate.nrows * plate.ncolumns * sizeof(double);
  if (nbytes > INT_MAX) errx(kExitFailed, "a plate of more than 2 GiB");
  double *begin = Allocate(nbytes, 1);
  memcpy(begin, temperature, nbytes);
  maxprocs = plate.nrows - 2; /* So that every process has a row. */

  Spmd();

  double sum = 0.0;
  for (size_t i = 0; i < nbytes / sizeof(double); i++) sum += temperature[i];
  printf("%d x %d points, %d steps: mean temperature %.6f, %.3f s (p = %d)\n", plate.nrows,
         plate.ncolumns, plate.steps, sum / (nbytes / sizeof(double)), seconds, nprocs);
  if (picture_path != NULL) WritePgm(picture_path, temperature, kHot, plate.nrows, plate.ncolumns);
  return verify ? Verify(begin) : 0;
}
