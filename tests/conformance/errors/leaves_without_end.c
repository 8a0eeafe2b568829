/* Source: BSPlib 1997, Starting and finishing, note 8
 * Source: semantics, sync and end, statement 2
 * Source: bspnow, launcher, statement 1
 * Source: bspnow, launcher, statement 2
 * Source: design, section 6, statement 2
 * Claim: A process that leaves without bsp_end, by exit, return or a signal, ends the job with an
 *   error that names it, while the others wait in a barrier; the status is its own where it failed.
 * Cases: exit0 return0 exit3 quick_exit0 kill segv abort
 * Procs: 2 4 7 64
 * Exit if case[-1] == '0': nonzero
 * Exit if case == 'exit3': 3
 * Exit if case == 'kill': 137
 * Exit if case == 'segv': 139
 * Exit if case == 'abort': 134
 * Stderr if case[-1] == '0': ^bsprun: pid {p - 1} \(OS pid [0-9]+ on .+\) left without
 *   bsp_end in superstep 3 \(exit status 0\).*
 * Stderr if case == 'exit3': ^bsprun: pid {p - 1} \(OS pid [0-9]+ on .+\) left without
 *   bsp_end in superstep 3 \(exit status 3\).*
 * Stderr if case == 'kill': ^bsprun: pid {p - 1} \(OS pid [0-9]+ on .+\) was killed by signal
 *   9 \(Killed\) in superstep 3
 * Stderr if case == 'segv': ^bsprun: pid {p - 1} \(OS pid [0-9]+ on .+\) was killed by signal
 *   11 \(Segmentation fault\) in superstep 3
 * Stderr if case == 'abort': ^bsprun: pid {p - 1} \(OS pid [0-9]+ on .+\) was killed by signal
 *   6 \(Aborted\) in superstep 3
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsp.h"

#define CASE(name) (strcmp(which, #name) == 0)

int main(int argc, char **argv) {
  const char *which = argc > 1 ? argv[1] : "";
  bsp_begin(bsp_nprocs());
  bsp_sync();
  bsp_sync();
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) {
    signal(SIGSEGV, SIG_DFL); /* A sanitizer may have its own. */
    signal(SIGABRT, SIG_DFL);
    if (CASE(exit0)) exit(0);
    if (CASE(return0)) return 0;
    if (CASE(exit3)) exit(3);
    if (CASE(quick_exit0)) _exit(0);
    if (CASE(kill)) raise(SIGKILL);
    if (CASE(segv)) raise(SIGSEGV);
    if (CASE(abort)) abort();
  }
  bsp_sync();
  puts("not to be reached");
  bsp_end();
  return 0;
}
