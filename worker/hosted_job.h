// One job on this node, from the order to start it until nothing of it is left: directory, segment,
// bsp-host, exchange. Tells the coordinator what happens; decides nothing about the job itself.
// Lives on the loop's thread; what waits for disk or network happens on WorkThreads.
#ifndef WORKER_HOSTED_JOB_H_
#define WORKER_HOSTED_JOB_H_

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "proto/workers.pb.h"
#include "worker/blob_cache.h"
#include "worker/checkpoint_keeper.h"
#include "worker/checkpoint_restore.h"
#include "worker/exchange/data_plane.h"
#include "worker/host_link.h"
#include "worker/images/image_store.h"
#include "worker/images/image_transfer.h"
#include "worker/input_pipe.h"
#include "worker/job_checkpoints.h"
#include "worker/job_directory.h"
#include "worker/limits.h"
#include "worker/node_segment.h"
#include "worker/work_threads.h"

namespace bspnow {

/// What all hosted jobs work with; outlives them.
struct HostingContext {
  EventLoop& loop;
  DataPlane& data_plane;
  BlobCache& cache;
  WorkThreads& threads;
  ImageStore& images;
  ImageTransfer& transfer;
  const RaisedLimits& limits;
  std::string jobs_directory;
  std::string host_program;
  std::string restore_program;  ///< bsp-restore.
  std::uint32_t processors;
  std::uint64_t memory_bytes;     ///< Of the machine.
  std::uint64_t files_bytes_max;  ///< Of one job, that are sent at its end.
  std::function<void(proto::WorkerEvent)> report;
  /// On one of the threads.
  std::function<absl::Status(JobId, const std::string& directory, const std::vector<LeftFile>&)>
      store_files;
  // Set by HostedJobs:
  std::function<std::uint64_t()> address_space_bytes{};  ///< That one more segment may take.
  std::function<std::uint64_t()> lease_until_ns{};
  CheckpointKeeper* keeper = nullptr;
};

/// What this node is to one job.
struct HostedJobPlan {
  proto::StartJob start;
  std::uint32_t node;  ///< Index of this worker in start.hosts().
};

class HostedJob {
 public:
  /// `cleared` is called when nothing of the job is left here; the owner may destroy it in that.
  HostedJob(HostingContext& context, HostedJobPlan plan, std::function<void()> cleared);
  ~HostedJob();
  HostedJob(const HostedJob&) = delete;
  HostedJob& operator=(const HostedJob&) = delete;

  /// Begins. Its end, too, is the coordinator's to order.
  void Start();

  void Signal(int signal);
  void OnInput(const proto::Input& input);

  /// Output has reached the job's log; what it took of the credit is free again.
  void OnOutputKept(std::uint64_t credit_bytes);

  /// Its superstep path failed, or the worker ends.
  void ReportBroken(ExchangeFault fault, const std::string& reason);

  void TakeCheckpoint(const proto::TakeCheckpoint& order);

  /// Processes that wait behind this checkpoint go on without it.
  void LetGo(std::uint64_t checkpoint);

  void SetLease(std::uint64_t until_ns);

  /// Where it stands, for a coordinator that was restarted.
  proto::HeldJob Held() const;

  /// The processes here that take part; none before bsp_begin.
  std::vector<std::uint32_t> PidsTakingPart() const;

  enum class Files { kKeep, kDrop };

  /// Kills what runs, sends the files if they are to be kept, clears up. The first call counts.
  void End(Files files);

  /// Nobody wants to hear of it any more: ends it, and reports nothing.
  void Abandon();

  std::uint32_t running() const { return static_cast<std::uint32_t>(running_.size()); }
  pid_t host_os_pid() const { return host_ ? host_->os_pid() : 0; }
  bool abandoned() const { return silent_; }
  std::uint64_t segment_bytes() const { return segment_ ? segment_->bytes() : 0; }

 private:
  enum class Stage { kPreparing, kRunning, kDone, kClearing };

  /// What is done on one of the threads before the processes start.
  struct Prepared {
    absl::StatusOr<JobDirectory> directory;
    PreparedRestore restore{};
  };

  Prepared Prepare() const;
  void OnPrepared(Prepared prepared);
  absl::Status StartProcesses(std::vector<proto::HostedProcess> processes);
  void HoldWithoutProcesses();
  absl::Status MakeSegment();
  proto::HostPlan PlanForHost(std::vector<proto::HostedProcess> processes) const;
  void OnHostEvent(proto::WorkerEvent event);
  void OnExited(proto::ProcessExited& exited);
  void OnGone();
  void StopExchange();
  void Clear();
  void KeepFiles(const JobDirectory& directory) const;
  void Report(proto::WorkerEvent event);
  void ReportNotStarted(int exit_status, std::string reason);
  void ReportRestoreFailed(const PreparedRestore& restore);
  bool HasPidZero() const;
  std::vector<std::uint32_t> pids() const;
  std::vector<std::uint32_t> started_pids() const;
  bool resumes() const { return plan_.start.has_resume(); }
  bool resumes_images() const { return resumes() && !plan_.start.resume().of_areas(); }

  HostingContext& context_;
  const HostedJobPlan plan_;
  const JobId job_;
  const Epoch epoch_;
  const std::function<void()> cleared_;
  Stage stage_ = Stage::kPreparing;
  bool ending_ = false;
  bool silent_ = false;
  bool not_started_ = false;
  Files files_ = Files::kDrop;
  std::optional<JobDirectory> directory_;
  std::unique_ptr<NodeSegment> segment_;
  UniqueFd doorbell_;
  bool exchanging_ = false;  ///< The data plane knows the job.
  std::unique_ptr<InputPipe> input_;
  std::unique_ptr<HostLink> host_;
  std::set<Pid> running_;
  std::set<Pid> begun_;
  std::vector<proto::ProcessExited> exited_;
  JobCheckpoints checkpoints_;
};

}  // namespace bspnow

#endif  // WORKER_HOSTED_JOB_H_
