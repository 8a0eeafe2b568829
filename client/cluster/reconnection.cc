#include "client/cluster/reconnection.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "base/units.h"

namespace bspnow::client {
namespace {

constexpr std::uint64_t kFirstMs = 100;
constexpr std::uint64_t kLongestMs = 1'000;

}  // namespace

// A coordinator that ends cancels its calls. A call that began before the login socket of one that
// comes back was there bears no token, or that of its predecessor; before, the caller was known.
bool Reconnection::MayComeBack(const absl::Status& status) const {
  if (absl::IsUnauthenticated(status)) return lost();
  return absl::IsUnavailable(status) || absl::IsCancelled(status);
}

std::optional<Reconnection::Retry> Reconnection::OnLost(const absl::Status& why,
                                                        std::uint64_t now_ns) {
  const bool first = !lost_ns_;
  if (first) lost_ns_ = now_ns;
  const std::uint64_t since_ms = (now_ns - *lost_ns_) / kNsPerMs;
  if (since_ms >= timeout_ms_) return std::nullopt;
  after_ms_ = first ? kFirstMs : std::min(2 * after_ms_, kLongestMs);
  return Retry{.after_ms = std::min(after_ms_, timeout_ms_ - since_ms),
               .say = first ? absl::StrCat("lost the coordinator ", coordinator_, ": ",
                                           std::string(why.message()), "; trying again")
                            : ""};
}

absl::Status Reconnection::GaveUp(const absl::Status& why) const {
  return absl::UnavailableError(absl::StrCat("no answer from the coordinator ", coordinator_,
                                             " for ", timeout_ms_ / 1000,
                                             " s; gave up: ", std::string(why.message())));
}

}  // namespace bspnow::client
