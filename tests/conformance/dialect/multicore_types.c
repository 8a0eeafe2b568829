/* Source: semantics, dialects, statement 1
 * Source: semantics, dialects, statement 2
 * Source: MulticoreBSP, calls, statement 1
 * Claim: With BSP_MULTICORE every call has MulticoreBSP's parameters, sizes of size_t and unsigned
 *   counts; more processes can be asked for than an int holds.
 */
#define BSP_MULTICORE
#include "bsp.h"
#include "expect.h"

static void (*const begin)(unsigned) = bsp_begin;
static unsigned (*const nprocs)(void) = bsp_nprocs;
static unsigned (*const pid)(void) = bsp_pid;
static void (*const push_reg)(const void *, size_t) = bsp_push_reg;
static void (*const pop_reg)(const void *) = bsp_pop_reg;
static void (*const put)(unsigned, const void *, void *, size_t, size_t) = bsp_put;
static void (*const hpput)(unsigned, const void *, void *, size_t, size_t) = bsp_hpput;
static void (*const get)(unsigned, const void *, size_t, void *, size_t) = bsp_get;
static void (*const hpget)(unsigned, const void *, size_t, void *, size_t) = bsp_hpget;
static void (*const direct)(unsigned, const void *, size_t, void *, size_t) = bsp_direct_get;
static void (*const set_tagsize)(size_t *) = bsp_set_tagsize;
static void (*const send_)(unsigned, const void *, const void *, size_t) = bsp_send;
static void (*const hpsend)(unsigned, const void *, const void *, size_t) = bsp_hpsend;
static void (*const qsize)(unsigned *, size_t *) = bsp_qsize;
static void (*const get_tag)(size_t *, void *) = bsp_get_tag;
static void (*const move)(void *, size_t) = bsp_move;
static size_t (*const hpmove)(void **, void **) = bsp_hpmove;
static void (*const vstop)(const char *, va_list) = bsp_vabort;

int main(void) {
  bsp_nprocs_t available = bsp_nprocs();
  begin(4000000000u);
  EXPECT_EQ(nprocs(), available);
  EXPECT(pid() < nprocs() && (bsp_size_t)-1 > 0);
  EXPECT(push_reg && pop_reg && put && hpput && get && hpget && direct && vstop);
  EXPECT(set_tagsize && send_ && hpsend && qsize && get_tag && move && hpmove);
  if (bsp_pid() == 0) puts("ok");
  bsp_end();
  return 0;
}
