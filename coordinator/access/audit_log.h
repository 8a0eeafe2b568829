// Who did what to the cluster, and who was refused: files for administrators, one line a call, that
// are only ever added to. They have an end: the oldest lines go when there are too many. What was
// refused or failed has a file of its own: it needs no right, and would push out what was done.
// A thread writes them: no call waits for a disk that hangs.
#ifndef COORDINATOR_ACCESS_AUDIT_LOG_H_
#define COORDINATOR_ACCESS_AUDIT_LOG_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

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

  struct Paths {
    std::string acts;     ///< What succeeded.
    std::string refused;  ///< All else.
  };
  /// Of one caller in a second, and of all, to the file of what was refused.
  static constexpr std::uint64_t kRefusedOfCaller = 50;
  static constexpr std::uint64_t kRefusedInAll = 500;
  /// Lines of one file that wait for the disk; of more there is a number.
  static constexpr std::size_t kWaitingMax = 10'000;

  /// Adds to the files, which only their owner reads. Older lines are beside them: audit.1.log, ...
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const Paths& paths, Clock clock);
  struct Files {
    std::shared_ptr<spdlog::logger> acts;
    std::shared_ptr<spdlog::logger> refused;
  };
  AuditLog(Files files, Clock clock);
  ~AuditLog();  ///< Writes what waits.

  /// As soon as the disk takes it, but for two kinds of which a second gives a number: what one
  /// caller does again and again, and what he is refused after the first times. From any thread.
  void Write(const AuditEntry& entry);
  /// Waits until the files have all that was written.
  void Flush();

  /// Calls whose caller did not prove who he is, or may not do that: all that there were.
  std::uint64_t refused() const { return all_refused_.load(std::memory_order_relaxed); }

 private:
  void WriteAct(const AuditEntry& entry);
  void WriteRefused(const AuditEntry& entry);
  /// What was only counted since the last call.
  void WriteCounts();

  struct Line {
    std::int64_t unix_ms;
    std::string text;
  };
  struct File {
    std::shared_ptr<spdlog::logger> log;
    std::deque<Line> waiting{};
    std::uint64_t lost = 0;  ///< Lines for which there was no room in `waiting`.
  };
  void Add(File& file, std::string text);
  bool HasLines() const;
  void WriteLines();

  const Clock clock_;
  std::atomic<std::uint64_t> all_refused_ = 0;
  std::mutex mutex_;                                 ///< Guards the following.
  std::uint64_t period_ = 0;                         ///< The second in which these are counted:
  std::map<std::string, std::uint64_t> repeated_;    ///< Acts, by their line.
  std::map<std::string, std::uint64_t> refused_of_;  ///< Lines, by caller.
  std::uint64_t lines_refused_ = 0;
  std::uint64_t more_refused_ = 0;  ///< Without a line.
  File acts_;
  File refused_;
  bool writing_ = false;  ///< Lines that do not wait any more, and are not in their file yet.
  bool ending_ = false;
  std::condition_variable changed_;
  std::jthread writer_;  ///< Last: it uses all of the above.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_ACCESS_AUDIT_LOG_H_
