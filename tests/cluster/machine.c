/* Prints the parameters of the machine as a program knows them, after a collective call, which
   chooses by them. */
#include <bsp.h>
#include <bsp_level1.h>
#include <stdio.h>

int main(void) {
  bsp_begin(bsp_nprocs());
  int processes = bsp_sumI(1);
  if (bsp_pid() == 0)
    printf("%d %.9g %.9g %.9g %d\n", processes, bsp_s(), bsp_g(), bsp_l(), bsp_nhalf());
  bsp_end();
  return 0;
}
