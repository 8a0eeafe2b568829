#include "coordinator/core/leases.h"

#include <absl/strings/str_format.h>

#include <algorithm>

namespace bspnow::coordinator {

void Leases::Admit(WorkerId worker, std::uint64_t now_ns) {
  leases_[worker] = Lease{.renewed_ns = now_ns, .connected = true, .broken_ns = 0};
}

void Leases::OnConnected(WorkerId worker, std::uint64_t now_ns) {
  const auto found = leases_.find(worker);
  if (found == leases_.end()) return;
  found->second = Lease{.renewed_ns = now_ns, .connected = true, .broken_ns = 0};
}

void Leases::OnBroken(WorkerId worker, std::uint64_t now_ns) {
  const auto found = leases_.find(worker);
  if (found == leases_.end() || !found->second.connected) return;
  found->second.connected = false;
  found->second.broken_ns = now_ns;
}

void Leases::OnRenewed(WorkerId worker, std::uint64_t now_ns) {
  const auto found = leases_.find(worker);
  if (found != leases_.end()) found->second.renewed_ns = now_ns;
}

void Leases::OnPaused(std::uint64_t ns, std::uint64_t now_ns) {
  for (auto& [worker, lease] : leases_) {
    lease.renewed_ns = std::min(lease.renewed_ns + ns, now_ns);
    lease.broken_ns = std::min(lease.broken_ns + ns, now_ns);
  }
}

std::vector<LostLease> Leases::TakeLost(std::uint64_t now_ns) {
  std::vector<LostLease> lost;
  for (const auto& [worker, lease] : leases_) {
    const std::uint64_t silent_ns = now_ns - lease.renewed_ns;
    if (!lease.connected && now_ns - lease.broken_ns >= limits_.broken_ns) {
      lost.push_back({worker, absl::StrFormat("lease expired: no connection for %.1f s",
                                              1e-9 * (now_ns - lease.broken_ns))});
    } else if (silent_ns >= limits_.silent_ns) {
      lost.push_back(
          {worker, absl::StrFormat("lease expired: silent for %.1f s", 1e-9 * silent_ns)});
    }
  }
  for (const LostLease& lease : lost) leases_.erase(lease.worker);
  std::sort(lost.begin(), lost.end(),
            [](const LostLease& a, const LostLease& b) { return a.worker < b.worker; });
  return lost;
}

std::uint64_t Leases::AgeNs(WorkerId worker, std::uint64_t now_ns) const {
  const auto found = leases_.find(worker);
  return found == leases_.end() ? 0 : now_ns - found->second.renewed_ns;
}

}  // namespace bspnow::coordinator
