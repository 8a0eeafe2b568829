/* fft.c: the discrete Fourier transform of n = 2^k numbers, and the periods that a series holds.
 *
 *   bspcc -O2 fft.c -o fft -lm && bsprun -n 4 ./fft --log2=16 --verify
 *
 * X(k) = sum over j of x(j) w^(j k), w = exp(-2 pi i / n). With n = R C, j = j1 C + j2 and
 * k = k1 + R k2 this is a transform over the columns of the R x C matrix x(j1, j2), a factor
 * w^(j2 k1), and a transform over its rows ("four-step", Gentleman and Sande, 1966):
 *   1  each process transforms its block of columns, length R, and multiplies by the factors;
 *      then puts the transposed matrix: each process gets its block of rows;
 *   2  each transforms its rows, length C.
 * X comes out as rows k1 of columns k2. The inverse is the same from there backwards, so that data
 * need not be put in order in between. R and C are about sqrt(n), and p is at most R. The cost is
 *   5 n log2(n) / p + 16 n / p g + l,
 * one total exchange, whatever p is: it need not be a power of two.
 */
#include <bsp.h>
#include <complex.h>
#include <float.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>

#include "distribution.h"
#include "options.h"
#include "series.h"

typedef double complex Complex;

static const char kUsage[] =
    "usage: fft [--log2=K] [--top=COUNT] [--verify] [FILE]\n"
    "The periods in a series of numbers, by a fast Fourier transform. FILE (- is standard input)\n"
    "holds numbers between white space, and is filled up with zeros to a power of two. Without\n"
    "FILE: the water level, hour by hour, of a tide.\n"
    "  --log2=K     without FILE: 2^K hours, 0 to 26; default 13, about eleven months\n"
    "  --top=COUNT  how many periods to name; default 5\n"
    "  --verify     compare with a sequential transform, and transform back\n";

/* What the sequential part of process 0 gives to the SPMD part, and gets from it. */
static struct Parameters {
  int R, C;         /* n = R C, both powers of two, R <= C. */
  int with_inverse; /* Also transform back? */
} shape;
static int maxprocs = 1 << kLog2Max;
static Complex *series;   /* Process 0: x(j). */
static Complex *spectrum; /* Process 0: X(k1 + R k2) at k1 C + k2. */
static Complex *restored; /* Process 0: x(j1 C + j2) at j2 R + j1, after the inverse transform. */
static double seconds;    /* For the transform alone. */
static int nprocs;

/* A block of the lines of a matrix (its rows, or its columns). */
struct Lines {
  int total;  /* Lines of the matrix, */
  int length; /* and elements of each. */
  int first;  /* The lines first .. first + count - 1 are here. */
  int count;
  Complex *data; /* Registered; line by line. */
};

static struct Lines MakeLines(int total, int length) {
  struct Lines lines = {total, length, BlockBegin(total, bsp_nprocs(), bsp_pid()),
                        BlockSize(total, bsp_nprocs(), bsp_pid()), NULL};
  const size_t size = (size_t)lines.count * length;
  lines.data = Allocate(size, sizeof(Complex));
  bsp_push_reg(lines.data, (int)(size * sizeof(Complex)));
  return lines;
}

/* Turns blocks of lines into blocks of the lines across: element i of line j becomes element j of
 * line i. `packed` holds as much as from->data. One superstep. */
static void Transpose(const struct Lines *from, const struct Lines *to, Complex *packed) {
  const int p = bsp_nprocs();
  for (int i = 0; i < from->length; i++) {
    Complex *piece = packed + (size_t)i * from->count; /* Of the new line i: what is from here. */
    for (int j = 0; j < from->count; j++) piece[j] = from->data[(size_t)j * from->length + i];
    const int owner = BlockOwner(from->length, p, i);
    const int place = (i - BlockBegin(from->length, p, owner)) * from->total + from->first;
    bsp_hpput(owner, piece, to->data, place * (int)sizeof(Complex),
              from->count * (int)sizeof(Complex));
  }
  bsp_sync();
}

/* Sets root[j] = exp(sign 2 pi i j / length) for j < length / 2. */
static void FillRoots(Complex *root, int length, int sign) {
  for (int j = 0; j < length / 2; j++)
    root[j] = cos(kTau * j / length) + sign * I * sin(kTau * j / length);
}

/* Transforms one line in its place: bit reversal, then butterflies (Cooley and Tukey, 1965). */
static void TransformLine(Complex *x, int length, const Complex *root) {
  for (int i = 1, j = 0; i < length; i++) {
    int bit = length >> 1; /* j is i with its bits reversed: add 1 from the left. */
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      const Complex old = x[i];
      x[i] = x[j];
      x[j] = old;
    }
  }
  for (int half = 1; half < length; half *= 2)
    for (int begin = 0; begin < length; begin += 2 * half)
      for (int j = 0; j < half; j++) {
        const Complex odd = root[length / (2 * half) * j] * x[begin + half + j];
        x[begin + half + j] = x[begin + j] - odd;
        x[begin + j] += odd;
      }
}

/* The whole transform, sign = -1, or its inverse times n, sign = 1. `from` is destroyed. */
static void Transform(const struct Lines *from, const struct Lines *to, int sign) {
  const double n = (double)from->total * from->length;
  const int longest = from->length > to->length ? from->length : to->length;
  Complex *root = Allocate(longest / 2, sizeof *root);
  Complex *packed = Allocate((size_t)from->count * from->length, sizeof *packed);

  FillRoots(root, from->length, sign);
  for (int j = 0; j < from->count; j++) {
    Complex *line = from->data + (size_t)j * from->length;
    TransformLine(line, from->length, root);
    for (int i = 0; i < from->length; i++) {
      const double angle = kTau * i * (from->first + j) / n;
      line[i] *= cos(angle) + sign * I * sin(angle);
    }
  }
  Transpose(from, to, packed);
  FillRoots(root, to->length, sign);
  for (int i = 0; i < to->count; i++)
    TransformLine(to->data + (size_t)i * to->length, to->length, root);
  free(packed);
  free(root);
}

/* Puts all lines into `all` on process 0, which has registered room for them. One superstep. */
static void Gather(const struct Lines *lines, Complex *all) {
  bsp_hpput(0, lines->data, all, lines->first * lines->length * (int)sizeof(Complex),
            lines->count * lines->length * (int)sizeof(Complex));
  bsp_sync();
}

static void Spmd(void) {
  bsp_begin(maxprocs); /* The value on process 0 counts. */
  BroadcastFromZero(&shape, sizeof shape);
  struct Lines columns = MakeLines(shape.C, shape.R), rows = MakeLines(shape.R, shape.C);
  /* All rows on process 0: to hand out the series is to transpose that into columns. */
  const struct Lines whole = {shape.R, shape.C, 0, bsp_pid() == 0 ? shape.R : 0, series};
  const size_t n = (size_t)whole.count * shape.C; /* 0 but on process 0. */
  spectrum = Allocate(n, sizeof *spectrum);
  restored = Allocate(n, sizeof *restored);
  bsp_push_reg(spectrum, (int)(n * sizeof *spectrum));
  bsp_push_reg(restored, (int)(n * sizeof *restored));
  bsp_sync();

  Transpose(&whole, &columns, restored); /* Which is not yet needed. */
  const double start = bsp_time();
  Transform(&columns, &rows, -1);
  seconds = bsp_time() - start;
  nprocs = bsp_nprocs();
  Gather(&rows, spectrum);
  if (shape.with_inverse) {
    Transform(&rows, &columns, 1);
    Gather(&columns, restored);
  }
  free(columns.data);
  free(rows.data);
  bsp_end();
}

static Complex SpectrumAt(int k) { return spectrum[(size_t)(k % shape.R) * shape.C + k / shape.R]; }

/* The amplitude of frequency k, 0 < k < n / 2, as seen through Hann's window: the series fades in
 * and out, so that a period that does not divide n does not leak into distant frequencies. On the
 * transform, that window is a mean of neighbours. */
static double Amplitude(int k) {
  const double n = (double)shape.R * shape.C;
  return 2.0 / n * cabs(SpectrumAt(k) - 0.5 * (SpectrumAt(k - 1) + SpectrumAt(k + 1)));
}

/* Names the highest peaks of the spectrum. */
static void PrintPeriods(int top) {
  const int n = shape.R * shape.C;
  double last = INFINITY; /* The amplitude of the peak named last. */
  for (int i = 0; i < top; i++) {
    int best = 0;
    double highest = 0.0, before = 0.0, here = n > 4 ? Amplitude(1) : 0.0;
    for (int k = 1; k < n / 2 - 1; k++) {
      const double after = Amplitude(k + 1);
      if (here > before && here >= after && here < last && here > highest) {
        best = k;
        highest = here;
      }
      before = here;
      here = after;
    }
    if (best == 0) return;
    printf("%4d  period %10.4f  amplitude %8.4f\n", i + 1, (double)n / best, highest);
    last = highest;
  }
}

/* X of the n numbers x(0), x(stride), ...: even ones and odd ones by recursion. */
static void SequentialTransform(const Complex *x, int n, int stride, Complex *X) {
  if (n == 1) {
    X[0] = x[0];
    return;
  }
  SequentialTransform(x, n / 2, 2 * stride, X);
  SequentialTransform(x + stride, n / 2, 2 * stride, X + n / 2);
  for (int k = 0; k < n / 2; k++) {
    const Complex even = X[k], odd = cexp(-I * kTau * k / n) * X[k + n / 2];
    X[k] = even + odd;
    X[k + n / 2] = even - odd;
  }
}

static int Verify(void) {
  const int R = shape.R, C = shape.C, n = R * C;
  Complex *expected = Allocate(n, sizeof *expected);
  SequentialTransform(series, n, 1, expected);
  double norm_signal = 0.0, norm_spectrum = 0.0, off_signal = 0.0, off_spectrum = 0.0;
  for (int i = 0; i < n; i++) {
    norm_spectrum = hypot(norm_spectrum, cabs(expected[i]));
    off_spectrum = hypot(off_spectrum, cabs(SpectrumAt(i) - expected[i]));
    norm_signal = hypot(norm_signal, cabs(series[i]));
    off_signal = hypot(off_signal, cabs(restored[(size_t)(i % C) * R + i / C] / n - series[i]));
  }
  free(expected);
  /* The error of a fast transform grows like eps log n. */
  const double limit = 4.0 * DBL_EPSILON * (1.0 + log2(n));
  if (!(off_spectrum <= limit * norm_spectrum && off_signal <= limit * norm_signal))
    errx(kExitFailed, "verification failed: X is off by %.2g, the inverse by %.2g (L2; limit %.2g)",
         off_spectrum / norm_spectrum, off_signal / norm_signal, limit);
  printf("verified: X as by a sequential transform, and x by the inverse (limit %.2g)\n", limit);
  return 0;
}

/* The shape for 2^log2_n numbers. */
static void SetShape(int log2_n) {
  shape.R = 1 << log2_n / 2;
  shape.C = 1 << (log2_n - log2_n / 2);
}

int main(int argc, char **argv) {
  static const struct option kOptions[] = {{"log2", required_argument, NULL, 'l'},
                                           {"top", required_argument, NULL, 't'},
                                           {"verify", no_argument, NULL, 'v'},
                                           {"help", no_argument, NULL, 'h'},
                                           {NULL, 0, NULL, 0}};
  int log2_n = 13, top = 5, option;
  bsp_init(Spmd, argc, argv); /* Only process 0 comes back from here. */
  while ((option = getopt_long(argc, argv, "h", kOptions, NULL)) != -1) {
    if (option == 'l')
      log2_n = IntegerOption("--log2", optarg, 0, kLog2Max);
    else if (option == 't')
      top = IntegerOption("--top", optarg, 0, 1000);
    else if (option == 'v')
      shape.with_inverse = 1;
    else
      ExitWithUsage(option, kUsage);
  }
  if (optind + 1 < argc) errx(kExitUsage, "expected at most one FILE; see --help");
  double *numbers = optind < argc ? ReadSeries(argv[optind], &log2_n) : Tide(log2_n);
  SetShape(log2_n);
  series = Allocate((size_t)1 << log2_n, sizeof *series);
  for (int j = 0; j < 1 << log2_n; j++) series[j] = numbers[j];
  free(numbers);
  maxprocs = shape.R; /* So that every process has a row and a column. */

  Spmd();

  printf("n = %d x %d = %d: %.3f s (p = %d)\n", shape.R, shape.C, shape.R * shape.C, seconds,
         nprocs);
  PrintPeriods(top);
  return shape.with_inverse ? Verify() : 0;
}
