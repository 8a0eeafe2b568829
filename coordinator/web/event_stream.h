// What one open page is sent: server-sent events (HTML Living Standard, section 9.2), each with a
// message of proto/jobs.proto in JSON as protobuf maps it, and only when it has changed.
//
//   about    {"user":"anna","administrator":true,"version":"1.0.0"}
//   nodes    ListNodesReply
//   jobs     {"running":ListJobsReply,"waiting":...,"ended":...}
//   job      Job; or {"error":"there is no job 7"}
//   series   as JobSeries::Since
//   output   {"lines":[LogLine,...],"left_out":3}: bytes before them that are not shown; or
//            {"error":"job 7 is of user anna, ..."}
#ifndef COORDINATOR_WEB_EVENT_STREAM_H_
#define COORDINATOR_WEB_EVENT_STREAM_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "coordinator/core/caller.h"
#include "coordinator/output/growing_log.h"
#include "coordinator/web/job_series.h"
#include "coordinator/web/page_view.h"

namespace bspnow::coordinator {

class EventStream {
 public:
  /// Of output at a time: the page shows the end of it, and `bsp logs` all.
  static constexpr std::size_t kOutputBytesMax = 64 << 10;

  /// `job`: that is shown; none: the cluster alone.
  EventStream(PageView& view, std::optional<JobId> job) : view_(view), job_(job) {}

  /// The events that are due; empty if there is no news. `caller`: who looks, by now.
  std::string Next(const Caller& caller);

 private:
  void Add(const std::string& event, const std::string& json);
  void AddIfNew(const std::string& event, std::string json);
  void AddOverview(const Caller& caller);
  void AddJob(const Caller& caller, JobId job);
  void AddOutput(const Caller& caller, JobId job);

  PageView& view_;
  const std::optional<JobId> job_;
  std::string news_;
  std::map<std::string, std::string> last_;  ///< By event, the JSON that was sent last.
  JobSeries::Seen seen_;
  int looks_after_end_ = 0;  ///< At the job, after it has ended.
  bool output_over_ = false;
  std::shared_ptr<LogReader> log_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_WEB_EVENT_STREAM_H_
