// The coordinator of the simulation: JobTable, Barrier, Leases and JobCheckpoints as they are, and
// a rim that does what coordinator/cluster*.cc do. What it has stored outlives it (SimJournal).
#ifndef TESTS_SIMULATION_SIM_COORDINATOR_H_
#define TESTS_SIMULATION_SIM_COORDINATOR_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/barrier.h"
#include "coordinator/core/checkpoints/checkpoint_policy.h"
#include "coordinator/core/checkpoints/job_checkpoints.h"
#include "coordinator/core/jobs/job_table.h"
#include "coordinator/core/leases.h"
#include "tests/simulation/sim_journal.h"
#include "tests/simulation/sim_link.h"
#include "tests/simulation/sim_node.h"
#include "tests/simulation/sim_oracle.h"

namespace bspnow {

class SimWorkerPort;

using SimOrder = std::function<void(SimWorkerPort&)>;

/// RegisterRequest and RegisterReply.
struct SimRegistration {
  std::string name;
  std::uint32_t slots;
  std::uint64_t incarnation;
  WorkerId previous;
  std::vector<HeldEpoch> held;
  std::map<JobId, std::set<std::uint64_t>> stored;
  SimWorkerPort* port;
};
struct SimRegistered {
  std::string refusal;  ///< Not empty: try again later.
  WorkerId worker{0};
  std::uint32_t term = 0;
  std::vector<JobId> keep{};
};

/// What the coordinator says to a worker.
class SimWorkerPort {
 public:
  using Link = std::shared_ptr<SimLink>;

  virtual void OnOrder(const Link& control, std::uint64_t sequence, const SimOrder& order) = 0;
  virtual void OnAcknowledge(const Link& control, std::uint64_t sequence) = 0;
  virtual void OnForgotten(const Link& control) = 0;

  virtual void OnStart(const StartOrder& order, const std::string& spec,
                       const std::optional<SimResume>& resume) = 0;
  virtual void OnEnd(const EndOrder& order) = 0;
  virtual void OnTakeCheckpoint(JobId job, Epoch epoch, const ReleaseDirective& directive) = 0;
  virtual void OnCopy(JobId job, const CheckpointOrders::Copy& copy) = 0;
  virtual void OnKeep(JobId job, const std::vector<std::uint64_t>& checkpoints) = 0;
  virtual void OnLetGo(JobId job, Epoch epoch, std::uint64_t checkpoint) = 0;

  virtual void OnWelcome(const Link& link) = 0;
  virtual void OnLease(const Link& link, std::uint64_t sent_ns) = 0;
  virtual void OnBegin(JobId job, Epoch epoch, std::uint32_t processes) = 0;
  virtual void OnRelease(JobId job, Epoch epoch, std::vector<std::byte> release) = 0;

 protected:
  ~SimWorkerPort() = default;
};

class SimCoordinator {
 public:
  using Link = std::shared_ptr<SimLink>;
  using OnJob = std::function<void(JobId)>;
  /// Whether anything of the job is left on the nodes of these workers.
  using IsLeft = std::function<bool(JobId, const std::vector<WorkerId>&)>;

  SimCoordinator(SimLoop& loop, SimOracle& oracle, SimJournal& journal, IsLeft is_left);

  /// Its machine loses power. What is being written may be on the disk or not.
  void Die();
  /// Another one has taken its place, unknown to it: nobody can connect, nothing is written.
  void CutConnections();
  bool superseded() const { return journal_.term != term_; }
  bool dead() const { return dead_; }
  bool paused() const { return actor_->pauses != 0; }
  const SimLoop::ActorPtr& actor() const { return actor_; }
  const JobTable& table() const { return table_; }

  // ---- Clients; the answer comes when the submission is durable.

  void Submit(const JobRequest& request, const std::string& key, OnJob acknowledged);
  void Cancel(JobId job) { Perform(table_.OnCancel(job, "cancelled", Now())); }
  void Signal(JobId job, int signal) { Perform(table_.OnSignal(job, signal, Now())); }
  void Checkpoint(JobId job);
  void Suspend(JobId job);
  void Resume(JobId job);
  enum class Turn { kAway, kBack };
  void SetDrained(const std::string& node, Turn turn);

  // ---- Workers.

  SimRegistered Register(const SimRegistration& request);
  void AttachWorker(WorkerId id, std::uint64_t incarnation, std::uint32_t term,
                    std::uint64_t orders_taken, const Link& control, SimWorkerPort& port);
  void OnEvent(WorkerId id, const Link& control, std::uint64_t sequence, std::uint64_t orders_taken,
               const SimEvent& event);

  // ---- What they report.

  void OnBegun(JobId job, Epoch epoch, Pid pid) { Perform(table_.OnBegun(job, epoch, pid, Now())); }
  void OnExited(JobId job, Epoch epoch, Pid pid, const ProcessEnd& end) {
    Perform(table_.OnExited(job, epoch, pid, end, Now()));
  }
  void OnCleared(JobId job, Epoch epoch, WorkerId worker) {
    Perform(table_.OnCleared(job, epoch, worker, Now()));
  }
  void OnOutput(WorkerId worker, JobId job, Epoch epoch, const SimOutput& output);
  void OnHostRuns(JobId job, Epoch epoch, WorkerId worker);
  void OnRestoreFailed(JobId job, Epoch epoch, std::uint64_t checkpoint,
                       const std::vector<std::uint32_t>& missing);
  void OnImagesStored(WorkerId worker, JobId job, const JobCheckpoints::Stored& stored);
  void OnImagesFailed(WorkerId worker, JobId job, std::uint64_t checkpoint,
                      const std::string& reason);
  void OnImagesCopied(WorkerId worker, JobId job, std::uint64_t checkpoint,
                      const std::string& to_node, const std::string& failure);

  // ---- Frames.

  void OnHello(WorkerId worker, std::uint64_t incarnation, std::uint32_t term, const Link& link);
  void OnHeartbeat(WorkerId worker, const Link& link, std::uint64_t sent_ns);
  void OnBeginFrame(WorkerId worker, JobId job, Epoch epoch, std::uint32_t processes);
  void OnArrive(WorkerId worker, JobId job, Epoch epoch, const std::vector<std::byte>& payload);
  void OnProgress(JobId job, Epoch epoch, std::uint64_t supersteps);

 private:
  struct Worker {
    std::string name;
    std::uint32_t slots;
    std::uint64_t incarnation;
    SimWorkerPort* port;
    SimRegistered reply;
    bool attached = false;  ///< Has been.
    Link control;
    Link frames;
    std::deque<SimOrder> untaken{};
    std::uint64_t last_order = 0;
    std::uint64_t last_event = 0;
    /// Events whose output is being written, and those (not empty) that came behind them.
    std::deque<std::pair<std::uint64_t, std::optional<SimEvent>>> in_log{};
  };
  struct Running {
    Epoch epoch;
    Barrier barrier;
    std::uint64_t first_superstep;
    std::uint64_t superstep;  ///< As shown.
  };
  struct Wish {
    enum class Kind { kCheckpoint, kSuspend, kMove } kind;
    std::uint64_t number = 0;  ///< Of the checkpoint that serves it; 0: it has not begun.
  };
  /// As coordinator/core/checkpoints/checkpointed_job.h.
  struct Saved {
    CheckpointPolicy policy;
    JobCheckpoints checkpoints;
    Epoch epoch{0};
    bool from_main = true;
    std::vector<Wish> wishes{};
    std::uint32_t failures_with_one = 0;
    std::optional<StartOrder> starting{};
    std::uint64_t resumes_from = 0;
    bool cutting = false;
    std::uint64_t waits_since_ns = 0;

    bool HasPendingWish() const;
    void CountCopies(const LiveNodes& live);
  };

  Moment Now() const {
    return {.now_ns = loop_.now_ns(),
            .unix_ms = static_cast<std::int64_t>(loop_.now_ns() / kMillisecond)};
  }
  const JobRequest& RequestOf(const JobRecord& record) const {
    return journal_.specs.at(record.spec).request;
  }

  void Restore();
  void Trace(const JobOrders& orders) const;
  void Perform(JobOrders orders);
  void Store(JobTransition transition);
  void Start(const StartOrder& order);
  void Clear(JobId job);
  void OnEnded(JobId job);
  void CheckOrder(const JobRecord& placed) const;
  void CheckNothingLeft(JobId job) const;
  void Tick();
  void SetDeadline();
  void OnDeadline(std::uint64_t due_ns);

  std::string CheckPredecessor(const Worker* earlier, WorkerId id) const;
  SchedulerNode NodeOf(WorkerId id, const Worker& worker) const;
  void Lose(WorkerId worker, const std::string& reason);
  Worker* FindWorker(WorkerId id);
  std::pair<const WorkerId, Worker>* FindByName(const std::string& name);
  void Order(WorkerId worker, SimOrder order);
  void SendOrder(const Worker& worker, std::uint64_t sequence, const SimOrder& order);
  void Acknowledge(const Worker& worker);
  void OnLogged(WorkerId id);
  void Frames(WorkerId worker, std::function<void(SimWorkerPort&)> say);

  Running* Lookup(JobId job, Epoch epoch);
  void OnSuperstepOver(JobId job, Running& running, std::uint64_t superstep);
  void SendRelease(JobId job, const Running& running, std::size_t host);

  Saved* FindSaved(JobId job);
  Saved& AddSaved(JobId job, const std::string& spec);
  LiveNodes ImageNodes() const;
  ReleaseDirective TakeCheckpoint(JobId id, Saved& job, std::uint64_t next);
  void TakeOfLoneHost(JobId id, std::uint64_t next);
  void Request(JobId id, Wish::Kind kind);
  JobOrders PerformCheckpoint(JobId job, CheckpointOrders orders);
  void SendKeeps(JobId job, const std::vector<CheckpointOrders::Keep>& keeps);
  void SendLetGo(JobId job, Epoch epoch, const std::vector<CheckpointOrders::LetGo>& let_go);
  void Commit(JobId id, const CheckpointCatalogue& catalogue);
  void StoreNumbers(JobId id, const CheckpointCatalogue& catalogue);
  JobOrders OnCheckpointEnd(JobId id, const CheckpointOrders::End& end);
  JobOrders ServeWishes(JobId id, Saved& job, const CheckpointOrders::End& end);
  void MoveJobsFrom(WorkerId worker);
  void EndCheckpoints(JobId id);

  void OnReturned(JobId id);
  void OnStoredJobs(const std::string& node,
                    const std::map<JobId, std::set<std::uint64_t>>& stored);
  void OnHolderLost(const std::string& node);
  void AbandonEpoch(JobId id);
  void Prepare(JobId id);
  bool WaitsForHolders(JobId id, Saved& job);
  void CutBack(JobId id, Saved& job, const bspnow::Checkpoint* from);
  Written CutLog(JobId id, const std::map<std::uint32_t, std::uint64_t>& words);
  void OnCutBack(JobId id, Epoch epoch, Written written);
  void Launch(const StartOrder& order, const bspnow::Checkpoint* from);
  std::optional<SimResume> ResumeFrom(const Saved& job, const bspnow::Checkpoint* from) const;
  bool EndsUnstarted(const EndOrder& order);
  bool HoldersAnswer(const bspnow::Checkpoint& checkpoint);

  SimLoop& loop_;
  SimOracle& oracle_;
  SimJournal& journal_;
  const IsLeft is_left_;
  const std::uint32_t term_;
  SimLoop::ActorPtr actor_ = std::make_shared<SimLoop::Actor>();
  JobTable table_;
  Leases leases_{kLeaseLimits};
  SimWriter writer_;      ///< Of the journal.
  SimWriter log_writer_;  ///< Of the jobs' output.
  std::map<WorkerId, Worker> workers_;
  std::map<JobId, Running> running_;
  std::map<JobId, Saved> saved_;
  std::set<std::string> drained_;
  std::multimap<JobId, OnJob> submissions_;
  std::uint32_t last_worker_;
  std::uint64_t started_ns_;
  std::uint64_t last_tick_ns_;
  std::uint64_t deadline_ns_ = kNoEnd;
  bool awaits_hosts_ = false;
  bool dead_ = false;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_COORDINATOR_H_
