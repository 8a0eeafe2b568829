/* Source: bspnow, errors, statement 5
 * Claim: An error names the file and the line of the call; of a program without debug information
 *   the address, also where the call is in a static function, of which the file is known.
 * Cases: first second
 * Exit: 6
 * Stderr if case == 'first': .*nbytes is -1.*, at (\S*\.c:21|\S*\+0x[0-9a-f]+)
 * Stderr if case == 'second': .*nbytes is -2.*, at (\S*\.c:25|\S*\+0x[0-9a-f]+)
 */
#include <string.h>

#include "bsp.h"

/* So that no compiler makes one call of two. */
#define APART(n) __asm__ volatile("# " #n)

static int x;

__attribute__((noinline)) static void Put(const char *call) {
  if (strcmp(call, "first") == 0) {
    APART(before_1);
    bsp_put(0, &x, &x, 0, -1);
    APART(after_1);
  } else {
    APART(before_2);
    bsp_put(0, &x, &x, 0, -2);
    APART(after_2);
  }
  puts("no error");
}

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  bsp_push_reg(&x, sizeof(x));
  bsp_sync();
  Put(argc > 1 ? argv[1] : "");
  bsp_end();
  return 0;
}
