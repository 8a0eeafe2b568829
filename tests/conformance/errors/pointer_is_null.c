/* Source: semantics, messages, statement 3
 * Claim: A NULL pointer where the library has to write, or has to read bytes, is an error that
 *   names the argument.
 * Cases: status tag nmessages tagsize send_tag send_payload move_payload hpmove_tag hpmove_payload
 *   put hpput get hpget
 * Exit: 6
 * Stderr if case == 'status': ^bspnow: bsp_get_tag on pid 0, superstep 2: .*status is NULL.*; .+
 * Stderr if case == 'tag': ^bspnow: bsp_get_tag on pid 0, superstep 2: .*tag is NULL.*; .+
 * Stderr if case == 'nmessages': ^bspnow: bsp_qsize on pid 0, superstep 2:
 *   .*nmessages is NULL.*; .+
 * Stderr if case == 'tagsize': ^bspnow: bsp_set_tagsize on pid 0, superstep 2:
 *   .*tag_nbytes is NULL.*; .+
 * Stderr if case == 'send_tag': ^bspnow: bsp_send on pid 0, superstep 2: .*tag is NULL.*; .+
 * Stderr if case == 'send_payload': ^bspnow: bsp_send on pid 0, superstep 2:
 *   .*payload is NULL.*; .+
 * Stderr if case == 'move_payload': ^bspnow: bsp_move on pid 0, superstep 2:
 *   .*payload is NULL.*; .+
 * Stderr if case == 'hpmove_tag': ^bspnow: bsp_hpmove on pid 0, superstep 2:
 *   .*tag_ptr is NULL.*; .+
 * Stderr if case == 'hpmove_payload': ^bspnow: bsp_hpmove on pid 0, superstep 2:
 *   .*payload_ptr is NULL.*; .+
 * Stderr if case[-3:] == 'put': ^bspnow: bsp_{case} on pid 0, superstep 2: .*src is NULL.*; .+
 * Stderr if case[-3:] == 'get': ^bspnow: bsp_{case} on pid 0, superstep 2: .*dst is NULL.*; .+
 */
#include <string.h>

#include "bsp.h"

#define CASE(name) (strcmp(which, #name) == 0)

int main(int argc, char **argv) {
  const char *which = argc > 1 ? argv[1] : "";
  int x = 1, size = sizeof(int), last;
  void *pointer;
  bsp_begin(bsp_nprocs());
  last = bsp_nprocs() - 1;
  bsp_push_reg(&x, sizeof(x));
  bsp_set_tagsize(&size);
  bsp_sync();
  bsp_send(bsp_pid(), &x, &x, sizeof(x));
  bsp_sync();
  if (bsp_pid() == 0) {
    if (CASE(status)) bsp_get_tag(NULL, &x);
    if (CASE(tag)) bsp_get_tag(&x, NULL);
    if (CASE(nmessages)) bsp_qsize(NULL, &x);
    if (CASE(tagsize)) bsp_set_tagsize(NULL);
    if (CASE(send_tag)) bsp_send(0, NULL, &x, sizeof(x));
    if (CASE(send_payload)) bsp_send(0, &x, NULL, sizeof(x));
    if (CASE(move_payload)) bsp_move(NULL, sizeof(x));
    if (CASE(hpmove_tag)) bsp_hpmove(NULL, &pointer);
    if (CASE(hpmove_payload)) bsp_hpmove(&pointer, NULL);
    if (CASE(put)) bsp_put(last, NULL, &x, 0, sizeof(x));
    if (CASE(hpput)) bsp_hpput(last, NULL, &x, 0, sizeof(x));
    if (CASE(get)) bsp_get(last, &x, 0, NULL, sizeof(x));
    if (CASE(hpget)) bsp_hpget(last, &x, 0, NULL, sizeof(x));
    puts("no error");
  }
  bsp_sync();
  bsp_end();
  return 0;
}
