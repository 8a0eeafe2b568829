// One job on this node, from the order to start it until nothing of it is left: what follows which
// event, what is reported to the coordinator, what is still owed. Decides only: JobHost does. What
// concerns the whole job is the coordinator's to decide.
#ifndef WORKER_CORE_HOSTED_JOB_H_
#define WORKER_CORE_HOSTED_JOB_H_

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "proto/workers.pb.h"
#include "worker/core/checkpoint_keeper.h"
#include "worker/core/job_checkpoints.h"
#include "worker/core/job_host.h"
#include "worker/exchange/exchange_fault.h"

namespace bspnow::worker {

/// What all hosted jobs share; outlives them.
struct HostedJobContext {
  JobHosting& hosting;
  CheckpointKeeper& keeper;
  std::function<void(proto::WorkerEvent)> report;
  std::uint64_t lease_until_ns = 0;  ///< 0: nobody has granted any yet.
};

class HostedJob {
 public:
  /// `node`: index of this worker in start.hosts(). `cleared` is called when nothing of the job is
  /// left here; the owner may destroy it in that.
  HostedJob(const HostedJobContext& context, proto::StartJob start, std::uint32_t node,
            std::function<void()> cleared);
  HostedJob(const HostedJob&) = delete;
  HostedJob& operator=(const HostedJob&) = delete;

  /// Begins. Its end, too, is the coordinator's to order.
  void Start() { host_->Prepare(); }

  // ---- What happens: called by JobHost

  /// `failed`: why it cannot go on from the checkpoint; without a reason it can. `not_brought`: why
  /// the files of the checkpoint are not all here; empty: they are.
  void OnPrepared(absl::Status status, const proto::RestoreFailed& failed, std::string not_brought);

  /// Of those that DecodeEvent of host_channel.h names, complete but for job and epoch; and
  /// InputTaken.
  void OnHostEvent(proto::WorkerEvent event);

  /// Before the next: its processes end with bsp-host, which the kernel has killed for that.
  void OnHostKilled(std::string killed_for) { host_killed_for_ = std::move(killed_for); }

  /// No process is left. `ordered`: the last checkpoint that they were to take, or 0.
  void OnHostGone(std::uint64_t ordered);

  /// `files_lost`: why files that were to be kept were not; empty if all were.
  void OnCleared(std::string files_lost);

  /// Its superstep path failed, or the worker ends.
  void ReportBroken(ExchangeFault fault, const std::string& reason);

  // ---- Orders

  void Signal(int signal);
  void OnInput(const proto::Input& input);
  void TakeCheckpoint(const proto::TakeCheckpoint& order);

  /// Processes that wait after their images of this checkpoint go on without it.
  void ReleaseHeld(std::uint64_t checkpoint);

  /// As JobHost has it.
  void LookAgain(std::uint64_t look);
  void SayAgain() { host_->SayAgain(); }

  /// Output has reached the job's log; what it took of the credit is free again.
  void OnOutputKept(std::uint64_t credit_bytes);

  void SetLease(std::uint64_t until_ns) { host_->SetLease(until_ns); }

  /// Kills what runs, breaks off what is prepared, sends the files if they are to be kept, clears
  /// up. The first call counts.
  void End(JobHost::Left kept);

  /// Ends it without an order of the coordinator. No files are kept; the report says that they may
  /// be lost, since the job may have ended a moment ago and the order to send them be on its way.
  void EndUnasked(const std::string& why);

  /// No coordinator knows it any more: ends it, and reports nothing.
  void Abandon();

  // ---- State

  const proto::StartJob& start() const { return start_; }
  std::uint32_t node() const { return node_; }
  bool resumes() const { return start_.has_resume(); }
  bool resumes_images() const { return resumes() && !start_.resume().of_areas(); }

  /// The processes that are started here: those that took no part in the checkpoint have left long
  /// before its image was made.
  std::vector<std::uint32_t> StartedPids() const;

  /// The processes here that take part; none before bsp_begin.
  std::vector<std::uint32_t> PidsTakingPart() const;

  /// Where it stands, for a coordinator that was restarted.
  proto::HeldJob Held() const;

  std::uint32_t running() const { return static_cast<std::uint32_t>(running_.size()); }
  bool ending() const { return ending_; }
  bool abandoned() const { return silent_; }

 private:
  enum class Stage { kPreparing, kRunning, kDone, kClearing };

  absl::Status StartProcesses();
  void OnBegun(Pid pid);
  void Clear();
  void Report(proto::WorkerEvent event);
  void ReportResumed();
  void ReportNotStarted(const proto::JobNotStarted& why);
  void ReportRestoreFailed(const proto::RestoreFailed& why);
  const proto::Host& place() const { return start_.hosts(static_cast<int>(node_)); }

  const HostedJobContext& context_;
  const proto::StartJob start_;
  const std::uint32_t node_;
  const JobId job_;
  const Epoch epoch_;
  std::function<void()> cleared_;
  Stage stage_ = Stage::kPreparing;
  bool ending_ = false;
  bool silent_ = false;
  bool not_started_ = false;
  bool broken_ = false;
  bool began_ = false;  ///< Processes were started, for all that is known.
  JobHost::Left kept_ = JobHost::Left::kNothing;
  std::string host_killed_for_;
  std::string not_brought_;  ///< Why the files of its checkpoint may not all be here.
  std::string files_lost_;   ///< Why they are, should they be wanted.
  std::set<Pid> running_;
  std::set<Pid> begun_;
  proto::JobStarted started_;
  std::vector<proto::ProcessExited> exited_;
  proto::JobCleared used_;  ///< By those that have ended, whyever.
  JobCheckpoints checkpoints_;
  const std::unique_ptr<JobHost> host_;  ///< Goes first: it may wait for the processes' end.
};

}  // namespace bspnow::worker

#endif  // WORKER_CORE_HOSTED_JOB_H_
