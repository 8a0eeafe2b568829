/* options.h: numbers on the command line, checked. What is wrong with one is said on standard
 * error, and the program left with status 2. For the sequential part of a program: process 0,
 * before bsp_begin.
 */
#ifndef EXAMPLES_OPTIONS_H_
#define EXAMPLES_OPTIONS_H_

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { kExitFailed = 1, kExitUsage = 2 };

/* The whole number in `text`, the value of option `name`; low <= number <= high. */
static inline int IntegerOption(const char *name, const char *text, int low, int high) {
  char *end;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || value < low || value > high)
    errx(kExitUsage, "%s: '%s' is not a whole number from %d to %d", name, text, low, high);
  return (int)value;
}

/* The number in `text`, the value of option `name`; low <= number <= high. */
static inline double RealOption(const char *name, const char *text, double low, double high) {
  char *end;
  const double value = strtod(text, &end);
  if (end == text || *end != '\0' || !(value >= low && value <= high))
    errx(kExitUsage, "%s: '%s' is not a number from %g to %g", name, text, low, high);
  return value;
}

/* Leaves the program with its usage text: on standard output when getopt_long returned 'h' for
 * --help, else (getopt_long has said what was wrong) on standard error, with status 2. */
static inline void ExitWithUsage(int option, const char *usage) {
  fputs(usage, option == 'h' ? stdout : stderr);
  exit(option == 'h' ? EXIT_SUCCESS : kExitUsage);
}

#endif /* EXAMPLES_OPTIONS_H_ */
