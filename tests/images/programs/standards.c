// What stands at 1 and 2 at a barrier is not what the worker put there: silenced, joined, swapped,
// opened anew. What is written where errors go would fail the test.
#include <bsp.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { kNothing, kOutput, kError, kAgain };

int main(void) {
  static const int kTurns[][2] = {{kNothing, kNothing}, {kOutput, kOutput}, {kError, kOutput},
                                  {kOutput, kNothing},  {kAgain, kError},   {kOutput, kOutput}};
  enum { kCount = sizeof kTurns / sizeof *kTurns };
  bsp_begin(bsp_nprocs());
  const int given[] = {open("/dev/null", O_WRONLY), dup(1), dup(2), open("/dev/stdout", O_WRONLY)};
  for (int turn = 0; turn < kCount; ++turn) {
    for (int at = 1; at <= 2; ++at) dup2(given[kTurns[turn][at - 1]], at);
    if (turn == kCount - 1)  // As a shell does it: nothing else shows which is which.
      for (int i = 0; i < 4; ++i) close(given[i]);
    bsp_sync();
    for (int at = 1; at <= 2; ++at)
      if (kTurns[turn][at - 1] != kError) dprintf(at, "turn %d: by %d\n", turn, at);
  }
  bsp_end();
  return 0;
}
