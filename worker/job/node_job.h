// What one job has on this node: directory, segment, bsp-host, exchange, standard input. Does what
// HostedJob decides. Lives on the loop's thread; what waits for disk or network happens on
// NodeThreads.
#ifndef WORKER_JOB_NODE_JOB_H_
#define WORKER_JOB_NODE_JOB_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/raised_limits.h"
#include "net/event_loop.h"
#include "worker/checkpoint/image_store.h"
#include "worker/checkpoint/image_transfer.h"
#include "worker/core/hosted_job.h"
#include "worker/core/job_host.h"
#include "worker/exchange/barrier_watch.h"
#include "worker/exchange/data_plane.h"
#include "worker/exchange/deadlock_watch.h"
#include "worker/exchange/doorbell_ends.h"
#include "worker/exchange/groups_watch.h"
#include "worker/exchange/node_segment.h"
#include "worker/exchange/standstill.h"
#include "worker/host/account.h"
#include "worker/host/host_link.h"
#include "worker/job/accounts.h"
#include "worker/job/blob_cache.h"
#include "worker/job/checkpoint_restore.h"
#include "worker/job/disk_watch.h"
#include "worker/job/input_pipe.h"
#include "worker/job/job_cgroup.h"
#include "worker/job/job_directory.h"
#include "worker/job/memory_kills.h"
#include "worker/rpc/open_calls.h"
#include "worker/work_threads.h"

namespace bspnow::worker {

/// What all jobs here work with; outlives them.
struct NodeParts {
  EventLoop& loop;
  DataPlane& data_plane;
  BlobCache& cache;
  NodeThreads& threads;
  ImageStore& images;
  ImageTransfer& transfer;
  const RaisedLimits& limits;
  std::string jobs_directory;
  std::string host_program;
  std::string restore_program;  ///< bsp-restore.
  Accounts& accounts;
  CgroupTrees cgroups;
  std::vector<std::string> memory_kills;  ///< See MemoryKills: where jobs have no groups.
  std::uint32_t processors;
  std::uint64_t memory_bytes;     ///< That jobs here may have in all.
  std::uint64_t files_bytes_max;  ///< Of one job, that are sent at its end.
  /// On one of the threads, both. Of the host with this number.
  std::function<absl::Status(JobId, std::uint32_t host, const std::string& profile)> store_profile;
  std::function<absl::Status(JobId, const std::vector<LeftFile>&, const LeftFileReader&)>
      store_files;
};

class NodeJob;

class NodeHosting final : public JobHosting {
 public:
  /// Clears directories, control groups and accounts of what an earlier run of the daemon left, and
  /// becomes the subreaper of what jobs leave if their bsp-host is killed.
  explicit NodeHosting(NodeParts parts);
  ~NodeHosting();

  std::unique_ptr<JobHost> Host(HostedJob& job) override;
  void RenewLease(std::uint64_t every_ms) override { parts_.data_plane.RenewLease(every_ms); }

 private:
  friend class NodeJob;

  std::optional<JobCgroup> MakeCgroup(JobId job, Epoch epoch, const JobLimits& limits) const;
  void EndCgroupOf(std::optional<JobCgroup>& cgroup);
  bool HasOlderEpoch(const NodeJob& job) const;
  void OnDirectoryGone(NodeJob& job);
  void Forget(NodeJob& job);
  void KillOrphans();
  void WatchDisk();
  void LookAtDisk();
  void OnDiskFilled(const FilledBy& who, const DiskRoom& room);
  std::uint64_t AddressSpaceBytes() const;

  const NodeParts parts_;
  const std::string cgroup_prefix_;       ///< Of the names of this worker's.
  std::vector<JobCgroup> ended_cgroups_;  ///< In which something is still dying.
  std::set<NodeJob*> jobs_;
  TimerId orphan_timer_ = kNoTimer;
  TimerId disk_timer_ = kNoTimer;
  bool looks_at_disk_ = false;  ///< On one of the threads.
  /// Till then none is started: the loop waits for each that does not begin, and several, one after
  /// another, would be longer than a lease.
  std::uint64_t host_silent_until_ns_ = 0;
};

class NodeJob final : public JobHost {
 public:
  NodeJob(NodeHosting& hosting, HostedJob& job);
  ~NodeJob() override;
  NodeJob(const NodeJob&) = delete;
  NodeJob& operator=(const NodeJob&) = delete;

  void Prepare() override;
  void StopPreparing() override;
  void BringFilesOnly() override { fetching_images_.Stop(); }
  absl::Status Start(std::uint64_t lease_until_ns) override;
  void Send(const proto::HostOrder& order) override;
  bool TakeInput(const proto::Input& input) override;
  void SetLease(std::uint64_t until_ns) override;
  void OrderImage(const proto::TakeCheckpoint& order) override;
  void ReleaseHeld(std::uint64_t checkpoint) override;
  void LookAgain(std::uint64_t look) override;
  void SayAgain() override;
  proto::HeldJob Progress() const override;
  void StopExchange() override;
  void Clear(Left kept) override;

  /// Of a job whose directory an older epoch had: that one has gone.
  void PrepareAfterOlder();

  JobId id() const { return id_; }
  Epoch epoch() const { return epoch_; }
  pid_t host_os_pid() const { return host_ ? host_->os_pid() : 0; }
  std::uint64_t segment_bytes() const { return segment_ ? segment_->bytes() : 0; }

  /// Nothing while none of its processes run.
  std::optional<JobFilesHere> FilesHere() const;
  /// The job ends by it.
  void EndForDisk(const FilledBy& who, const DiskRoom& room);
  bool ends_for_disk() const { return ends_for_disk_; }

 private:
  /// What is done on one of the threads before the processes start.
  struct Prepared {
    absl::StatusOr<JobDirectory> directory;
    std::optional<Account> account{};
    PreparedRestore restore{};
    absl::StatusOr<UniqueFd> input = UniqueFd();
  };

  void BeginPreparing();
  void PostNotPrepared(absl::Status why);
  absl::StatusOr<std::optional<Account>> TakeAccount() const;
  Prepared PrepareOnThread();
  absl::Status GiveFiles(const JobDirectory& directory, const Account& account) const;
  void OnPrepared(Prepared prepared);
  absl::StatusOr<UniqueFd> OpenInput(const JobDirectory& directory,
                                     const std::optional<Account>& account) const;
  absl::StatusOr<UniqueFd> TakeInputEnd();
  absl::StatusOr<NodeSegment> MakeSegment() const;
  /// By which processes and worker call each other, where the job has other nodes.
  absl::Status OpenDoorbell();
  /// The job gets its memory, and the data plane knows it.
  absl::Status OpenExchange(std::uint64_t lease_until_ns);
  proto::HostPlan PlanForHost();
  void OnHostEvent(proto::WorkerEvent event);
  void OnHostGone();
  JobLimits Limits() const;
  /// Of a process that was killed. If it had all that it may have, that ends the job; else this is
  /// for what it was killed, or nothing.
  std::string TellOfMemory();
  void Break(const std::string& reason);
  void WatchBarrier();
  void TellOfGroups(std::uint64_t now_ns);
  proto::StandStill Standstill() const;
  void TellOfStandstill(std::uint64_t now_ns);
  /// What became of the files that are to be kept.
  struct KeptFiles {
    absl::Status sent{};
    std::map<std::string, std::string> left_out{};  ///< "file a", "directory b", and why.
    /// Empty: none is lost.
    std::string Lost() const;
  };
  KeptFiles KeepFiles() const;
  std::string ProfileText(const NodeSegment& segment) const;
  void KeepProfileUntil(std::shared_ptr<const std::string> profile, Left kept,
                        std::uint64_t until_ns, std::uint64_t pause_ms);
  void KeepFilesUntil(std::uint64_t until_ns, std::uint64_t pause_ms);
  void RemoveDirectory(const std::string& files_lost);
  void ClearAccount() const;

  NodeHosting& hosting_;
  const NodeParts& parts_;
  HostedJob& job_;
  const JobId id_;
  const Epoch epoch_;
  bool awaits_older_epoch_ = false;
  OpenCalls preparing_;
  OpenCalls fetching_images_;
  /// Set by whoever answers Prepare: the thread that begins it, or who stops it before that.
  std::shared_ptr<std::atomic_flag> prepared_;
  std::optional<Account> account_;  ///< As whom its programs run; none: as the worker.
  std::optional<JobDirectory> directory_;
  absl::StatusOr<UniqueFd> input_file_ = UniqueFd();  ///< For pid 0; invalid: it has none.
  std::vector<proto::HostedProcess> resumed_;         ///< Empty: all begin in main.
  std::unique_ptr<NodeSegment> segment_;
  DoorbellEnds doorbell_;
  MailboxEnds mailbox_;
  bool exchanging_ = false;  ///< The data plane knows the job.
  std::vector<Pid> pids_;    ///< That run here.
  BarrierWatch watch_{0};
  GroupsWatch groups_watch_;
  DeadlockWatch deadlock_watch_;
  StandstillWatch standstill_watch_;
  std::uint64_t ordered_look_ = 0;  ///< To be answered; 0: none.
  TimerId watch_timer_ = kNoTimer;
  TimerId keep_timer_ = kNoTimer;
  std::unique_ptr<InputPipe> input_;
  std::optional<JobCgroup> cgroup_;
  MemoryKills kills_here_;  ///< Of anybody's processes.
  std::unique_ptr<HostLink> host_;
  bool ends_for_disk_ = false;
};

}  // namespace bspnow::worker

#endif  // WORKER_JOB_NODE_JOB_H_
