#include "client/barrier_notice.h"

#include <absl/strings/str_join.h>

#include <chrono>
#include <iostream>

#include "client/view/barrier_view.h"
#include "client/view/job_view.h"

namespace bspnow::client {
namespace {

constexpr std::chrono::seconds kPatience{10};

}  // namespace

BarrierNotice::BarrierNotice(JobsStub& jobs, std::uint64_t job)
    : jobs_(jobs), job_(job), thread_([this](const std::stop_token& end) {
        std::unique_lock lock(mutex_);
        const auto stopped = [&end] { return end.stop_requested(); };
        if (!ended_.wait_for(lock, end, kPatience, stopped)) Say();
      }) {}

void BarrierNotice::Say() const {
  proto::ShowJobRequest request;
  request.set_job(job_);
  const absl::StatusOr<proto::Job> job = jobs_.Show(request);
  if (!job.ok()) return;  // The call that is waited for fails, too.
  const AwaitedProcesses awaited = AwaitedOf(*job);
  std::cerr << "bsp: job " << job_ << " has not come to a barrier for 10 s"
            << (awaited.count == 0 ? "" : "; that waits for ")
            << absl::StrJoin(AwaitedLines(awaited), "; ") << std::endl;
}

}  // namespace bspnow::client
