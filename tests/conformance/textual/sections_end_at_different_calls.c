/* Source: BSP_CHECK=textual, statement 4
 * Claim: In a program with several SPMD sections the ends of each one's supersteps are compared
 *   among its processes.
 * Procs: 2 4 7
 * Cases: alike different
 * Env: BSP_CHECK=textual
 * Exit if case == 'different': 6
 * Stderr if case == 'different': ^bspnow: bsp_sync on pid \d+, superstep \d+: pid 0 ended the
 *   superstep at (\S*\.c:33|\S*\+0x\w+), and pid {p - 1} at (\S*\.c:29|\S*\+0x\w+); .+
 */
#define BSP_MULTICORE
#include <bsp.h>
#include <string.h>

/* So that no compiler makes one call of two. */
#define APART(n) __asm__ volatile("# " #n)

static int sections, differ;

static void Section(void) {
  bsp_begin(bsp_nprocs());
  bsp_sync();
  if (++sections == 1) {
    APART(before_1);
    bsp_sync();
    APART(after_1);
  } else if (differ && bsp_pid() == bsp_nprocs() - 1) {
    APART(before_2);
    bsp_sync();
    APART(after_2);
  } else {
    APART(before_3);
    bsp_sync();
    APART(after_3);
  }
  bsp_end();
}

int main(int argc, char **argv) {
  differ = argc > 1 && strcmp(argv[1], "different") == 0;
  bsp_init(Section, argc, argv);
  Section();
  Section();
  puts("ok");
  return 0;
}
