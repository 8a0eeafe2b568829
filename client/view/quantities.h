// Times and sizes as a user writes and reads them: those of Slurm, and those of people.
#ifndef CLIENT_VIEW_QUANTITIES_H_
#define CLIENT_VIEW_QUANTITIES_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

namespace bspnow::client {

/// Seconds of a time limit: minutes, or what files/duration.h takes; begun ones count. 0 means no
/// limit.
absl::StatusOr<std::uint64_t> ParseTimeLimit(const std::string& text);

/// Bytes of a size: a number and K, M, G or T (powers of 1024), with or without B; M if none.
absl::StatusOr<std::uint64_t> ParseMemory(const std::string& text);

/// As a user writes that: 4G, 1536M.
std::string MemoryOptionText(std::uint64_t bytes);

/// As in 0:07, 1:02:03, 2-01:02:03.
std::string DurationText(std::int64_t seconds);

/// With three digits or so: 12 B, 3.4 kB, 1.2 GB (powers of 1000).
std::string BytesText(double bytes);

/// With three digits or so: 12 B, 3.4 MiB, 1.2 GiB (powers of 1024, as those of ParseMemory).
std::string MemoryText(double bytes);

/// With three digits or so: 850 ns, 12.3 us, 4.5 ms, 6.7 s.
std::string NsText(double ns);

/// As in 2026-03-31 14:05:59, in this machine's time zone.
std::string LocalTimeText(std::int64_t unix_ms);

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_QUANTITIES_H_
