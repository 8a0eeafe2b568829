/* Measures the parameters of the machine as BSP counts them, by the protocol of appendix B of
   "Questions and answers about BSP": the flop rate r, the barrier l, and g for one h-relation that
   is sent in ever smaller messages, by a cyclic shift and by a total exchange. pid 0 prints them as
   one JSON object. */
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  kHBytes = 1 << 20,     /* The h-relation that is sent again and again. */
  kMessageBytesMin = 32, /* Four words. */
  kSizesMax = 20,
  kLargest = 5,  /* Sizes of message that count as large. */
  kSamples = 10, /* Of each communication; the median counts. */
  kBarriers = 200,
  kVector = 1024,
  kVectorTimes = 20000
};

static const double kNsPerSecond = 1e9;

struct Curve {
  int sizes;
  double message_bytes[kSizesMax];
  double g_ns[kSizesMax]; /* A byte. */
};

static int Ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double Median(double *values, int n) {
  qsort(values, (size_t)n, sizeof *values, Ascending);
  return values[n / 2];
}

/* The mean over the processes; valid on pid 0. */
static double MeanOfAll(double mine, double *all) {
  double sum = 0;
  bsp_put(0, &mine, all, bsp_pid() * (int)sizeof mine, sizeof mine);
  bsp_sync();
  for (int i = 0; i < bsp_nprocs(); ++i) sum += all[i];
  return sum / bsp_nprocs();
}

/* Flops a second of y += a * x in the cache, while all processes do the same. */
static double FlopRate(void) {
  static double x[kVector], y[kVector];
  double start, seconds;
  volatile double sink;
  for (int i = 0; i < kVector; ++i) x[i] = y[i] = i;
  bsp_sync();
  start = bsp_time();
  for (int time = 0; time < kVectorTimes; ++time) {
    const double a = 1.0 / (time + 1);
    for (int i = 0; i < kVector; ++i) y[i] += a * x[i];
  }
  seconds = bsp_time() - start;
  sink = y[kVector / 2];
  (void)sink;
  return 2.0 * kVector * kVectorTimes / seconds;
}

/* Nanoseconds of an empty superstep, one after the other. */
static double Barrier(void) {
  double samples[kSamples];
  for (int sample = 0; sample < kSamples; ++sample) {
    const double start = bsp_time();
    for (int i = 0; i < kBarriers; ++i) bsp_sync();
    samples[sample] = (bsp_time() - start) / kBarriers * kNsPerSecond;
  }
  return Median(samples, kSamples);
}

/* What this process sends in one superstep, in messages of `bytes`: `pair_bytes` to each of the
   next `peers` processes, which it reaches in latin-square order. */
static void Send(const char *from, char *to, int peers, int pair_bytes, int bytes) {
  const int p = bsp_nprocs(), pid = bsp_pid();
  for (int at = 0; at + bytes <= pair_bytes; at += bytes) {
    for (int peer = 1; peer <= peers; ++peer) {
      bsp_put((pid + peer) % p, from + at, to, (peer - 1) * pair_bytes + at, bytes);
    }
  }
}

/* g for messages of one h-relation, from one message to each peer down to the smallest. */
static struct Curve Measure(const char *from, char *to, int peers, double l_ns) {
  struct Curve curve = {0};
  const int pair_bytes = kHBytes / peers / kMessageBytesMin * kMessageBytesMin;
  for (int bytes = pair_bytes; bytes >= kMessageBytesMin && curve.sizes < kSizesMax; bytes /= 2) {
    double samples[kSamples];
    const double h = (double)(pair_bytes / bytes) * bytes * peers;
    for (int sample = -1; sample < kSamples; ++sample) { /* The first one warms up. */
      const double start = bsp_time();
      Send(from, to, peers, pair_bytes, bytes);
      bsp_sync();
      if (sample >= 0) samples[sample] = (bsp_time() - start) * kNsPerSecond;
    }
    curve.message_bytes[curve.sizes] = bytes;
    curve.g_ns[curve.sizes] = (Median(samples, kSamples) - l_ns) / h;
    if (curve.g_ns[curve.sizes] < 0) curve.g_ns[curve.sizes] = 0;
    curve.sizes += 1;
  }
  return curve;
}

/* g for large messages: the median of the largest. */
static double Asymptote(const struct Curve *curve) {
  double largest[kLargest];
  const int n = curve->sizes < kLargest ? curve->sizes : kLargest;
  for (int i = 0; i < n; ++i) largest[i] = curve->g_ns[i];
  return n > 0 ? Median(largest, n) : 0;
}

/* n1/2 of g(x) = (n1/2 / x + 1) g (equation 1 of the paper), by least squares over the curve. */
static double HalfBytes(const struct Curve *curve) {
  const double g = Asymptote(curve);
  double above = 0, squares = 0;
  for (int i = 0; i < curve->sizes; ++i) {
    const double inverse = 1 / curve->message_bytes[i];
    above += (curve->g_ns[i] - g) * inverse;
    squares += inverse * inverse;
  }
  return g > 0 && squares > 0 ? above / squares / g : 0;
}

static void PrintCurve(const char *name, const struct Curve *curve) {
  printf(", \"%s\": [", name);
  for (int i = 0; i < curve->sizes; ++i) {
    printf("%s[%.0f, %.6g]", i > 0 ? ", " : "", curve->message_bytes[i], curve->g_ns[i]);
  }
  printf("]");
}

int main(void) {
  struct Curve shift = {0}, total = {0};
  double r_flops, l_ns;
  bsp_begin(bsp_nprocs());
  {
    const int p = bsp_nprocs();
    char *from = calloc(kHBytes, 1), *to = calloc(kHBytes, 1);
    double *all = calloc((size_t)p, sizeof *all);
    if (!from || !to || !all) bsp_abort("no memory for the probe");
    bsp_push_reg(to, kHBytes);
    bsp_push_reg(all, p * (int)sizeof *all);
    bsp_sync();
    r_flops = MeanOfAll(FlopRate(), all);
    l_ns = Barrier();
    if (p > 1) {
      shift = Measure(from, to, 1, l_ns);
      total = Measure(from, to, p - 1, l_ns);
    }
    if (bsp_pid() == 0) {
      printf("{\"p\": %d, \"r_flops\": %.6g, \"l_ns\": %.6g, \"g_shift_ns_per_byte\": %.6g, ", p,
             r_flops, l_ns, Asymptote(&shift));
      printf("\"g_total_ns_per_byte\": %.6g, \"half_bytes\": %.6g", Asymptote(&total),
             HalfBytes(&shift));
      PrintCurve("shift", &shift);
      PrintCurve("total", &total);
      printf("}\n");
    }
  }
  bsp_end();
  return 0;
}
