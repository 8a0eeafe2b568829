/* turns WHAT [PID]: a program whose order of execution and figures a test knows beforehand. In each
 * of three supersteps every process prints its pid, puts 8 bytes into the next one's memory, sends
 * it a message of 3 bytes with a tag of 4, and gets 16 bytes from it. WHAT is what PID does after
 * that in superstep 2, or
 *   alone   all see to it that no other process computes meanwhile
 *   early   PID leaves before bsp_begin, and all but pids 0 and 1 leave in it
 *   compute nothing else, and all compute for more than 1 ms */
#include <bsp.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *what = "";

static int Does(const char *name) { return strcmp(what, name) == 0; }

static void Compute(void) {
  for (volatile int i = 0; i < 10000000; ++i) continue; /* No processor needs less than 1 ms. */
}

static void ComputeAlone(void) {
  const int lock = open("turns.lock", O_CREAT | O_EXCL, 0600);
  if (lock < 0) bsp_abort("pid %d computes beside another process", bsp_pid());
  close(lock);
  for (int i = 0; i < 1000; ++i) sched_yield(); /* Another one that could run would. */
  unlink("turns.lock");
}

static void Act(void) {
  if (Does("kill")) raise(SIGKILL);
  if (Does("exit")) exit(3);
  if (Does("abort")) bsp_abort("it aborts");
  if (Does("stop")) raise(SIGSTOP);
}

int main(int argc, char **argv) {
  const long actor = argc > 2 ? strtol(argv[2], NULL, 10) : -1;
  long long from[2] = {7, 8}, to = 0, got[2];
  what = argc > 1 ? argv[1] : "";
  if (Does("early") && actor == strtol(getenv("BSP_PID"), NULL, 10)) return 0;
  bsp_begin(Does("early") ? 2 : bsp_nprocs());
  const int self = bsp_pid(), next = (self + 1) % bsp_nprocs();
  int tag_bytes = 4;
  bsp_set_tagsize(&tag_bytes);
  bsp_push_reg(&to, sizeof to);
  bsp_push_reg(from, sizeof from);
  bsp_sync();
  for (int s = 0; s < 3; ++s) {
    printf("%d in %d\n", self, s);
    if (Does("alone")) ComputeAlone();
    if (Does("compute")) Compute();
    bsp_put(next, from, &to, 0, sizeof to);
    bsp_get(next, from, 0, got, sizeof got);
    bsp_send(next, &s, "abc", 3);
    if (s == 2 && actor == self) Act();
    bsp_sync();
    if (to != 7 || got[1] != 8) bsp_abort("pid %d has wrong data", self);
  }
  printf("%d ends\n", self);
  bsp_end();
  printf("%d after\n", self);
  return 0;
}
