/* Each process puts its pid to the right; prints p lines in all. Also valid C++. */
#include <bsp.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int left = -1;
  int pid, p, right;

  bsp_begin(bsp_nprocs());
  pid = (int)bsp_pid();
  p = (int)bsp_nprocs();
  right = (pid + 1) % p;
  bsp_push_reg(&left, sizeof(left));
  bsp_sync();
  bsp_put(right, &pid, &left, 0, sizeof(pid));
  bsp_sync();
  printf("%d of %d, left %d%s%s\n", pid, p, left, argc > 1 ? ", " : "", argc > 1 ? argv[1] : "");
  bsp_end();
  return 0;
}
