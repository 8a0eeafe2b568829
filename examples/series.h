/* series.h: a series of 2^k numbers, from a file or made up. */
#ifndef EXAMPLES_SERIES_H_
#define EXAMPLES_SERIES_H_

#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum { kLog2Max = 26 }; /* 2^26 complex numbers are 1 GiB; BSPlib counts bytes in an int. */

static const double kTau = 6.283185307179586477; /* 2 pi */

/* The numbers, between white space, in the file `path` (- is standard input), filled up with zeros
 * to 2^*log2_n. The caller frees them. Leaves the program with status 1 if anything is wrong. */
static inline double *ReadSeries(const char *path, int *log2_n) {
  FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
  if (file == NULL) err(kExitFailed, "%s", path);
  double *numbers = NULL, number;
  int count = 0, room = 0;
  while (fscanf(file, "%lf", &number) == 1) {
    if (count == room) {
      if (room == 1 << kLog2Max) errx(kExitFailed, "%s: more than 2^%d numbers", path, kLog2Max);
      room = room == 0 ? 1 : 2 * room;
      numbers = (double *)realloc(numbers, room * sizeof *numbers);
      if (numbers == NULL) err(kExitFailed, "%s", path);
    }
    numbers[count++] = number;
  }
  if (ferror(file)) err(kExitFailed, "%s", path);
  if (!feof(file)) errx(kExitFailed, "%s: not a number after %d numbers", path, count);
  if (count == 0) errx(kExitFailed, "%s: no numbers in it", path);
  if (file != stdin) fclose(file);
  while (count < room) numbers[count++] = 0.0;
  for (*log2_n = 0; 1 << *log2_n < room; ++*log2_n) continue;
  return numbers;
}

/* 2^log2_n hourly water levels, in metres, of a tide: its five largest constituents, which follow
 * moon and sun. */
static inline double *Tide(int log2_n) {
  static const double kHours[] = {12.4206, 12.0, 12.6583, 23.9345, 25.8193}; /* M2 S2 N2 K1 O1 */
  static const double kMetres[] = {1.2, 0.4, 0.25, 0.15, 0.1};
  double *levels = (double *)calloc((size_t)1 << log2_n, sizeof *levels);
  if (levels == NULL) err(kExitFailed, "2^%d numbers", log2_n);
  for (int hour = 0; hour < 1 << log2_n; hour++)
    for (int i = 0; i < 5; i++) levels[hour] += kMetres[i] * cos(kTau * hour / kHours[i] + i);
  return levels;
}

#endif /* EXAMPLES_SERIES_H_ */
