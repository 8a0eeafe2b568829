/* pgm.h: reads and writes grey pictures, "portable graymap" of 8 bits: P2 (text) and P5 (bytes). */
#ifndef EXAMPLES_PGM_H_
#define EXAMPLES_PGM_H_

#include <ctype.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"

/* The next number in the header or in the text of a P2 file, after white space and comments. */
static inline int NextPgmNumber(FILE *file, const char *path, int low, int high) {
  int c = getc(file), number;
  while (isspace(c) || c == '#') {
    if (c == '#')
      while (c != '\n' && c != EOF) c = getc(file);
    c = getc(file);
  }
  ungetc(c, file);
  if (fscanf(file, "%d", &number) != 1 || number < low || number > high)
    errx(kExitFailed, "%s: expected a number from %d to %d", path, low, high);
  return number;
}

/* The picture in `path`, by rows, as values from 0 (black) to `white`. The caller frees it. Leaves
 * the program with status 1 and a message if anything is wrong. */
static inline double *ReadPgm(const char *path, double white, int *nrows, int *ncolumns) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) err(kExitFailed, "%s", path);
  const int magic = getc(file), kind = getc(file);
  if (magic != 'P' || (kind != '2' && kind != '5'))
    errx(kExitFailed, "%s: not a PGM picture (P2 or P5)", path);
  *ncolumns = NextPgmNumber(file, path, 1, 16384);
  *nrows = NextPgmNumber(file, path, 1, 16384);
  const int maximum = NextPgmNumber(file, path, 1, 255);
  if (kind == '5') getc(file); /* One white space before the bytes. */

  const size_t count = (size_t)*nrows * *ncolumns;
  double *picture = (double *)malloc(count * sizeof *picture);
  if (picture == NULL) err(kExitFailed, "%s", path);
  for (size_t i = 0; i < count; i++) {
    const int grey = kind == '5' ? getc(file) : NextPgmNumber(file, path, 0, maximum);
    if (grey == EOF) errx(kExitFailed, "%s: the file ends early", path);
    picture[i] = grey * white / maximum;
  }
  fclose(file);
  return picture;
}

/* Writes values from 0 to `white`, by rows. Leaves the program with status 1 if that fails. */
static inline void WritePgm(const char *path, const double *picture, double white, int nrows,
                            int ncolumns) {
  FILE *file = fopen(path, "wb");
  if (file == NULL) err(kExitFailed, "%s", path);
  fprintf(file, "P5\n%d %d\n255\n", ncolumns, nrows);
  for (size_t i = 0; i < (size_t)nrows * ncolumns; i++) {
    const double grey = picture[i] * 255.0 / white + 0.5;
    putc(grey < 0.0 ? 0 : grey > 255.0 ? 255 : (int)grey, file);
  }
  const int failed = ferror(file);
  if (fclose(file) != 0 || failed) err(kExitFailed, "%s", path);
}

#endif /* EXAMPLES_PGM_H_ */
