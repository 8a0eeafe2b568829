/* Source: semantics, sync and end, statement 3
 * Claim: A child that the program makes by fork is no BSP process: a call in it is an error, which
 *   ends the child alone.
 * Cases: begin put send get push_reg sync end
 * Procs: 1 4
 * Stderr: ^bspnow: bsp_{case} in a child that pid [0-9]+ made by fork, which is no BSP process:
 *   call it in the process that the job has started.*
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bsp.h"
#include "expect.h"

static void Call(const char* name, int* area) {
  int value = 1;
  if (strcmp(name, "put") == 0) bsp_put(0, &value, area, 0, sizeof value);
  if (strcmp(name, "send") == 0) bsp_send(0, NULL, &value, sizeof value);
  if (strcmp(name, "get") == 0) bsp_get(0, area, 0, &value, sizeof value);
  if (strcmp(name, "push_reg") == 0) bsp_push_reg(&value, sizeof value);
  if (strcmp(name, "sync") == 0) bsp_sync();
  if (strcmp(name, "end") == 0) bsp_end();
}

static int StatusOfChild(const char* name, int* area) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    if (strcmp(name, "begin") == 0) bsp_begin(1);
    if (bsp_pid() >= bsp_nprocs()) _exit(2); /* Both may be asked. */
    Call(name, area);
    _exit(1); /* It came through. */
  }
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char** argv) {
  int area = 7;
  const int nprocs = bsp_nprocs(); /* From here on it is in the job. */
  EXPECT_EQ(argc, 2);
  if (strcmp(argv[1], "begin") == 0) EXPECT_EQ(StatusOfChild("begin", &area), 6);
  bsp_begin(nprocs);
  bsp_push_reg(&area, sizeof area);
  bsp_sync();
  if (strcmp(argv[1], "begin") != 0) EXPECT_EQ(StatusOfChild(argv[1], &area), 6);
  bsp_sync();
  EXPECT_EQ(area, 7);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
