/* late_sleep SUPERSTEPS: processes whose processor is taken away between their last look and their
 * sleep. The second one of each half waits at the end of a counted superstep; the first one comes
 * in that moment, goes on, and waits for the second one in a group of the half. Prints "ok". */
#include <errno.h>
#include <linux/futex.h>
#include <pub.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now); /* tidy: of a program, as users have them */
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void compute(double us) {
  for (const double start = now_us(); now_us() - start < us;) continue;
}

static double late_us; /* For a sleep. */

#if defined(__x86_64__) /* Elsewhere nobody sleeps late. */
/* In place of libc's, by which libbsp sleeps and wakes. */
long syscall(long number, ...) {
  long word[6];
  va_list words;
  va_start(words, number);
  for (int i = 0; i < 6; ++i) word[i] = va_arg(words, long);
  va_end(words);
  if (number == SYS_futex && word[1] == FUTEX_WAIT) compute(late_us);
  register long fourth __asm__("r10") = word[3];
  register long fifth __asm__("r8") = word[4];
  register long sixth __asm__("r9") = word[5];
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(word[0]), "S"(word[1]), "d"(word[2]), "r"(fourth), "r"(fifth),
                     "r"(sixth)
                   : "rcx", "r11", "memory");
  if (result >= 0 || result < -4095) return result;
  errno = (int)-result;
  return -1;
}
#endif

int main(int argc, char **argv) {
  bsplib_saveargs(&argc, &argv);
  t_bsp all, half;
  bsplib_init(BSPLIB_STDPARAMS, &all);
  const int p = bsp_nprocs(&all), self = bsp_pid(&all), supersteps = atoi(argv[1]);
  int halves[] = {p / 2, p};
  bsp_partition(&all, &half, 2, halves);
  for (int s = 0; s < 20; ++s) bsp_sync(&all); /* So that lanes are open. */
  late_us = self % (p / 2) == 1 ? 2000 : 0;
  for (int s = 0; s < supersteps; ++s) {
    bsp_sync(&all);
    bsp_sync(&half);
    if (self % (p / 2) == 0) compute(50 * (s % 40));
    bsp_oblsync(&all, 0);
    bsp_sync(&half);
  }
  if (self == 0) puts("ok");
  bsp_done(&half);
  bsplib_done();
  return 0;
}
