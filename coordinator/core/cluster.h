// What the coordinator decides: job table, barriers, checkpoints, recovery, workers and clients put
// together. Events come in as calls, on one thread; what follows goes out through the ports
// (ports.h), whose outcomes are events in turn. Knows no socket, file, thread, clock or gRPC: the
// daemon and tests/simulation run the same code.
#ifndef COORDINATOR_CORE_CLUSTER_H_
#define COORDINATOR_CORE_CLUSTER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include "base/ids.h"
#include "coordinator/core/attachment.h"
#include "coordinator/core/barriers.h"
#include "coordinator/core/caller.h"
#include "coordinator/core/checkpoints/checkpoint_policy.h"
#include "coordinator/core/checkpoints/job_checkpoints.h"
#include "coordinator/core/cluster_figures.h"
#include "coordinator/core/jobs/job_table.h"
#include "coordinator/core/live_job.h"
#include "coordinator/core/nodes.h"
#include "coordinator/core/peer_news.h"
#include "coordinator/core/ports.h"
#include "net/stream_key.h"
#include "proto/jobs.pb.h"
#include "proto/workers.pb.h"

namespace bspnow::coordinator {

/// That a job ends since its client wants it so, or has not come back.
struct ClientEnd {
  JobId job;
  ClientIdentity client;
  std::string how;  ///< "signal 2"
};

struct ClusterPorts {
  Timers& timers;
  Journal& journal;
  OutputLogs& logs;
  WorkerFrames& frames;
  /// The term has been raised: the coordinator is to be started with it.
  std::function<void()> start_anew;
  /// For the record of who ended what.
  std::function<void(const ClientEnd& end)> ended_by_client;
  /// Names one of these contents that is not here, or that this user has not uploaded, in this turn
  /// or a later one; empty: there is none.
  using Missing = std::function<void(const std::string& sha256)>;
  std::function<void(const std::string& user, std::set<std::string> contents, Missing missing)>
      find_missing;
  /// Whether what this user keeps here is within the quota; else what it is.
  std::function<absl::Status(const std::string& user)> has_room;
};

struct ClusterSettings {
  std::string barrier_address;  ///< HOST:PORT where workers connect their frame streams.
  CheckpointLimits checkpoint_limits;
  std::uint32_t checkpoint_copies;  ///< Of each image, beside the one on its own node.
  /// That workers and coordinator prove to each other, and may encrypt with.
  StreamKey stream_key{};
  /// Of this run alone: keys of jobs, and of workers' streams of barriers, are made of it.
  StreamKey own_key{};
  Quotas quotas{};
};

enum class Drain { kDrain, kUndrain };

class Cluster {
 public:
  /// Goes on with what the journal has.
  Cluster(ClusterPorts ports, ClusterSettings settings, const StoredState& stored);
  ~Cluster();

  /// The coordinator ends: whoever waits gets an error, nothing new is taken.
  void Close();

  // ---- Jobs -------------------------------------------------------------------------------------

  using OnSubmitted = LiveJob::OnSubmitted;
  /// Answers when the job is durable. The jobs that it starts after have to be the caller's.
  void Submit(const Caller& caller, proto::SubmitJobRequest request, OnSubmitted answer);

  using OnJob = LiveJob::OnJob;
  /// Answers when the job has ended, unless StopWaiting comes first.
  WaitId Wait(JobId job, OnJob answer);
  void StopWaiting(WaitId wait);

  using OnList = std::function<void(absl::StatusOr<proto::ListJobsReply>)>;
  /// A page of them.
  void List(const proto::ListJobsRequest& request, OnList answer) {
    List(
        request, [](const proto::Job& job) { return job; }, std::move(answer));
  }
  /// The same of what `extract` copies of each: a job may have thousands of files.
  using Extract = proto::Job (*)(const proto::Job& job);
  void List(const proto::ListJobsRequest& request, Extract extract, OnList answer);
  /// Calls `then` when the calls below know this job, should there be such a one: it is read from
  /// the history if it ended long ago. `then` is to call no more than one of them.
  void Recall(JobId job, std::function<void()> then);

  absl::StatusOr<proto::Job> Show(JobId job) const;
  /// The user whose it is.
  absl::StatusOr<std::string> OwnerOf(JobId job) const;
  /// As `user` wishes, whom the job's reason names: an administrator may end another's. Answers
  /// when that is durable, or refused: it is done all the same.
  void Cancel(JobId job, const std::string& user, const OnJob& answer);
  /// Answers when a checkpoint of what runs now is committed; ABORTED if it was given up. After
  /// StopWaiting, of this one or the next, nobody is answered, and it is not begun any more.
  WaitId Checkpoint(JobId job, OnJob answer);
  /// Answers when the job is suspended; ABORTED if it could not be saved.
  WaitId Suspend(JobId job, OnJob answer);
  /// Answers as Cancel does.
  void Resume(JobId job, const OnJob& answer);
  /// Answers when it is durable, or refused.
  void Alter(const proto::AlterJobRequest& request, const OnJob& answer);
  /// OK if there is such a log.
  absl::Status MayReadLog(const proto::ReadLogRequest& request) const;
  /// OK once the job has ended.
  absl::Status MayFetchFiles(JobId job) const;
  /// The same of its profile. Its program's content.
  absl::StatusOr<std::string> MayReadProfile(JobId job) const;

  // ---- Clients that stay with their job: cluster_clients.cc -------------------------------------

  /// To the client that submitted it, as its key shows; an earlier stream of it is closed.
  absl::Status Attach(JobId job, const std::string& submission_key,
                      std::shared_ptr<AttachedClient> client);
  absl::Status OnInput(JobId job, InputChunk chunk);
  void OnSignal(JobId job, int signal);
  /// It does not come back.
  void OnClientLeft(JobId job, const AttachedClient* client);
  /// It may come back.
  void OnClientLost(JobId job, const AttachedClient* client);

  // ---- Nodes ------------------------------------------------------------------------------------

  proto::ListNodesReply ListNodes() const;
  void SetDrained(const std::string& name, Drain drain,
                  std::function<void(absl::StatusOr<proto::Node>)> answer);
  /// One that is gone is not shown any more.
  void ForgetNode(const std::string& name, std::function<void(absl::StatusOr<proto::Node>)> answer);

  // ---- Parameters -------------------------------------------------------------------------------

  void StoreParameters(proto::MachineParameters parameters,
                       std::function<void(absl::Status)> answer);
  absl::StatusOr<proto::MachineParameters> ShowParameters(std::uint32_t p) const;

  // ---- Workers ----------------------------------------------------------------------------------

  absl::StatusOr<proto::RegisterReply> Register(const proto::RegisterRequest& request);
  absl::Status AttachWorker(const proto::WorkerEvent& first, std::shared_ptr<OrderSink> sink);
  /// An error is the worker's: its stream is to be closed with it.
  absl::Status OnEvent(WorkerId worker, proto::WorkerEvent event);
  void OnStreamBroken(WorkerId worker, const OrderSink* sink);
  /// OK while files of this job may come.
  absl::Status MayStoreFiles(JobId job) const;
  /// They came, or why not.
  void OnFilesTaken(JobId job, const absl::Status& taken);

  // ---- To look at: cluster_figures.cc -----------------------------------------------------------

  ClusterFigures Figures() const;
  const JobTable& table() const { return table_; }
  Barriers& barriers() { return barriers_; }

 private:
  BarrierEvents EventsOfBarriers();
  void Restore(const StoredState& stored);

  // ---- Submissions: cluster_submissions.cc ------------------------------------------------------

  struct Submitting;
  absl::Status CheckSubmission(const Caller& caller, const proto::SubmitJobRequest& request) const;
  /// Its processes have what `bsp probe` has stored for their p, unless they have another machine.
  void TellMachine(proto::JobSpec& spec) const;
  absl::Status CheckQuotas(const proto::SubmitJobRequest& request) const;
  void CheckAfter(const std::shared_ptr<Submitting>& submitting, int next);
  void Accept(Submitting& submitting);
  void RecallOutcome(JobId job);
  void RecallOutcomesAgain();

  static absl::Status ShuttingDown();
  void Perform(JobOrders orders);
  void MakeOutputDurable(const FinishedJob& finished);
  void Start(const StartOrder& order);
  void Clear(JobId job);
  void OnEnded(JobId job);
  void SetDeadline();
  void PostPass();

  // ---- The journal: cluster_storing.cc ----------------------------------------------------------

  void Store(JobTransition transition);
  /// A transition of one of these jobs, or of all elements of a new array.
  void OnStored(std::uint64_t sequence, const std::vector<JobId>& jobs, const absl::Status& status);
  void OnRefused(std::uint64_t sequence, const std::vector<JobId>& jobs,
                 const absl::Status& status);
  std::vector<OnSubmitted> TakeSubmissions(JobId job);
  void AnswerWhenStored(JobId job, const OnJob& answer);
  /// `stored`: whether the journal has taken its last transition.
  absl::StatusOr<proto::Job> ShowStored(JobId job, const absl::Status& stored) const;

  void AdoptJobs();
  static absl::Status CheckNamesake(const Node& earlier, const proto::RegisterRequest& request);
  absl::Status CheckPredecessor(const std::string& name, const Node* earlier) const;
  absl::Status TakeHigherTerm(const proto::RegisterRequest& request);
  proto::RegisterReply RefuseStranger(const proto::RegisterRequest& request);
  absl::Status RefuseUnfit(const proto::RegisterRequest& request);
  proto::RegisterReply JoinNode(Node& node);
  proto::RegisterReply AdoptNode(Node& node);
  void OnStreamStands();
  void Lose(WorkerId worker, const std::string& reason);
  void OnOutput(Node& node, proto::WorkerEvent& event);
  void OnLogged(WorkerId worker, std::uint64_t sequence);
  RunningEpoch* RunningOf(const proto::WorkerEvent& event);
  std::uint64_t SinceNs(std::uint64_t for_ms) const;
  void OnBarrierWait(const Node& node, const proto::WorkerEvent& event);
  void OnGroupsOpen(const Node& node, const proto::WorkerEvent& event);
  JobOrders OnStandStill(const Node& node, const proto::WorkerEvent& event);
  void OnPeersProbed(Node& node, const proto::PeersProbed& probed);
  JobOrders OnLeaving(Node& node);
  bool MayLeave(const Node& node) const;
  void LetLeave();
  void ForgetLeftNodes();
  JobOrders OnJobEvent(Node& node, const proto::WorkerEvent& event);
  JobOrders SendInput(JobId id, LiveJob& job);
  void PerformOfClient(ClientEnd end, const std::function<JobOrders()>& act);
  void EndAbandoned();

  // ---- Checkpoints: cluster_checkpoints.cc ------------------------------------------------------

  /// `attach_ns`: for its client to come, if there is to be one.
  LiveJob& AddJob(JobId id, const proto::JobSpec& spec, std::uint64_t attach_ns);
  LiveJob* FindLive(JobId job);
  const LiveJob* FindLive(JobId job) const;
  std::vector<std::pair<JobId, LiveJob*>> LiveJobs();
  ReleaseDirective OnSuperstepOver(JobId job, Epoch epoch, Superstep next);
  void OnProgressed(JobId job, Epoch epoch, Superstep next);
  ReleaseDirective TakeCheckpoint(JobId id, LiveJob& job, Superstep next);
  void OrderCheckpoint(JobId job, Superstep next);
  void Request(JobId job, CheckpointRequest request);
  static bool IsCheckpointEvent(const proto::WorkerEvent& event);
  JobOrders OnCheckpointEvent(const Node& node, const proto::WorkerEvent& event);
  void ForgetImages(const Node& node, const proto::WorkerEvent& event);
  JobOrders OnImagesStored(const Node& node, const proto::WorkerEvent& event);
  JobOrders PerformCheckpoint(JobId job, CheckpointOrders orders);
  JobOrders OnCheckpointEnd(JobId job, const CheckpointOrders::End& end);
  void GiveUpIfSilent(JobId id, LiveJob& job);
  void GiveUpSilent();
  void StoreNumbers(JobId id, const CheckpointCatalogue& catalogue);
  JobOrders ServeRequests(JobId id, LiveJob& job, const CheckpointOrders::End& end);
  void Commit(JobId job, CheckpointCatalogue catalogue);
  void OnOutputSynced(JobId job, Epoch epoch, const CheckpointCatalogue& catalogue,
                      const absl::Status& synced);
  /// `cost`: of a checkpoint that has not ended for the policy yet.
  void WriteCatalogue(JobId job, CheckpointCatalogue catalogue, const CheckpointCost& cost,
                      Journal::Done done);
  void WriteCommit(JobId job, const CheckpointCatalogue& catalogue);
  void FailCommit(JobId job, std::uint64_t number, const std::string& what,
                  const absl::Status& cause);
  void SendKeeps(JobId job, const std::vector<CheckpointOrders::Keep>& keeps);
  void SendReleases(JobId job, Epoch epoch,
                    const std::vector<CheckpointOrders::ReleaseHeld>& release_held);
  void MoveJobsFrom(const std::vector<WorkerId>& workers);
  absl::Status MayForget(const std::string& name) const;
  absl::StatusOr<proto::Node> NodeNamed(const std::string& name) const;
  void LeaveClosedNodes();
  bool MayMove(JobId job) const;
  void Move(JobId job, JobTable::SpareRoom& room);
  void ServeWithoutCheckpoint(JobId id, LiveJob& job);
  void AnswerSuspended(JobId job);
  absl::Status MayCheckpoint(JobId job) const;
  absl::Status MaySuspend(JobId job) const;
  void BeginSuspending(JobId job, CheckpointRequest request);
  void EndCheckpoints(JobId job);
  /// Where images are to be had,
  const LiveNodes& ImageNodes() const { return image_nodes_; }
  /// and will be: without workers that are about to end, and their disks.
  LiveNodes StayingNodes() const;
  void KeepFigures(JobId job);
  void OnTotals(JobId job);

  // ---- Going back: cluster_recovery.cc ----------------------------------------------------------

  void RestoreCheckpoints(const StoredState& stored);
  void AbandonEpoch(JobId job, Epoch epoch);
  bool IsStarting(JobId id, const LiveJob& job) const;
  void Prepare(JobId job);
  bool WaitsForLeases(const LiveJob& job);
  bool WaitsForHolders(JobId id, LiveJob& job);
  void PrepareLater(std::uint64_t after_ms);
  void CutBack(JobId id, LiveJob& job, const coordinator::Checkpoint* from);
  void OnNotForgotten(JobId job, Epoch epoch, const absl::Status& refusal);
  void OnCutBack(JobId job, Epoch epoch, const absl::StatusOr<LogCut>& cut);
  void GoFurtherBack(JobId id, LiveJob& job, std::uint64_t missing_bytes);
  void Launch(const StartOrder& order, const coordinator::Checkpoint* from);
  void OnRecovering(JobId job);
  void OnReturned(JobId job);
  void OnPaused(std::uint64_t ns);
  proto::JobTotals LastTotals(const JobRecord& record);
  JobOrders OnHostRuns(const Node& node, const proto::WorkerEvent& event);
  JobOrders OnRestoreFailed(const Node& node, const proto::WorkerEvent& event);
  bool HoldersAnswer(const coordinator::Checkpoint& checkpoint);
  /// Instead of orders to workers that know nothing of this epoch yet.
  bool EndsUnstarted(const EndOrder& order);
  void OnStoredJobs(Node& node);
  void KeepUnknown(Node& node, std::vector<JobId> unknown);
  void OnHolderLost(const std::string& node);
  /// A line of the launcher in the job's output.
  void Say(JobId job, const std::string& text);

  // ---- For the metrics: cluster_figures.cc ------------------------------------------------------

  SuperstepRecorders RecordersOf(const LiveJob& job) const {
    return {.of_job = job.counters.superstep_ns, .of_all = superstep_histograms_};
  }
  /// It starts for the first time.
  void CountQueued(const proto::Job& started);
  JobFigures FiguresOf(const Job& entry) const;
  void KeepEnded(JobId job);

  void Tick();
  /// To the journal, of all jobs that run and were stored at that time or before it.
  void StoreProgress(std::uint64_t stored_by_ns);
  Moment Now() const { return ports_.timers.Now(); }
  std::uint64_t NowNs() const { return Now().now_ns; }

  absl::StatusOr<const JobRecord*> FindJob(JobId job) const;
  /// What the history has of a job, or why that is not known.
  struct Recalled {
    JobId job;
    absl::StatusOr<JobRecord> record;
    bool damaged = false;  ///< Nobody will ever know.
  };
  Recalled RecalledFrom(const absl::StatusOr<HistoryPage>& found, JobId job);
  std::string WhyItIsStillThere(const coordinator::Job& job) const;
  proto::Job Message(const JobRecord& record) const { return Completed(record, record.job()); }
  /// A copy of the record's job, or of a part of it, with what stands elsewhere.
  proto::Job Completed(const JobRecord& record, proto::Job job) const;

  const ClusterPorts ports_;
  const ClusterSettings settings_;
  bool closed_ = false;

  Nodes nodes_;
  LiveNodes image_nodes_;  ///< Of those that are up.
  JobTable table_;
  std::optional<Recalled> recalled_;  ///< While a Recall calls `then`.
  std::string history_failure_;       ///< The last one; empty: it was read.
  struct Unrecalled {
    std::string why;
    bool asked = false;  ///< The history is, and has not answered.
  };
  /// Jobs that others start after: why it is not known yet how they ended.
  std::map<JobId, Unrecalled> unrecalled_;
  const std::string cluster_id_;
  std::uint64_t term_ = 0;
  const std::uint64_t term_key_;
  bool raises_term_ = false;
  std::set<std::string> strangers_;  ///< Names of workers of other clusters that have been refused.
  std::vector<proto::MachineParameters> parameters_;

  std::uint64_t streams_stood_ = 0;  ///< All that came to stand.
  std::uint64_t last_wait_ = 0;
  std::uint64_t last_transition_ = 0;  ///< That the journal was given.
  std::uint64_t output_bytes_of_all_ = 0;
  struct EndedJob {
    std::uint64_t ended_ns;
    JobFigures figures;
  };

  CheckpointFigures checkpoint_figures_;
  QueueFigures queue_figures_;
  const std::shared_ptr<SuperstepHistograms> superstep_histograms_ =
      std::make_shared<SuperstepHistograms>();
  std::deque<EndedJob> ended_figures_;  ///< Of the last kEndedShownNs, at most kEndedShownMax.
  CoreTimer deadline_ = kNoCoreTimer;
  std::uint64_t deadline_ns_ = kNoEnd;  ///< When it is due.
  bool pass_posted_ = false;            ///< Of the scheduler.
  CoreTimer tick_ = kNoCoreTimer;
  CoreTimer prepare_timer_ = kNoCoreTimer;
  std::uint64_t started_ns_ = 0;
  bool awaits_hosts_ = false;  ///< Jobs may have run when this coordinator was started.
  PeerNews peer_news_;
  Barriers barriers_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_CLUSTER_H_
