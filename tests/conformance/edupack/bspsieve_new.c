/* Source: BSPedupack, programs, statement 2
 * Claim: A sieve in the new form of BSPedupack: blocks of numbers, the small primes by bsp_put to
 *   all, the counts of all summed on process 0.
 * Stdin: {p}
 * Stdin: 20000
 * Stdout: How many processors do you want to use?
 * Stdout: Please enter n
 * Stdout: 2262 primes up to 20000
 */
#include "edupack/new_form.h"

/* The primes below `end`, in `primes`; their number. */
long sieve(long end, long *primes) {
  bool *crossed = (bool *)calloc(end + 1, sizeof(bool));
  if (crossed == NULL) bsp_abort("sieve: not enough memory\n");
  long nprimes = 0;
  for (long i = 2; i < end; i++) {
    if (crossed[i]) continue;
    primes[nprimes++] = i;
    for (long j = i * i; j < end; j += i) crossed[j] = true;
  }
  free(crossed);
  return nprimes;
}

/* The primes in [first, last), none of which is among the small ones. */
long count(long first, long last, long nsmall, const long *small) {
  bool *crossed = (bool *)calloc(last - first + 1, sizeof(bool));
  if (crossed == NULL) bsp_abort("count: not enough memory\n");
  for (long k = 0; k < nsmall; k++) {
    long multiple = (first + small[k] - 1) / small[k] * small[k];
    for (long j = multiple; j < last; j += small[k]) crossed[j - first] = true;
  }
  long result = 0;
  for (long i = 0; i < last - first; i++) result += !crossed[i];
  free(crossed);
  return result;
}

void bspsieve(void) {
  bsp_begin(P);
  long p = bsp_nprocs(), s = bsp_pid(), n = 0, root = 2, nsmall = 0;
  bsp_push_reg(&n, sizeof(long));
  bsp_push_reg(&nsmall, sizeof(long));
  bsp_sync();
  if (s == 0) {
    printf("Please enter n\n");
    fflush(stdout);
    if (scanf("%ld", &n) != 1 || n < 4) bsp_abort("Error in input: n is no number above 3\n");
    for (long t = 0; t < p; t++) bsp_put(t, &n, &n, 0, sizeof(long));
  }
  bsp_sync();
  while (root * root <= n) root++; /* What is not prime has a divisor below it. */
  long *small = vecalloci(root), *counts = vecalloci(p);
  bsp_push_reg(small, root * sizeof(long));
  bsp_push_reg(counts, p * sizeof(long));
  bsp_sync();
  if (s == 0) {
    nsmall = sieve(root, small);
    for (long t = 1; t < p; t++) {
      bsp_put(t, &nsmall, &nsmall, 0, sizeof(long));
      bsp_put(t, small, small, 0, nsmall * sizeof(long));
    }
  }
  bsp_sync();
  long b = (n - root + p) / p, first = root + s * b, last = first + b < n + 1 ? first + b : n + 1;
  long mine = first < last ? count(first, last, nsmall, small) : 0;
  bsp_put(0, &mine, counts, s * sizeof(long), sizeof(long));
  bsp_sync();
  for (long t = 0; s == 0 && t < p; t++) nsmall += counts[t];
  if (s == 0) printf("%ld primes up to %ld\n", nsmall, n);
  bsp_pop_reg(counts);
  bsp_pop_reg(small);
  bsp_pop_reg(&nsmall);
  bsp_pop_reg(&n);
  vecfreei(counts);
  vecfreei(small);
  bsp_end();
}

int main(int argc, char **argv) {
  bsp_init(bspsieve, argc, argv);
  read_number_of_processes();
  bspsieve();
  exit(EXIT_SUCCESS);
}
