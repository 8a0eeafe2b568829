// Who did what to the cluster, and who was refused: a file for administrators, one line a call,
// that is only ever added to. It has an end: the oldest lines go when there are too many.
#ifndef COORDINATOR_ACCESS_AUDIT_LOG_H_
#define COORDINATOR_ACCESS_AUDIT_LOG_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

namespace spdlog {
class logger;
}

namespace bspnow::coordinator {

/// One call. What others have chosen in it is written so that it makes no line of its own.
struct AuditEntry {
  std::string user;  ///< As it was proven; empty: it was not.
  std::string from;  ///< The address of the other end.
  std::string call;
  std::string what;  ///< "job 3", "node w1"; may be empty.
  absl::Status outcome;
};

class AuditLog {
 public:
  using Clock = std::function<std::uint64_t()>;  ///< Monotonic, in ns.

  /// Adds to the file, which only its owner reads. Older lines are beside it: audit.1.log, ...
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& path, Clock clock);
  AuditLog(std::shared_ptr<spdlog::logger> logger, Clock clock);

  /// At once. Whoever is refused all the time writes a number and no lines. From any thread.
  void Write(const AuditEntry& entry);

  /// Calls whose caller did not prove who he is, or may not do that: all that there were.
  std::uint64_t refused() const { return all_refused_.load(std::memory_order_relaxed); }

 private:
  bool IsOneTooMany(const absl::Status& outcome);

  const std::shared_ptr<spdlog::logger> logger_;
  const Clock clock_;
  std::atomic<std::uint64_t> all_refused_ = 0;
  std::mutex mutex_;
  std::uint64_t period_ = 0;   ///< Of a second, in which refusals are counted.
  std::uint64_t refused_ = 0;  ///< In this period.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_ACCESS_AUDIT_LOG_H_
