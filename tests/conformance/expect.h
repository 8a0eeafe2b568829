/* expect.h: how a conformance program says that something is wrong.
 *
 * Each process checks its own results; the first that finds a wrong one ends the job with
 * bsp_abort, so exit status 6 and the text below are what the runner shows. Macros only, and no
 * variadic ones, so that programs in C89 and C++ can use it too. Include after bsp.h.
 */
#ifndef EXPECT_H_
#define EXPECT_H_

/* Between bsp_begin and bsp_end. */
#define EXPECT(condition)                                                                  \
  do {                                                                                     \
    if (!(condition))                                                                      \
      bsp_abort("%s:%d: pid %ld: %s does not hold\n", __FILE__, __LINE__, (long)bsp_pid(), \
                #condition);                                                               \
  } while (0)

#define EXPECT_EQ(got, want)                                                                       \
  do {                                                                                             \
    long got_ = (long)(got), want_ = (long)(want);                                                 \
    if (got_ != want_)                                                                             \
      bsp_abort("%s:%d: pid %ld: %s is %ld, not %ld\n", __FILE__, __LINE__, (long)bsp_pid(), #got, \
                got_, want_);                                                                      \
  } while (0)

/* Before bsp_begin or after bsp_end, where this process need not have a pid. */
#define EXPECT_OUTSIDE(condition)                                                             \
  do {                                                                                        \
    if (!(condition)) bsp_abort("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
  } while (0)

#endif /* EXPECT_H_ */
