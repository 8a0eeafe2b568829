/* bench_nothing: the shortest BSP program, for the time that starting and ending one takes. */
#include <bsp.h>

int main(void) {
  bsp_begin(bsp_nprocs());
  bsp_end();
  return 0;
}
