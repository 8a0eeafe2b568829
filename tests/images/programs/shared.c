// Appends a line in each superstep to the file that it is given, to which others append, too.
#include <bsp.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  if (argc != 2) bsp_abort("usage: shared FILE");
  const int file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0666);
  for (int step = 0; step < 4; ++step) {
    dprintf(file, "step %d\n", step);
    bsp_sync();
  }
  close(file);
  bsp_end();
  return 0;
}
