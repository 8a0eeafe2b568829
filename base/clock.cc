#include "base/clock.h"

#include <time.h>

namespace bspnow {
namespace {

std::uint64_t Read(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace

std::uint64_t NowNs() { return Read(CLOCK_MONOTONIC); }

std::uint64_t ProcessorNs() { return Read(CLOCK_PROCESS_CPUTIME_ID); }

std::int64_t UnixMs() { return static_cast<std::int64_t>(Read(CLOCK_REALTIME) / 1'000'000u); }

}  // namespace bspnow
