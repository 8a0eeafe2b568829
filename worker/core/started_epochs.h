// What was started on this node, for a coordinator that comes back: an epoch that its journal
// has, and nobody holds, has run or was never ordered. See "A coordinator that comes back" in
// docs/design.md.
#ifndef WORKER_CORE_STARTED_EPOCHS_H_
#define WORKER_CORE_STARTED_EPOCHS_H_

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

#include "base/ids.h"
#include "proto/workers.pb.h"

namespace bspnow::worker {

class StartedEpochs {
 public:
  static constexpr std::size_t kJobsMax = 1'000;

  /// Before anything of it is done.
  void OnStart(JobId job, Epoch epoch) {
    std::erase_if(newest_, [job](const auto& each) { return each.first == job; });
    newest_.emplace_back(job, epoch);
    if (newest_.size() <= kJobsMax) return;
    lacks_ = std::max(lacks_, newest_.front().first);
    newest_.pop_front();
  }

  void Describe(proto::RegisterRequest& request) const {
    for (const auto& [job, epoch] : newest_) {
      proto::StartedEpoch& started = *request.add_started();
      started.set_job(Value(job));
      started.set_epoch(Value(epoch));
    }
    request.set_started_lacks(Value(lacks_));
  }

 private:
  std::deque<std::pair<JobId, Epoch>> newest_;  ///< In the order of their starts.
  JobId lacks_{0};                              ///< The largest one that is not there any more.
};

}  // namespace bspnow::worker

#endif  // WORKER_CORE_STARTED_EPOCHS_H_
