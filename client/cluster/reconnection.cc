#include "client/cluster/reconnection.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "base/units.h"

namespace bspnow::client {
namespace {

constexpr std::uint64_t kFirstMs = 100;
constexpr std::uint64_t kLongestMs = 1'000;
constexpr std::uint64_t kRefusedMs = 2'000;  // Then it is no token of a moment too early.

}  // namespace

std::string LostCoordinator(const std::string& coordinator, const std::string& why) {
  const std::string lost = absl::StrCat("lost the coordinator ", coordinator, ": ");
  return absl::StrCat(absl::StartsWith(why, lost) ? "" : lost, why);
}

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
  return Retry{
      .after_ms = std::min(after_ms_, timeout_ms_ - since_ms),
      .say = first ? LostCoordinator(coordinator_, std::string(why.message())) + "; trying again"
                   : NewsOfRefusal(why, now_ns)};
}

// A token may have ended meanwhile: its user can put another into the file until the time is over.
std::string Reconnection::NewsOfRefusal(const absl::Status& why, std::uint64_t now_ns) {
  if (!absl::IsUnauthenticated(why)) {
    refused_ns_.reset();
    said_refused_ = false;
    return "";
  }
  if (!refused_ns_) refused_ns_ = now_ns;
  if (now_ns - *refused_ns_ < kRefusedMs * kNsPerMs) return "";
  if (std::exchange(said_refused_, true)) return "";
  return absl::StrCat("the coordinator ", coordinator_,
                      " is back, and refuses: ", std::string(why.message()), "; trying again");
}

absl::Status Reconnection::GaveUp(const absl::Status& why) const {
  if (absl::IsUnauthenticated(why))
    return absl::UnauthenticatedError(absl::StrCat(
        "the coordinator ", coordinator_, " refuses: ", std::string(why.message()), "; gave up"));
  return absl::UnavailableError(absl::StrCat("no answer from the coordinator ", coordinator_,
                                             " for ", timeout_ms_ / 1000,
                                             " s; gave up: ", std::string(why.message())));
}

}  // namespace bspnow::client
