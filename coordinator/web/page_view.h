// What the web page shows, as the server's threads ask it of the loop. The loop only copies; what
// becomes of the copies is those threads' work.
#ifndef COORDINATOR_WEB_PAGE_VIEW_H_
#define COORDINATOR_WEB_PAGE_VIEW_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <absl/status/statusor.h>
#include "base/ids.h"
#include "coordinator/core/caller.h"
#include "coordinator/daemon.h"
#include "coordinator/output/growing_log.h"
#include "coordinator/web/job_series.h"
#include "net/event_loop.h"
#include "proto/jobs.pb.h"

namespace bspnow::coordinator {

/// The whole cluster. Of each kind of jobs the newest kListedMax.
struct Overview {
  static constexpr std::uint32_t kListedMax = 100;

  proto::ListNodesReply nodes;
  proto::ListJobsReply running;
  proto::ListJobsReply waiting;
  proto::ListJobsReply ended;
};

class PageView {
 public:
  /// On the loop's thread, as its end.
  PageView(EventLoop& loop, Daemon& daemon);
  ~PageView();

  // The following from any thread; nothing if the loop has no time.

  /// At most a second old; whoever asks sooner shares it, or that the loop has no time: one after
  /// another they would wait for it in vain.
  std::shared_ptr<const Overview> Look();

  struct JobLook {
    absl::StatusOr<proto::Job> job;  ///< As the caller may see it.
    std::string series;              ///< JobSeries::Since.
    JobSeries::Seen seen;
  };
  std::optional<JobLook> LookAt(const Caller& caller, JobId job, JobSeries::Seen seen);

  /// From the beginning; PERMISSION_DENIED if the caller may not read it.
  std::optional<absl::StatusOr<std::shared_ptr<LogReader>>> OpenLog(const Caller& caller,
                                                                    JobId job);

 private:
  using OnOverview = std::function<void(std::shared_ptr<const Overview>)>;
  void Gather(const OnOverview& done) const;
  JobLook LookNow(JobId job, JobSeries::Seen seen) const;
  absl::StatusOr<std::shared_ptr<LogReader>> OpenNow(const Caller& caller, JobId job);
  void Sample();
  /// With their last sums.
  void KeepNewestEnded();

  EventLoop& loop_;
  Daemon& daemon_;
  TimerId sampling_ = kNoTimer;        ///< The loop's, as the next one.
  std::map<JobId, JobSeries> series_;  ///< Of jobs that run, and some that have ended.

  std::mutex mutex_;  ///< Guards the following; held while one asks for all.
  std::shared_ptr<const Overview> overview_;  ///< Null: the last one was not to be had.
  std::uint64_t overview_ns_ = 0;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_WEB_PAGE_VIEW_H_
