// When a call whose parts are in several hands (the loop's, gRPC's threads) may be finished: gRPC
// must not be asked for anything more afterwards. Who is about to ask pins the call. Any thread.
#ifndef COORDINATOR_RPC_CALL_END_H_
#define COORDINATOR_RPC_CALL_END_H_

#include <absl/status/status.h>

#include <mutex>

namespace bspnow::coordinator {

class CallEnd {
 public:
  /// False if the call has ended: ask for nothing more. Else Unpin must follow.
  [[nodiscard]] bool Pin() {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    ++pins_;
    return true;
  }

  /// True, once, if the call must be finished now.
  [[nodiscard]] bool Unpin() {
    const std::lock_guard lock(mutex_);
    return --pins_ == 0 && ended_;
  }

  /// The first one counts. True if the call must be finished now; else the last Unpin says so.
  [[nodiscard]] bool End(const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    ended_ = true;
    status_ = status;
    return pins_ == 0;
  }

  /// Once it has ended.
  absl::Status status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

 private:
  mutable std::mutex mutex_;
  int pins_ = 0;         ///< Guarded by mutex_.
  bool ended_ = false;   ///< Guarded by mutex_.
  absl::Status status_;  ///< Guarded by mutex_.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_RPC_CALL_END_H_
