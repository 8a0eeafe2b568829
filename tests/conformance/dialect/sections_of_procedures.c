/* Source: MulticoreBSP, calls, statement 6
 * Source: MulticoreBSP, calls, statement 7
 * Claim: A program has several SPMD sections, each of its own number of processes and with its own
 *   registrations, queue and tag size; between them process zero alone goes on, and keeps its
 *   variables. Each procedure that bsp_init names may be called many times.
 */
#include "expect.h"
#include "mcbsp.h"

static unsigned wanted = 1; /* What process zero sets; the others do not inherit it. */
static int sections = 0;

/* All that a section must not find of the one before it, and a superstep of each kind. */
static void Exchange(void) {
  const unsigned p = bsp_nprocs(), me = bsp_pid();
  unsigned area = 0, value = me + 1, tag = 0, messages = 0;
  size_t bytes = 0, tag_size = sizeof tag;
  bsp_qsize(&messages, &bytes);
  EXPECT_EQ(messages, 0);
  bsp_set_tagsize(&tag_size);
  EXPECT_EQ(tag_size, 0);
  bsp_push_reg(&area, sizeof area);
  bsp_sync();
  bsp_put((me + 1) % p, &value, &area, 0, sizeof value);
  bsp_send((me + 1) % p, &me, &value, sizeof value);
  bsp_sync();
  EXPECT_EQ(area, (me + p - 1) % p + 1);
  bsp_get_tag(&bytes, &tag);
  EXPECT_EQ(bytes, sizeof value);
  EXPECT_EQ(tag, (me + p - 1) % p);
  bsp_send(me, &me, &value, sizeof value);
  bsp_sync(); /* This message stays unread, and the area registered. */
}

static void First(void) {
  bsp_begin(wanted);
  sections += 1;
  Exchange();
  bsp_end();
}

static void Second(void) {
  bsp_begin(wanted);
  sections += 10;
  Exchange();
  bsp_end();
}

int main(int argc, char **argv) {
  unsigned n, p;
  bsp_init(First, argc, argv);
  n = bsp_nprocs();
  for (p = 1; p <= n; p = 2 * p) {
    wanted = p;
    First();
    EXPECT_EQ(bsp_nprocs(), n);
  }
  bsp_init(Second, argc, argv);
  wanted = n + 5;
  Second();
  bsp_init(First, argc, argv);
  wanted = n / 2 + 1;
  First();
  for (p = 1; p <= n; p = 2 * p) sections -= 1;
  EXPECT_EQ(sections, 11); /* Process zero has been in all of them. */
  puts("ok");
  return 0;
}
