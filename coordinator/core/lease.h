// A worker's lease, as the coordinator sees it: when the worker was last heard on its frame stream.
// Pure. A worker whose stream is broken is given up sooner than one that is only silent: a pause is
// not to cost a job. See "A superstep over several nodes" in docs/design.md.
#ifndef COORDINATOR_CORE_LEASE_H_
#define COORDINATOR_CORE_LEASE_H_

#include <cstdint>
#include <string>

#include "base/units.h"

namespace bspnow::coordinator {

/// From the heartbeat that it answers on.
inline constexpr std::uint64_t kLeaseNs = 1'000'000'000;
/// After this it is over, though the worker's clock is slower than this one: NTP daemons that set
/// clocks right let them go up to a twelfth faster or slower, on two machines perhaps each way.
inline constexpr std::uint64_t kLeaseOverNs = kLeaseNs + kLeaseNs / 4;

/// How often workers renew it: those that have jobs, and those that need a lease for nobody.
inline constexpr std::uint64_t kHeartbeatMs = 250;
inline constexpr std::uint64_t kIdleHeartbeatMs = 3'000;

struct LeaseLimits {
  std::uint64_t broken_ns;  ///< A worker whose stream broke is lost after this,
  std::uint64_t silent_ns;  ///< and any other after this.
};

inline constexpr LeaseLimits kLeaseLimits{.broken_ns = 1'500'000'000, .silent_ns = 10'000'000'000};

/// A worker that was heard since then is there.
inline constexpr std::uint64_t kHeardNs = kIdleHeartbeatMs * kNsPerMs + 500'000'000;

static_assert(kLeaseLimits.broken_ns > kLeaseOverNs);
static_assert(kHeartbeatMs * kNsPerMs * 4 <= kLeaseNs, "some may come late");
// One may be lost with half of its connection, which is replaced at the next.
static_assert(kIdleHeartbeatMs * kNsPerMs * 3 < kLeaseLimits.silent_ns);

class Lease {
 public:
  /// The worker has registered; it has `silent_ns` for its first stream.
  explicit Lease(std::uint64_t now_ns) : renewed_ns_(now_ns) {}

  void OnConnected(std::uint64_t now_ns);
  void OnBroken(std::uint64_t now_ns);
  void OnRenewed(std::uint64_t now_ns) { renewed_ns_ = now_ns; }
  /// Nobody could be heard for this long: the coordinator itself was paused.
  void OnPaused(std::uint64_t ns, std::uint64_t now_ns);

  /// Why the worker counts as lost now ("lease expired: silent for 10.0 s"); empty: it does not.
  std::string WhyLost(std::uint64_t now_ns) const;

  /// The frame stream stands.
  bool connected() const { return stream_ == Stream::kConnected; }
  std::uint64_t AgeNs(std::uint64_t now_ns) const { return now_ns - renewed_ns_; }

 private:
  enum class Stream { kAwaited, kConnected, kBroken };

  std::uint64_t renewed_ns_;
  Stream stream_ = Stream::kAwaited;
  std::uint64_t broken_ns_ = 0;  ///< Since when, if it is broken.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_LEASE_H_
