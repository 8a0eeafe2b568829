/* Source: bspnow, errors, statement 2
 * Source: bsp.h, bsp_begin, statement 3
 * Source: BSPlib 1997, Starting and finishing, statement 2
 * Source: BSPlib 1997, Starting and finishing, note 2
 * Claim: Every call that belongs between bsp_begin and bsp_end is an error after bsp_end; so is
 *   bsp_begin itself: parallel tasks cannot be started a second time.
 * Cases: bsp_begin bsp_end bsp_sync bsp_push_reg bsp_pop_reg bsp_put bsp_hpput bsp_get bsp_hpget
 *   bsp_set_tagsize bsp_send bsp_qsize bsp_get_tag bsp_move bsp_hpmove bsp_hput bsp_pushregister
 *   bsp_popregister bsp_set_tag_size bsp_direct_get bsp_hpsend
 * Procs: 1 4
 * Exit: 6
 * Stderr if case != 'bsp_end': ^bspnow: {case} on pid [0-9]+ after bsp_end: .+
 * Stderr if case == 'bsp_end': ^bspnow: bsp_end on pid 0 after bsp_end: there is no bsp_begin that
 *   it would end; call bsp_end once for each bsp_begin.*
 */
#include <string.h>

#include "bsp.h"

#define CALL(name) (strcmp(call, #name) == 0)

static void Spmd(void) {
  bsp_begin(bsp_nprocs());
  bsp_end();
}

int main(int argc, char **argv) {
  const char *call = argc > 1 ? argv[1] : "";
  int x = 0, y = 0;
  void *tag, *payload;
  bsp_init(Spmd, argc, argv); /* So that one process alone makes the mistake. */
  Spmd();
  if (CALL(bsp_begin)) Spmd();
  if (CALL(bsp_end)) bsp_end();
  if (CALL(bsp_sync)) bsp_sync();
  if (CALL(bsp_push_reg)) bsp_push_reg(&x, sizeof(x));
  if (CALL(bsp_pop_reg)) bsp_pop_reg(&x);
  if (CALL(bsp_put)) bsp_put(0, &x, &y, 0, sizeof(x));
  if (CALL(bsp_hpput)) bsp_hpput(0, &x, &y, 0, sizeof(x));
  if (CALL(bsp_get)) bsp_get(0, &x, 0, &y, sizeof(x));
  if (CALL(bsp_hpget)) bsp_hpget(0, &x, 0, &y, sizeof(x));
  if (CALL(bsp_set_tagsize)) bsp_set_tagsize(&x);
  if (CALL(bsp_send)) bsp_send(0, NULL, &x, sizeof(x));
  if (CALL(bsp_qsize)) bsp_qsize(&x, &y);
  if (CALL(bsp_get_tag)) bsp_get_tag(&x, &y);
  if (CALL(bsp_move)) bsp_move(&x, sizeof(x));
  if (CALL(bsp_hpmove)) x = bsp_hpmove(&tag, &payload);
  if (CALL(bsp_hput)) bsp_hput(0, &x, &y, 0, sizeof(x));
  if (CALL(bsp_pushregister)) bsp_pushregister(&x, sizeof(x));
  if (CALL(bsp_popregister)) bsp_popregister(&x);
  if (CALL(bsp_set_tag_size)) bsp_set_tag_size(&x);
  if (CALL(bsp_direct_get)) bsp_direct_get(0, &x, 0, &y, sizeof(x));
  if (CALL(bsp_hpsend)) bsp_hpsend(0, NULL, &x, sizeof(x));
  printf("no error, %d\n", x + y);
  return 0;
}
