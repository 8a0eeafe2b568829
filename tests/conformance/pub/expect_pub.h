/* expect_pub.h: expect.h for programs that use pub.h. The text goes to standard error, and the job
 * ends with status 7. Include after pub.h. */
#ifndef EXPECT_PUB_H_
#define EXPECT_PUB_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT_EQ(got, want)                                                                 \
  do {                                                                                       \
    long got_ = (long)(got), want_ = (long)(want);                                           \
    if (got_ != want_) {                                                                     \
      fprintf(stderr, "%s:%d: %s is %ld, not %ld\n", __FILE__, __LINE__, #got, got_, want_); \
      exit(7);                                                                               \
    }                                                                                        \
  } while (0)

#define EXPECT(condition) EXPECT_EQ(!(condition), 0)

/* The beginning and the end of main. */
#define PUB_BEGIN(argc, argv, bsp)       \
  do {                                   \
    bsplib_saveargs(&(argc), &(argv));   \
    bsplib_init(BSPLIB_STDPARAMS, &bsp); \
  } while (0)

#define PUB_END(bsp)                      \
  do {                                    \
    int is_first_ = bsp_pid(&(bsp)) == 0; \
    bsplib_done();                        \
    if (is_first_) puts("ok");            \
  } while (0)

#endif /* EXPECT_PUB_H_ */
