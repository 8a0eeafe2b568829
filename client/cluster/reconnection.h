// What a program does when its coordinator is out of reach: tell the user once, try again ever more
// slowly, and give up after a time. Pure; all commands that follow a job use it.
#ifndef CLIENT_CLUSTER_RECONNECTION_H_
#define CLIENT_CLUSTER_RECONNECTION_H_

#include <absl/status/status.h>

#include <cstdint>
#include <optional>
#include <string>

namespace bspnow::client {

/// The default of --reconnect-timeout.
inline constexpr std::uint64_t kReconnectUsualMs = 60'000;

/// What is said of a coordinator that is out of reach, once, be `why` such words already.
std::string LostCoordinator(const std::string& coordinator, const std::string& why);

class Reconnection {
 public:
  /// `coordinator` is HOST:PORT.
  Reconnection(std::string coordinator, std::uint64_t timeout_ms)
      : coordinator_(std::move(coordinator)), timeout_ms_(timeout_ms) {}

  /// Whether a call that failed so may succeed later, when the coordinator is there again.
  bool MayComeBack(const absl::Status& status) const;

  struct Retry {
    std::uint64_t after_ms;
    std::string say;  ///< To the user; empty if there is nothing new.
  };
  /// A call or stream has broken, or a further try has failed. Nothing: the time is over.
  std::optional<Retry> OnLost(const absl::Status& why, std::uint64_t now_ns);

  /// The coordinator has answered.
  void OnBack() {
    lost_ns_.reset();
    refused_ns_.reset();
    said_refused_ = false;
  }

  /// While the coordinator is away.
  bool lost() const { return lost_ns_.has_value(); }

  /// What is reported after the last try.
  absl::Status GaveUp(const absl::Status& why) const;

  const std::string& coordinator() const { return coordinator_; }

 private:
  std::string NewsOfRefusal(const absl::Status& why, std::uint64_t now_ns);

  const std::string coordinator_;
  const std::uint64_t timeout_ms_;
  std::optional<std::uint64_t> lost_ns_;     ///< When.
  std::uint64_t after_ms_ = 0;               ///< The last wait.
  std::optional<std::uint64_t> refused_ns_;  ///< Since when a coordinator that is back does so.
  bool said_refused_ = false;
};

}  // namespace bspnow::client

#endif  // CLIENT_CLUSTER_RECONNECTION_H_
