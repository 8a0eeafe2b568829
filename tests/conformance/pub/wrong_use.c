/* Source: semantics, PUB, statement 2
 * Claim: Wrong arguments, objects that are none, objects that are not closed as a stack, and counts
 *   and reductions on which the processes disagree are errors that say what to do.
 * Cases: null none closed copied stack root open descends ends size pid message first op member
 *   count less missing other unexpected unread beyond repeats more all_more mixed late put push
 *   twice
 * Procs: 2 4
 * Exit: 6
 * Stderr if case == 'null': ^bspnow: bsp_sync on pid \d+, superstep 0: the object is NULL; .+
 * Stderr if case == 'none': ^bspnow: bsp_send on pid \d+, superstep 0: this t_bsp names no object:
 *   .+
 * Stderr if case == 'closed': ^bspnow: bsp_done on pid \d+, superstep 0: this t_bsp names no
 *   object: .+
 * Stderr if case == 'copied': ^bspnow: bsp_sync on pid \d+, superstep 0: this t_bsp names no
 *   object: .+
 * Stderr if case == 'stack': ^bspnow: bsp_done on pid \d+, superstep 0: an object that this
 *   thread has made after this one is open still; .+
 * Stderr if case == 'root': ^bspnow: bsp_done on pid \d+, superstep 0: .*bsplib_done ends .+
 * Stderr if case == 'open': ^bspnow: bsplib_done on pid \d+, superstep 0: 1 objects .+ are open
 *   still; .+
 * Stderr if case == 'descends': ^bspnow: bsp_partition on pid \d+, superstep 0: part\[1\] is 0; .+
 * Stderr if case == 'ends': ^bspnow: bsp_partition on pid \d+, superstep 0: part\[0\] is 1, and p
 *   is {p}; .+
 * Stderr if case == 'size': ^bspnow: bsp_send on pid \d+, superstep 0: size is -1; .+
 * Stderr if case == 'pid': ^bspnow: bsp_gsend on pid \d+, superstep 0: pid {p} is outside 0..{p -
 *   1}; .+
 * Stderr if case == 'message': ^bspnow: bspmsg_data on pid \d+, superstep 0: the message is NULL:
 *   .+
 * Stderr if case == 'first': ^bspnow: bsp_gscan on pid \d+, superstep 0: first is 1, and last 0; .+
 * Stderr if case == 'op': ^bspnow: bsp_greduce on pid \d+, superstep 0: op is NULL, .+
 * Stderr if case == 'member': ^bspnow: bsp_lreduce on pid \d+, superstep 0: member 1 is pid -1, .+
 * Stderr if case == 'count': ^bspnow: bsp_oblsync on pid \d+, superstep 0: 1 messages are
 *   expected, and 2 were sent .+
 * Stderr if case == 'less': ^bspnow: bsp_oblsync on pid \d+, superstep 0: n is 0, and this process
 *   takes part in 1 reductions .+
 * Stderr if case == 'missing': ^bspnow: bsp_sync on pid \d+, superstep 1: (no value of pid 1 came
 *   |pid \d+ has called a reduction ).+
 * Stderr if case == 'other': ^bspnow: bsp_sync on pid \d+, superstep 1: pid \d+ has called another
 *   reduction .+
 * Stderr if case == 'unexpected': ^bspnow: bsp_getmsg on pid \d+, superstep 1: pid \d+ has called a
 *   reduction .+
 * Stderr if case == 'unread': ^bspnow: bsp_sync on pid \d+, superstep 1: pid 0 has called a
 *   reduction .+
 * Stderr if case == 'beyond': ^bspnow: bsp_gsend on pid \d+, superstep 0: pid 2147483647 is outside
 *   .+
 * Stderr if case == 'repeats': ^bspnow: bsp_lreduce on pid \d+, superstep 0: pid 0 is in the table
 *   twice; .+
 * Stderr if case == 'more': ^bspnow: bsp_oblsync on pid 0, superstep 0: 1 messages are expected,
 *   and 0 were sent .+
 * Stderr if case == 'all_more': ^bspnow: bsp_oblsync on pid \d+, superstep 0: 1 messages are
 *   expected, and 0 were sent .+
 * Stderr if case == 'mixed': ^bspnow: (bsp_oblsync on pid 1, superstep 0: (pid 0 ends this
 *   superstep by bsp_sync, |1 messages are expected, and 0 were sent )|bsp_(obl)?sync on pid \d+,
 *   superstep 0: \d of \d processes end ).+
 * Stderr if case == 'late': ^bspnow: bsp_sync on pid \d+ after bsplib_done: call it before
 *   bsplib_done, .+
 * Stderr if case == 'put': ^bspnow: bsp_oblsync on pid \d+, superstep 1: puts and gets were issued
 *   .+
 * Stderr if case == 'push': ^bspnow: bsp_sync on pid \d+, superstep 0: registrations differ: pid 0
 *   pushed 1 and popped 0, pid 1 pushed 0 .+
 * Stderr if case == 'twice': ^bspnow: bsplib_init on pid \d+, superstep 0: a program has one .+
 */
#include <limits.h>
#include <pub.h>

#include "pub/expect_pub.h"

#define CASE(name) (strcmp(what, #name) == 0)

static void MixReductions(pbsp bsp, const char *what) {
  int me = bsp_pid(bsp), last = bsp_nprocs(bsp) - 1, x = 1, y[2];
  if (CASE(missing) && me != 1) bsp_gallreduce(bsp, 0, last, &x, y, 1, bspop_addint, NULL);
  if (CASE(other)) bsp_gallreduce(bsp, 0, last, &y, y, me == 0 ? 1 : 2, bspop_addint, NULL);
  if ((CASE(unexpected) || CASE(unread)) && me == 0)
    bsp_gscan(bsp, 0, last, &x, y, 1, bspop_addint, NULL);
  bsp_sync(bsp);
  if (CASE(unexpected) && me != 0) bsp_getmsg(bsp, 0);
  if (CASE(unread)) bsp_gscan(bsp, 0, last, &x, y, 1, bspop_addint, NULL);
  bsp_sync(bsp);
}

static void CloseWrongly(pbsp bsp, const char *what) {
  t_bsp sub, copy;
  bsp_dup(bsp, &sub);
  copy = sub;
  if (CASE(open)) return;
  if (CASE(stack)) bsp_dup(bsp, &copy);
  bsp_done(&sub);
  if (CASE(copied)) bsp_dup(bsp, &sub); /* May lie where the first one was. */
  if (CASE(copied)) bsp_sync(&copy);
  bsp_done(&sub);
}

/* Of messages that never come. */
static void CountWrongly(pbsp bsp, const char *what) {
  int me = bsp_pid(bsp);
  if (CASE(mixed) && me == 0) bsp_sync(bsp);
  bsp_oblsync(bsp, CASE(all_more) || (CASE(more) && me == 0) || (CASE(mixed) && me == 1));
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  t_bsp bsp, sub, none = {0, 0};
  int p, x = 1, part[2] = {1, 0}, table[2] = {0, -1}, twice[2] = {0, 0};
  bsplib_saveargs(&argc, &argv);
  bsplib_init(BSPLIB_STDPARAMS, &bsp);
  p = bsp_nprocs(&bsp);
  if (CASE(null)) bsp_sync(NULL);
  if (CASE(none)) bsp_send(&none, 0, &x, sizeof x);
  if (CASE(closed) || CASE(copied) || CASE(stack) || CASE(open)) CloseWrongly(&bsp, what);
  if (CASE(root)) bsp_done(&bsp);
  if (CASE(descends)) bsp_partition(&bsp, &sub, 2, part);
  if (CASE(ends)) bsp_partition(&bsp, &sub, 1, part);
  if (CASE(size)) bsp_send(&bsp, 0, &x, -1);
  if (CASE(pid)) bsp_gsend(&bsp, 0, p, &x, sizeof x);
  if (CASE(beyond)) bsp_gsend(&bsp, 0, INT_MAX, &x, sizeof x);
  if (CASE(repeats)) bsp_lreduce(&bsp, twice, 2, &x, &x, 1, bspop_addint, NULL);
  if (CASE(message)) bspmsg_data(bsp_getmsg(&bsp, 0));
  if (CASE(first)) bsp_gscan(&bsp, 1, 0, &x, &x, 1, bspop_addint, NULL);
  if (CASE(op)) bsp_greduce(&bsp, 0, 0, &x, &x, 1, NULL, NULL);
  if (CASE(member)) bsp_lreduce(&bsp, table, 2, &x, &x, 1, bspop_addint, NULL);
  if (CASE(count)) bsp_send(&bsp, bsp_pid(&bsp), &x, sizeof x);
  if (CASE(count)) bsp_send(&bsp, bsp_pid(&bsp), &x, sizeof x);
  if (CASE(count)) bsp_oblsync(&bsp, 1);
  if (CASE(more) || CASE(all_more) || CASE(mixed)) CountWrongly(&bsp, what);
  if (CASE(less)) bsp_gallreduce(&bsp, 0, p - 1, &x, &x, 1, bspop_addint, NULL);
  if (CASE(less)) bsp_oblsync(&bsp, 0);
  if (CASE(missing) || CASE(other) || CASE(unexpected) || CASE(unread)) MixReductions(&bsp, what);
  if (CASE(put)) bsp_push_reg(&bsp, &x, sizeof x);
  if (CASE(put)) bsp_sync(&bsp);
  if (CASE(put)) bsp_put(&bsp, 0, &p, &x, 0, sizeof x);
  if (CASE(put)) bsp_oblsync(&bsp, 0);
  if (CASE(push) && bsp_pid(&bsp) == 0) bsp_push_reg(&bsp, &x, sizeof x);
  if (CASE(push)) bsp_sync(&bsp);
  if (CASE(twice)) bsplib_init(BSPLIB_STDPARAMS, &bsp);
  bsplib_done();
  if (CASE(late)) bsp_sync(&bsp);
  puts("no error");
  return 0;
}
