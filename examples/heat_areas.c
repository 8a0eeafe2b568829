/* heat_areas.c: how heat spreads along a rod, by a program that names what a checkpoint must hold.
 *
 *   bspcc -O2 heat_areas.c -o heat_areas
 *   bsp submit -n 4 --checkpoint=every=1000 ./heat_areas --steps=1000000 --verify
 *
 * A program need not do anything to survive the loss of a process or a machine: a cluster saves its
 * processes as they are. This one registers two areas instead, the step that comes next and its
 * part of the rod, and a checkpoint holds nothing else. After a loss it starts from main and finds
 * them as they were at the end of some bsp_sync; so at each bsp_sync the two must fit together.
 *
 * One end of the rod is kept hot, the other one cold; in every step each inner point takes the mean
 * of its neighbours. A step is one superstep. With n points it costs 2 n / p + 2 * 8 g + l.
 */
#include <bsp.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "distribution.h"
#include "options.h"

static const char kUsage[] =
    "usage: heat_areas [OPTION...]\n"
    "The temperature of a rod with a hot and a cold end, saved by its own account.\n"
    "  --points=N  points of the rod, 3 to 10000000; default 1000\n"
    "  --steps=K   steps, 0 to 1000000000; default 1000\n"
    "  --verify    compare with a sequential computation, bit by bit\n";

static const double kHot = 100.0;

static struct Parameters {
  int npoints; /* The two ends included. */
  int steps;
} rod = {1000, 1000};

/* What process 0 gives to the SPMD part, and gets from it. */
static int maxprocs = INT_MAX;
static double *temperature; /* Process 0: of the whole rod. */

/* `now` and `next` hold `count` points between the two of the neighbours. */
static void ComputeStep(double *now, double *next, int count) {
  for (int i = 1; i <= count; i++) next[i] = 0.5 * (now[i - 1] + now[i + 1]);
  memcpy(now + 1, next + 1, count * sizeof *now);
}

static void Spmd(void) {
  bsp_begin(maxprocs); /* The value on process 0 counts. */
  BroadcastFromZero(&rod, sizeof rod);
  const int p = bsp_nprocs(), s = bsp_pid();
  const int count = BlockSize(rod.npoints - 2, p, s);
  double *now = Allocate(count + 2, sizeof *now);
  double *next = Allocate(count + 2, sizeof *next);
  int step = 0;
  if (s == 0) now[0] = kHot;

  bsp_checkpoint_register(&step, sizeof step);
  bsp_checkpoint_register(now, (count + 2) * sizeof *now);
  if (bsp_checkpoint_resume() > 0 && s == 0) fprintf(stderr, "goes on with step %d\n", step);

  /* Registrations for puts are not part of a checkpoint. */
  if (s != 0) temperature = Allocate(1, sizeof *temperature); /* An address, for the slot. */
  bsp_push_reg(temperature, s == 0 ? rod.npoints * sizeof *now : 0);
  bsp_push_reg(now, (count + 2) * sizeof *now);
  bsp_sync();

  while (step < rod.steps) {
    ComputeStep(now, next, count);
    if (s > 0) {
      const int left = BlockSize(rod.npoints - 2, p, s - 1);
      bsp_put(s - 1, &now[1], now, (left + 1) * sizeof *now, sizeof *now);
    }
    if (s < p - 1) bsp_put(s + 1, &now[count], now, 0, sizeof *now);
    step++; /* Before the barrier, at whose end it may be saved. */
    bsp_sync();
  }

  const int first = BlockBegin(rod.npoints - 2, p, s) + 1;
  bsp_put(0, now + 1, temperature, first * sizeof *now, count * sizeof *now);
  bsp_sync();
  free(now);
  free(next);
  bsp_end();
}

/* Computes all steps again, on one process. */
static int Verify(void) {
  double *now = Allocate(rod.npoints, sizeof *now);
  double *next = Allocate(rod.npoints, sizeof *next);
  now[0] = kHot;
  for (int step = 0; step < rod.steps; step++) ComputeStep(now, next, rod.npoints - 2);
  for (int i = 0; i < rod.npoints; i++)
    if (memcmp(&temperature[i], &now[i], sizeof *now) != 0)
      errx(kExitFailed, "verification failed: point %d is %.17g, sequentially %.17g", i,
           temperature[i], now[i]);
  printf("verified: all %d points have the bits of a sequential computation\n", rod.npoints);
  free(now);
  free(next);
  return 0;
}

int main(int argc, char **argv) {
  static const struct option kOptions[] = {{"points", required_argument, NULL, 'n'},
                                           {"steps", required_argument, NULL, 'k'},
                                           {"verify", no_argument, NULL, 'v'},
                                           {"help", no_argument, NULL, 'h'},
                                           {NULL, 0, NULL, 0}};
  int verify = 0, option;
  bsp_init(Spmd, argc, argv); /* Only process 0 comes back from here. */
  while ((option = getopt_long(argc, argv, "h", kOptions, NULL)) != -1) {
    switch (option) {
      case 'n':
        rod.npoints = IntegerOption("--points", optarg, 3, 10000000);
        break;
      case 'k':
        rod.steps = IntegerOption("--steps", optarg, 0, 1000000000);
        break;
      case 'v':
        verify = 1;
        break;
      default:
        ExitWithUsage(option, kUsage);
    }
  }
  if (optind != argc) errx(kExitUsage, "unexpected argument '%s'; see --help", argv[optind]);
  temperature = Allocate(rod.npoints, sizeof *temperature);
  temperature[0] = kHot;
  maxprocs = rod.npoints - 2; /* So that every process has a point. */

  Spmd();

  double sum = 0.0;
  for (int i = 0; i < rod.npoints; i++) sum += temperature[i];
  printf("%d points, %d steps: mean temperature %.6f\n", rod.npoints, rod.steps, sum / rod.npoints);
  return verify ? Verify() : 0;
}
