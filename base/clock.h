// The only place that reads a clock. Everything else is handed times, or asks here.
#ifndef BASE_CLOCK_H_
#define BASE_CLOCK_H_

#include <cstdint>

namespace bspnow {

/// Nanoseconds of the machine's monotonic clock, which goes on while it is suspended; the same for
/// all processes of one node.
std::uint64_t NowNs();

/// Nanoseconds of processor time that the calling process has used.
std::uint64_t ProcessorNs();

/// The same, of the calling thread.
std::uint64_t ThreadNs();

/// Milliseconds since the machine was started, those in which it slept too: what /proc counts by.
std::uint64_t SinceBootMs();

/// Milliseconds since 1970, for people and for comparison between machines; may jump.
std::int64_t UnixMs();

}  // namespace bspnow

#endif  // BASE_CLOCK_H_
