#include "base/clock.h"

#include <time.h>

#include "base/units.h"

namespace bspnow {
namespace {

std::uint64_t Read(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * kNsPerS + static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace

// A lease must end while the machine is suspended; CLOCK_MONOTONIC would stand still.
std::uint64_t NowNs() { return Read(CLOCK_BOOTTIME); }

std::uint64_t ProcessorNs() { return Read(CLOCK_PROCESS_CPUTIME_ID); }

std::uint64_t ThreadNs() { return Read(CLOCK_THREAD_CPUTIME_ID); }

std::uint64_t SinceBootMs() { return Read(CLOCK_BOOTTIME) / kNsPerMs; }

std::int64_t UnixMs() { return static_cast<std::int64_t>(Read(CLOCK_REALTIME) / kNsPerMs); }

}  // namespace bspnow
