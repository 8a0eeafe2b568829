#include "coordinator/core/lease.h"

#include <absl/strings/str_format.h>

#include <algorithm>

namespace bspnow::coordinator {

void Lease::OnConnected(std::uint64_t now_ns) {
  renewed_ns_ = now_ns;
  stream_ = Stream::kConnected;
}

void Lease::OnBroken(std::uint64_t now_ns) {
  if (stream_ == Stream::kBroken) return;
  stream_ = Stream::kBroken;
  broken_ns_ = now_ns;
}

void Lease::OnPaused(std::uint64_t ns, std::uint64_t now_ns) {
  renewed_ns_ = std::min(renewed_ns_ + ns, now_ns);
  broken_ns_ = std::min(broken_ns_ + ns, now_ns);
}

std::string Lease::WhyLost(std::uint64_t now_ns) const {
  const std::uint64_t silent_ns = now_ns - renewed_ns_;
  if (stream_ == Stream::kBroken && now_ns - broken_ns_ >= kLeaseLimits.broken_ns)
    return absl::StrFormat("lease expired: no connection for %.1f s", 1e-9 * (now_ns - broken_ns_));
  if (silent_ns < kLeaseLimits.silent_ns) return "";
  return absl::StrFormat("lease expired: silent for %.1f s", 1e-9 * silent_ns);
}

}  // namespace bspnow::coordinator
