// What clients and workers are sent: the coordinator's own structs turned into messages.
#ifndef COORDINATOR_CORE_CLUSTER_VIEW_H_
#define COORDINATOR_CORE_CLUSTER_VIEW_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/checkpoints/checkpoint.h"
#include "coordinator/core/checkpoints/checkpoint_policy.h"
#include "coordinator/core/checkpoints/job_checkpoints.h"
#include "coordinator/core/jobs/job_table.h"
#include "coordinator/core/live_job.h"
#include "coordinator/core/nodes.h"
#include "coordinator/core/ports.h"
#include "coordinator/core/running_epoch.h"
#include "coordinator/output/log_record.h"
#include "proto/jobs.pb.h"
#include "proto/workers.pb.h"

namespace bspnow::coordinator {

/// Of a job in a list: without what makes lists long.
void Shorten(proto::Job& job);

/// A page of those jobs that a request asks for, newest first, out of several places: whatever is
/// offered, the newest stay.
class JobPage {
 public:
  explicit JobPage(proto::ListJobsRequest request);

  bool Wants(const proto::Job& job) const;
  /// Of a job that it wants.
  void Add(proto::Job job);
  /// Nobody can tell whether it wants this one.
  void AddDamaged(JobId job) { damaged_.insert(Value(job)); }
  std::size_t size() const { return size_; }
  /// How many jobs of the history are to be looked at for it.
  std::size_t looked_at() const;
  bool full() const { return jobs_.size() >= size_; }
  /// It is full of such jobs.
  bool NewerThan(JobId job) const { return full() && jobs_.rbegin()->first > Value(job); }
  /// Jobs with smaller ids have not been looked at: they are of the next page.
  void EndAt(JobId job);
  proto::ListJobsReply Reply() const;

 private:
  static constexpr std::uint32_t kJobsOfPageMax = 1000;

  proto::ListJobsRequest request_;
  std::size_t size_;
  std::uint64_t end_ = 0;
  std::map<std::uint64_t, proto::Job, std::greater<>> jobs_;
  std::set<std::uint64_t, std::greater<>> damaged_;
};

/// Adds where the job's stragglers run.
void NameNodesOfStragglers(const proto::Job& job, proto::JobTotals& totals);

/// What the job's nodes have said of its barrier.
void AddBarrierWaits(const RunningEpoch& running, std::uint64_t now_ns, proto::Job& job);

/// To the reason, what the job waits for unusually long: the journal, of which the disk hangs, or
/// nodes that do not clear it away.
void AddWaits(const Job& entry, const Nodes& nodes, std::uint64_t now_ns, proto::Job& job);

/// The same of its log: of a disk that does not take it, and says why, or that does not answer.
void AddOutputWait(const OutputLogs& logs, std::uint64_t now_ns, proto::Job& job);

/// Leaves of these who lets others wait, or is stopped or dead: where all compute, or are held for
/// an image, nobody is late.
void KeepUnusualWaits(proto::Job& job);

/// Of all nodes.
void AddOpenGroups(const RunningEpoch& running, std::uint64_t now_ns,
                   proto::CheckpointStatus& status);

/// Two nodes of a job that stands at a barrier, one of which cannot reach the other; else empty.
std::string WhyItStands(const Job& job, const RunningEpoch& running, const Nodes& nodes);

/// "cannot reach w3: no answer in 2 s; cannot reach w4: ..."; empty if it can reach all.
std::string UnreachableText(const Node& node, const Nodes& nodes);
proto::Node NodeMessage(const JobTable::NodeView& view, const Nodes& nodes, std::uint64_t now_ns);
proto::Node LostNodeMessage(const Node& node);

/// What a job asks for.
CheckpointRule RuleOf(const proto::CheckpointPolicy& policy);

proto::CheckpointStatus StatusOf(const LiveJob& job, const LiveNodes& live);

/// Processes that have ended, in this epoch or before the checkpoint with which it began.
std::map<Pid, Printed> PrintedBy(const std::vector<Printed>& of_epoch, const LiveJob& job);

/// How far the output goes at a checkpoint (nullptr: at the start). The output of processes that
/// took no part stays as it is: they are not started again, unless all are.
std::vector<LogPosition> PositionsOf(const Checkpoint* from, std::uint32_t nprocs);

/// Of a job at a checkpoint (nullptr: at the start).
proto::JobTotals TotalsAt(const Checkpoint* from);

/// Without the images: each node gets those of its processes.
proto::Resume ResumeMessage(const JobCheckpoints& checkpoints, const Checkpoint& from);
std::map<Pid, proto::ImageOfPid> ImagesOf(const Checkpoint& from, const Nodes& nodes);

/// What all nodes have.
std::vector<std::string> CommonCpuFeatures(const Nodes& nodes);

/// To each of its hosts.
proto::StartJob StartMessage(const StartOrder& order, const proto::JobSpec& spec,
                             const Nodes& nodes);

/// `reached` of ProcessExited, which is runtime/link/link.h's ProcessState.
ProcessEnd ProcessEndOf(const proto::ProcessExited& exited);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_CLUSTER_VIEW_H_
