/* apart TOGETHER END: the processes, four or more, split into halves, which take supersteps of
 * their own until there is a file TOGETHER; then all take supersteps together until END exists. */
#include <pub.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Pid 0 of the object looks, so that all of them find the same. */
static void take_supersteps_until(pbsp bsp, const char *file) {
  int found = 0;
  while (!found) {
    const struct timespec pause = {0, 20 * 1000000L};
    nanosleep(&pause, NULL); /* tidy: between looks at a file */
    if (bsp_pid(bsp) == 0) {
      found = access(file, F_OK) == 0;
      bsp_gsend(bsp, 0, bsp_nprocs(bsp) - 1, &found, sizeof found);
    }
    bsp_sync(bsp);
    found = *(const int *)bspmsg_data(bsp_getmsg(bsp, 0));
  }
}

int main(int argc, char **argv) {
  t_bsp all, half;
  bsplib_saveargs(&argc, &argv);
  bsplib_init(BSPLIB_STDPARAMS, &all);
  if (argc != 3) {
    fprintf(stderr, "usage: apart TOGETHER END\n");
    exit(2);
  }
  int part[2] = {bsp_nprocs(&all) / 2, bsp_nprocs(&all)};
  bsp_partition(&all, &half, 2, part);
  take_supersteps_until(&half, argv[1]);
  bsp_done(&half);
  take_supersteps_until(&all, argv[2]);
  bsplib_done();
  return 0;
}
