/* Source: BSPlib 1997, Simulating dynamic processes, statement 6
 * Source: semantics, nprocs argv stdin, statement 2
 * Claim: Every process gets the arguments of the command line, as they were given.
 * Args: one "two words" "" -n 3 --help
 */
#include <string.h>

#include "bsp.h"
#include "expect.h"

int main(int argc, char **argv) {
  bsp_begin(bsp_nprocs());
  EXPECT_EQ(argc, 7);
  EXPECT(strcmp(argv[1], "one") == 0);
  EXPECT(strcmp(argv[2], "two words") == 0);
  EXPECT(strcmp(argv[3], "") == 0);
  EXPECT(strcmp(argv[4], "-n") == 0);
  EXPECT(strcmp(argv[5], "3") == 0);
  EXPECT(strcmp(argv[6], "--help") == 0);
  EXPECT(argv[7] == NULL);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
