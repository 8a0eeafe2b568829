// countdown SUPERSTEPS PAUSE_MS [areas|pipe|close] [fewer|FILE]: each superstep every process adds
// what its neighbours sent to a sum on its heap, and prints it; the line is begun before the
// bsp_sync and ended behind it. Pid 0 writes to a file as well, and to another one, by an absolute
// path that it has noted at its start and opens anew each time. With `areas` each saves its state
// itself; with `pipe` pid 1 has something that cannot be saved; with `close` it closes all
// descriptors above 2 and has sockets there; with `fewer` the last process takes no part; once FILE
// is there, processes kill themselves.
#include <bsp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SUMS (1 << 16)

int main(int argc, char **argv) {
  long supersteps, s = 0;
  int with_areas, left, right, ends[2];
  unsigned long *sum, *inbox;
  FILE *file = NULL, *again;
  char *noted = NULL;

  bsp_begin(bsp_nprocs() - (strcmp(argv[argc - 1], "fewer") == 0));
  supersteps = atol(argv[1]);
  with_areas = argc > 3 && strcmp(argv[3], "areas") == 0;
  setvbuf(stdout, NULL, _IONBF, 0);
  sum = calloc(SUMS, sizeof *sum);
  inbox = calloc(2, sizeof *inbox);
  sum[0] = (unsigned long)bsp_pid() + 1;
  printf("the program begins\n");
  if (with_areas) {
    bsp_checkpoint_register(&s, sizeof s);
    bsp_checkpoint_register(sum, SUMS * sizeof *sum);
    bsp_checkpoint_register(inbox, 2 * sizeof *inbox);
    bsp_checkpoint_resume();
  } else if (bsp_pid() == 0) {
    file = fopen("out.txt", "w");
    again = fopen("noted.txt", "w");
    if (again == NULL || fclose(again) != 0) return 1;
    noted = realpath("noted.txt", NULL);
  }
  if (argc > 3 && strcmp(argv[3], "pipe") == 0 && bsp_pid() == 1 && pipe(ends) != 0) return 1;
  if (argc > 3 && strcmp(argv[3], "close") == 0 && bsp_pid() == 1) {
    closefrom(3);
    for (left = 0; left < 8; ++left) socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends);
  }
  bsp_push_reg(inbox, 2 * sizeof *inbox);
  bsp_sync();
  left = (bsp_pid() + bsp_nprocs() - 1) % bsp_nprocs();
  right = (bsp_pid() + 1) % bsp_nprocs();
  for (;;) {
    if (s > 0) {
      sum[0] = sum[0] * 31 + inbox[0] * 7 + inbox[1];
      sum[s % SUMS] ^= sum[0];
      printf("pid %d has %lx\n", bsp_pid(), sum[0]);
      if (file != NULL) fprintf(file, "%ld %lx\n", s, sum[0]);
      if (noted != NULL) {
        again = fopen(noted, "a");
        if (again == NULL || fprintf(again, "%ld\n", s) < 0 || fclose(again) != 0) return 1;
      }
    }
    if (s == supersteps) break;
    if (argc > 4 && access(argv[4], F_OK) == 0) raise(SIGKILL);
    poll(NULL, 0, atoi(argv[2]));
    bsp_put(left, sum, inbox, 0, sizeof *inbox);
    bsp_put(right, sum, inbox, sizeof *inbox, sizeof *inbox);
    s += 1;
    printf("superstep %ld: ", s);
    bsp_sync();
  }
  if (file != NULL) fclose(file);
  bsp_end();
  return 0;
}
