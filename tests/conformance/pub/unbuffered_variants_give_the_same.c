/* Source: PUB 2003, section 5, statement 1
 * Source: PUB 2003, section 5, statement 2
 * Claim: All calls that move data have buffered and unbuffered variants, and a program may replace
 *   the ones by the others if it alters no data in the superstep: what arrives is the same.
 * Cases: buffered unbuffered
 */
#include <pub.h>

#include "pub/expect_pub.h"

enum { kWords = 3000 };

typedef struct {
  void (*send)(pbsp, int, const void *, int);
  void (*gsend)(pbsp, int, int, const void *, int);
  void (*lsend)(pbsp, int *, int, const void *, int);
  void (*put)(pbsp, int, const void *, void *, int, int);
  void (*get)(pbsp, int, const void *, int, void *, int);
} Calls;

static const Calls buffered = {bsp_send, bsp_gsend, bsp_lsend, bsp_put, bsp_get};
static const Calls unbuffered = {bsp_hpsend, bsp_hpgsend, bsp_hplsend, bsp_hpput, bsp_hpget};

static void Fill(int *words, int base) {
  int i;
  for (i = 0; i < kWords; ++i) words[i] = base + i;
}

static void ExpectWords(const int *words, int base) {
  EXPECT_EQ(words[0], base);
  EXPECT_EQ(words[kWords / 2], base + kWords / 2);
  EXPECT_EQ(words[kWords - 1], base + kWords - 1);
}

static void ExpectMessage(t_bspmsg *msg, int base) {
  EXPECT(msg != NULL);
  EXPECT_EQ(bspmsg_size(msg), kWords * sizeof(int));
  ExpectWords((const int *)bspmsg_data(msg), base);
}

int main(int argc, char **argv) {
  static int words[kWords], put_in[kWords], still[kWords], got[kWords];
  const Calls *calls = argc > 1 && argv[1][0] == 'u' ? &unbuffered : &buffered;
  t_bsp bsp;
  int table[2], p, me, left, i, turn;
  PUB_BEGIN(argc, argv, bsp);
  p = bsp_nprocs(&bsp);
  me = bsp_pid(&bsp);
  left = (me + p - 1) % p;
  table[0] = (me + 1) % p;
  table[1] = me;
  bsp_push_reg(&bsp, put_in, sizeof put_in);
  bsp_push_reg(&bsp, still, sizeof still);
  bsp_sync(&bsp);
  for (turn = 0; turn < 3; ++turn) {
    Fill(words, 100000 * turn + me);
    Fill(still, 100000 * turn + 10000 + me);
    calls->send(&bsp, (me + 1) % p, words, sizeof words);
    if (me == turn % p) calls->gsend(&bsp, 0, p - 1, words, sizeof words);
    calls->lsend(&bsp, table, p > 1 ? 2 : 1, words, sizeof words);
    calls->put(&bsp, (me + 1) % p, words, put_in, 0, sizeof words);
    calls->get(&bsp, (me + 1) % p, still, 0, got, sizeof got);
    bsp_sync(&bsp);
    EXPECT_EQ(bsp_nmsgs(&bsp), p > 1 ? 4 : 3);
    for (i = 0; i < bsp_nmsgs(&bsp); ++i) {
      t_bspmsg *msg = bsp_getmsg(&bsp, i);
      ExpectMessage(msg, 100000 * turn + bspmsg_src(msg));
    }
    ExpectMessage(bsp_findmsg(&bsp, left, 1), 100000 * turn + left);
    ExpectWords(put_in, 100000 * turn + left);
    ExpectWords(got, 100000 * turn + 10000 + (me + 1) % p);
  }
  PUB_END(bsp);
  return 0;
}
