/* environment NAME...: a BSP program that prints the values of these variables on a line. */
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  for (int i = 1; i < argc; ++i) {
    const char *value = getenv(argv[i]);
    printf("%s%s", value == NULL ? "none" : value, i + 1 < argc ? " " : "\n");
  }
  bsp_end();
  return 0;
}
