// Numbers of processes that bsp_begin fixed for jobs that are not here yet: pid 0 may be in
// bsp_begin before the order to start its job has come to this node.
#ifndef WORKER_EXCHANGE_EARLY_BEGINS_H_
#define WORKER_EXCHANGE_EARLY_BEGINS_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "base/ids.h"

namespace bspnow::worker {

class EarlyBegins {
 public:
  /// The newest counts; beyond the limit the oldest job is forgotten.
  void Keep(JobId job, Epoch epoch, std::uint32_t nprocs) {
    if (begins_.size() == kMax && !begins_.contains(job)) begins_.erase(begins_.begin());
    begins_[job] = {.epoch = epoch, .nprocs = nprocs};
  }

  /// Of a job that has come; 0: nothing has come of this epoch.
  std::uint32_t Take(JobId job, Epoch epoch) {
    const auto begin = begins_.extract(job);
    return !begin.empty() && begin.mapped().epoch == epoch ? begin.mapped().nprocs : 0;
  }

  void Clear() { begins_.clear(); }

 private:
  static constexpr std::size_t kMax = 1024;

  struct Begin {
    Epoch epoch;
    std::uint32_t nprocs;
  };
  std::map<JobId, Begin> begins_;
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_EARLY_BEGINS_H_
