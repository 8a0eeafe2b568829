/* Source: bspnow, errors, statement 1
 * Claim: After many puts, gets or messages that are alike the next one is checked as the first one
 *   was.
 * Cases: beyond before short pid null get_beyond get_null send_pid send_null end
 * Procs: 2
 * Exit: 6
 * Stderr if case == "beyond": ^bspnow: bsp_put on pid {p - 1}, superstep 1:
 *   .*offset 796 \+ 8 bytes is beyond the 800
 * Stderr if case == "before": ^bspnow: bsp_put on pid {p - 1}, superstep 1:
 *   offset is -8
 * Stderr if case == "short": ^bspnow: bsp_put on pid {p - 1}, superstep 1:
 *   nbytes is -8
 * Stderr if case == "pid": ^bspnow: bsp_put on pid {p - 1}, superstep 1:
 *   pid {p} is outside
 * Stderr if case == "null": ^bspnow: bsp_put on pid {p - 1}, superstep 1:
 *   src is NULL with nbytes = 8
 * Stderr if case == "get_beyond": ^bspnow: bsp_get on pid {p - 1}, superstep 1:
 *   .*offset 800 \+ 8 bytes is beyond
 * Stderr if case == "get_null": ^bspnow: bsp_get on pid {p - 1}, superstep 1:
 *   dst is NULL with nbytes = 8
 * Stderr if case == "send_pid": ^bspnow: bsp_send on pid {p - 1}, superstep 1:
 *   pid -1 is outside
 * Stderr if case == "send_null": ^bspnow: bsp_send on pid {p - 1}, superstep 1:
 *   tag is NULL, and the tag size is 4
 * Stderr if case == "end": ^bspnow: bsp_put on pid {p - 1}
 *   after bsp_end
 */
#include <string.h>

#include "bsp.h"

#define CASE(name) (strcmp(which, #name) == 0)

static double area[100], got[100];

int main(int argc, char **argv) {
  const char *which = argc > 1 ? argv[1] : "";
  int tag_nbytes = sizeof(int);
  bsp_begin(bsp_nprocs());
  bsp_set_tagsize(&tag_nbytes);
  bsp_push_reg(area, sizeof area);
  bsp_sync();
  const int last = bsp_pid() == bsp_nprocs() - 1;
  for (int i = 0; i < 50; ++i) {
    bsp_put(0, &got[i], area, i * 16, 8);
    bsp_get(0, area, i * 16, &got[i], 8);
    bsp_send(0, &i, &got[i], 8);
  }
  if (last) {
    if (CASE(beyond)) bsp_put(0, got, area, 796, 8);
    if (CASE(before)) bsp_put(0, got, area, -8, 8);
    if (CASE(short)) bsp_put(0, got, area, 8, -8);
    if (CASE(pid)) bsp_put(bsp_nprocs(), got, area, 8, 8);
    if (CASE(null)) bsp_put(0, NULL, area, 8, 8);
    if (CASE(get_beyond)) bsp_get(0, area, 800, got, 8);
    if (CASE(get_null)) bsp_get(0, area, 8, NULL, 8);
    if (CASE(send_pid)) bsp_send(-1, &tag_nbytes, got, 8);
    if (CASE(send_null)) bsp_send(0, NULL, got, 8);
  }
  if (CASE(end)) {
    bsp_end();
    if (last) bsp_put(0, got, area, 8, 8);
    return 0;
  }
  bsp_sync();
  puts("no error");
  bsp_end();
  return 0;
}
