/* Source: BSPlib 1997, signatures, statement 1
 * Source: semantics, dialects, statement 2
 * Claim: Every call has the parameters that the paper gives it.
 */
#include "bsp.h"
#include "expect.h"

static void (*const init)(void (*)(void), int, char **) = bsp_init;
static void (*const begin)(int) = bsp_begin;
static void (*const end)(void) = bsp_end;
static void (*const stop)(const char *, ...) = bsp_abort;
static int (*const nprocs)(void) = bsp_nprocs;
static int (*const pid)(void) = bsp_pid;
static double (*const now)(void) = bsp_time;
static void (*const sync_)(void) = bsp_sync;
static void (*const push_reg)(const void *, int) = bsp_push_reg;
static void (*const pop_reg)(const void *) = bsp_pop_reg;
static void (*const put)(int, const void *, void *, int, int) = bsp_put;
static void (*const hput)(int, const void *, void *, int, int) = bsp_hput;
static void (*const hpput)(int, const void *, void *, int, int) = bsp_hpput;
static void (*const get)(int, const void *, int, void *, int) = bsp_get;
static void (*const hpget)(int, const void *, int, void *, int) = bsp_hpget;
static void (*const set_tagsize)(int *) = bsp_set_tagsize;
static void (*const send_)(int, const void *, const void *, int) = bsp_send;
static void (*const qsize)(int *, int *) = bsp_qsize;
static void (*const get_tag)(int *, void *) = bsp_get_tag;
static void (*const move)(void *, int) = bsp_move;
static int (*const hpmove)(void **, void **) = bsp_hpmove;

int main(void) {
  bsp_pid_t a_pid = 0;
  bsp_nprocs_t count = 1;
  bsp_size_t bytes = -1;
  begin(nprocs());
  EXPECT(pid() >= a_pid && nprocs() >= count && bytes < 0 && now() >= 0.0);
  EXPECT(init && stop && push_reg && pop_reg && put && hput && hpput && get && hpget);
  EXPECT(set_tagsize && send_ && qsize && get_tag && move && hpmove);
  sync_();
  if (pid() == 0) puts("ok");
  end();
  return 0;
}
