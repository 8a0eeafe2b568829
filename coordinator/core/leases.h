// Which workers live: a pure table of when each was last heard. A worker whose connection is broken
// is given up sooner than one that is only silent: a pause is not to cost a job.
// See "A superstep over several nodes" in docs/design.md.
#ifndef COORDINATOR_CORE_LEASES_H_
#define COORDINATOR_CORE_LEASES_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"

namespace bspnow::coordinator {

struct LeaseLimits {
  std::uint64_t broken_ns;  ///< A worker without a connection is lost after this,
  std::uint64_t silent_ns;  ///< and one that has a connection after this.
};

inline constexpr LeaseLimits kLeaseLimits{.broken_ns = 1'500'000'000, .silent_ns = 10'000'000'000};

struct LostLease {
  WorkerId worker;
  std::string reason;  ///< "lease expired: silent for 10.0 s".
};

class Leases {
 public:
  explicit Leases(LeaseLimits limits) : limits_(limits) {}

  /// From now on the worker must be heard; it has `silent_ns` for its first connection.
  void Admit(WorkerId worker, std::uint64_t now_ns);
  void Forget(WorkerId worker) { leases_.erase(worker); }

  void OnConnected(WorkerId worker, std::uint64_t now_ns);
  void OnBroken(WorkerId worker, std::uint64_t now_ns);
  void OnRenewed(WorkerId worker, std::uint64_t now_ns);

  /// Nobody could be heard for so long: the coordinator itself was paused.
  void OnPaused(std::uint64_t ns, std::uint64_t now_ns);

  /// Forgets those whose lease has run out, and names them.
  std::vector<LostLease> TakeLost(std::uint64_t now_ns);

  bool holds(WorkerId worker) const { return leases_.contains(worker); }
  /// Since the lease was renewed; 0 for a worker that has none.
  std::uint64_t AgeNs(WorkerId worker, std::uint64_t now_ns) const;
  std::size_t size() const { return leases_.size(); }

 private:
  struct Lease {
    std::uint64_t renewed_ns;
    bool connected;
    std::uint64_t broken_ns;  ///< Since when it is not.
  };

  LeaseLimits limits_;
  std::unordered_map<WorkerId, Lease> leases_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_LEASES_H_
