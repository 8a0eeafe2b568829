/* matrix_market.h: reads a square real matrix from a file in the Matrix Market exchange format
 * (Boisvert, Pozo, Remington, NIST 1996): `coordinate` or `array`; `real`, `integer` or `pattern`;
 * `general`, `symmetric` or `skew-symmetric`.
 */
#ifndef EXAMPLES_MATRIX_MARKET_H_
#define EXAMPLES_MATRIX_MARKET_H_

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

/* The next line that is neither empty nor a comment; leaves the program if there is none. */
static inline void NextMatrixLine(FILE *file, const char *path, char *line, int nbytes) {
  do {
    if (fgets(line, nbytes, file) == NULL) errx(kExitFailed, "%s: the file ends early", path);
  } while (line[0] == '%' || line[strspn(line, " \t\r\n")] == '\0');
}

/* Sets a(i, j), and by symmetry a(j, i); `sign` is 0 for a general matrix. */
static inline void SetEntry(double *a, int n, int i, int j, double value, int sign) {
  a[(size_t)i * n + j] = value;
  if (sign != 0 && i != j) a[(size_t)j * n + i] = sign * value;
}

/* The header's two lines. Returns n; sets *nentries to the number of lines that follow, *sign as
 * for SetEntry. `field` and `layout` hold 32 bytes. */
static inline int ReadMatrixHeader(FILE *file, const char *path, char *layout, char *field,
                                   int *sign, long *nentries) {
  char line[1024], symmetry[32];
  int nrows, ncols;
  if (fgets(line, sizeof line, file) == NULL ||
      sscanf(line, "%%%%MatrixMarket matrix %31s %31s %31s", layout, field, symmetry) != 3)
    errx(kExitFailed, "%s: not a Matrix Market file", path);
  const int is_array = strcmp(layout, "array") == 0;
  const int is_pattern = strcmp(field, "pattern") == 0;
  *sign = strcmp(symmetry, "symmetric") == 0 ? 1 : strcmp(symmetry, "skew-symmetric") == 0 ? -1 : 0;
  if ((!is_array && strcmp(layout, "coordinate") != 0) || (is_array && is_pattern) ||
      (!is_pattern && strcmp(field, "real") != 0 && strcmp(field, "integer") != 0) ||
      (*sign == 0 && strcmp(symmetry, "general") != 0))
    errx(kExitFailed, "%s: a %s %s %s matrix is not supported", path, layout, field, symmetry);

  NextMatrixLine(file, path, line, sizeof line);
  const int nread = sscanf(line, "%d %d %ld", &nrows, &ncols, nentries);
  if (nread < (is_array ? 2 : 3) || nrows < 1 || nrows != ncols || nrows > 10000)
    errx(kExitFailed, "%s: expected a square matrix of order 1 to 10000: %s", path, line);
  return nrows;
}

/* The matrix in `path`, by rows; its order in *order. The caller frees it. Leaves the program with
 * status 1 and a message if anything is wrong. */
static inline double *ReadMatrixMarket(const char *path, int *order) {
  char layout[32], field[32], line[1024];
  int sign;
  long nentries;
  FILE *file = fopen(path, "r");
  if (file == NULL) err(kExitFailed, "%s", path);
  const int n = ReadMatrixHeader(file, path, layout, field, &sign, &nentries);
  double *a = (double *)calloc((size_t)n * n, sizeof *a);
  if (a == NULL) err(kExitFailed, "%s", path);

  if (strcmp(layout, "array") == 0) { /* By columns; with symmetry, only the lower triangle. */
    for (int j = 0; j < n; j++) {
      for (int i = sign == 0 ? 0 : sign == 1 ? j : j + 1; i < n; i++) {
        double value;
        NextMatrixLine(file, path, line, sizeof line);
        if (sscanf(line, "%lf", &value) != 1) errx(kExitFailed, "%s: no number: %s", path, line);
        SetEntry(a, n, i, j, value, sign);
      }
    }
  } else {
    for (long entry = 0; entry < nentries; entry++) {
      int i, j;
      double value = 1.0; /* Of a pattern. */
      NextMatrixLine(file, path, line, sizeof line);
      const int nread = sscanf(line, "%d %d %lf", &i, &j, &value);
      if (nread < (strcmp(field, "pattern") == 0 ? 2 : 3) || i < 1 || i > n || j < 1 || j > n)
        errx(kExitFailed, "%s: not an entry of a matrix of order %d: %s", path, n, line);
      SetEntry(a, n, i - 1, j - 1, value, sign);
    }
  }
  fclose(file);
  *order = n;
  return a;
}

#endif /* EXAMPLES_MATRIX_MARKET_H_ */
