/* Source: semantics, output, statement 1
 * Claim: A line that was written to std::cout is shown although nobody flushed it and the job ends
 *   by an error.
 * Exit: 6
 * Stdout: line {pid}
 * Order: any
 * Stderr: ^halt$
 */
#include <iostream>

#include "bsp.h"

int main() {
  bsp_begin(bsp_nprocs());
  std::cout << "line " << bsp_pid() << '\n';
  bsp_sync();
  if (bsp_pid() == bsp_nprocs() - 1) bsp_abort("halt\n");
  bsp_sync();
  bsp_end();
  return 0;
}
