// Ends a call that does not move any more, however long one may take that does: the peer may be
// alive and its disk hang. From any thread.
#ifndef WORKER_RPC_SILENCE_WATCH_H_
#define WORKER_RPC_SILENCE_WATCH_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace bspnow::worker {

class SilenceWatch {
 public:
  /// `cancel` is called, once, when the call has not moved for `patience`, or up to twice as long;
  /// at once if there is no thread that could watch it.
  SilenceWatch(std::chrono::milliseconds patience, std::function<void()> cancel);

  void Moved() { moved_ = true; }

  /// Now the peer syncs so many bytes, before it answers: that may take longer. Counts as a move.
  void ExpectSync(std::uint64_t bytes);
  static constexpr std::uint64_t kSyncedBytesPerMsLeast = 4'000;

  bool fired() const { return fired_; }
  bool watches() const { return thread_.has_value(); }

 private:
  void Run(const std::stop_token& stop);

  const std::function<void()> cancel_;
  std::atomic<std::chrono::milliseconds> patience_;
  std::atomic<bool> moved_ = true;
  std::atomic<bool> fired_ = false;
  std::mutex mutex_;
  std::condition_variable_any never_;
  std::optional<std::jthread> thread_;  ///< Last: it uses all of the above.
};

}  // namespace bspnow::worker

#endif  // WORKER_RPC_SILENCE_WATCH_H_
