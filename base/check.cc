#include "base/check.h"

#include <cstdio>
#include <cstdlib>

#include "base/exit_status.h"

namespace bspnow {

void CheckFailed(const char* file, int line, const char* expression, long long left,
                 long long right) {
  std::fprintf(stderr, "bspnow: a bug in bspnow: %s:%d: %s (%lld, %lld)\n", file, line, expression,
               left, right);
  std::abort();
}

void OutOfMemory(unsigned long long bytes) {
  std::fprintf(stderr,
               "bspnow: out of memory: the system gave no %llu bytes; raise the limit"
               " (ulimit -v), or run fewer processes\n",
               bytes);
  std::_Exit(kAbortStatus);
}

}  // namespace bspnow
