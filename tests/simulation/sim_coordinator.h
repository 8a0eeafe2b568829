// The coordinator of the simulation: the core that the daemon runs (coordinator/core/cluster.h), on
// a seeded clock, network and disk. What it has stored outlives it (SimJournal).
#ifndef TESTS_SIMULATION_SIM_COORDINATOR_H_
#define TESTS_SIMULATION_SIM_COORDINATOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/cluster.h"
#include "tests/simulation/sim_copies.h"
#include "tests/simulation/sim_journal.h"
#include "tests/simulation/sim_link.h"
#include "tests/simulation/sim_oracle.h"
#include "tests/simulation/sim_store.h"

namespace bspnow {

using coordinator::Cluster;
using coordinator::CoreTimer;
using coordinator::Drain;
using coordinator::Journal;
using coordinator::Moment;
using coordinator::OutputLogs;
using coordinator::Timers;
using coordinator::WorkerFrames;

/// A frame on its way.
struct SimFrameBytes {
  FrameHeader header;
  std::vector<std::byte> payload;
};

/// The worker's end of its connections to a coordinator.
class SimWorkerPort {
 public:
  using Link = std::shared_ptr<SimLink>;

  virtual void OnOrder(const Link& control, const proto::Order& order) = 0;
  virtual void OnAcknowledge(const Link& control, std::uint64_t sequence) = 0;
  virtual void OnForgotten(const Link& control) = 0;
  virtual void OnFrame(const Link& link, const SimFrameBytes& frame) = 0;

 protected:
  ~SimWorkerPort() = default;
};

class SimCoordinator final : private Timers,
                             private Journal,
                             private OutputLogs,
                             private WorkerFrames {
 public:
  using Link = std::shared_ptr<SimLink>;
  using OnJob = std::function<void(JobId)>;
  /// What only the simulation sees: the nodes as they are.
  struct Nodes {
    /// Whether anything of the job is left on the nodes of these workers.
    std::function<bool(JobId, const std::vector<WorkerId>&)> has_any;
    /// Whether an epoch of the job that nobody has cleared away may go on anywhere.
    std::function<bool(JobId)> may_run;
    /// The images that lie on a node.
    std::function<const SimStore&(const std::string& node)> store;
    /// One of its processes dies.
    std::function<void(JobId)> kill_one_of;
    /// As ClusterPorts::start_anew.
    std::function<void(SimCoordinator&)> start_anew;
  };

  SimCoordinator(SimLoop& loop, SimOracle& oracle, SimJournal& journal, Nodes nodes);
  ~SimCoordinator() override;

  /// kill -9. What is being written may be on the disk or not.
  void Die();
  /// After its end: a log has lost some of what the disk had been made to keep.
  void DamageALog();
  /// As Die, and what was never synced may be lost.
  void LosePower();
  /// Nothing that is written to its journal, or to any log, returns any more.
  void HangJournal() { journal_hangs_ = true; }
  void HangLogs() { logs_hang_ = true; }
  bool hangs() const { return journal_hangs_ || logs_hang_; }
  /// Another one has taken its place, unknown to it: nobody can connect, nothing is written.
  void CutConnections();
  bool superseded() const { return journal_.runs != run_; }
  /// It has a journal of another cluster.
  bool strange() const { return journal_.is_strange(); }
  /// What it says is so.
  bool rules() const { return !superseded() && !strange(); }
  bool dead() const { return dead_; }
  bool paused() const { return actor_->pauses != 0; }
  const SimLoop::ActorPtr& actor() const { return actor_; }
  const JobTable& table() const { return cluster_->table(); }
  /// All is over: whoever has asked before, and has not gone, has his answer.
  void CheckAnswered() const;
  /// What its metrics have counted, into the oracle's statistics.
  void CountFigures();

  // ---- Clients; the answer comes when the submission is durable.

  void Submit(proto::SubmitJobRequest request, OnJob acknowledged);
  void Cancel(JobId job);
  void Signal(JobId job, int signal);
  void Checkpoint(JobId job);
  void Suspend(JobId job);
  void Resume(JobId job);
  void SetDrained(const std::string& node, Drain drain);
  void ForgetNode(const std::string& node);
  /// Its name, and what else `request` says.
  void Alter(proto::AlterJobRequest request);
  /// False if it is not the job's client.
  bool AttachClient(JobId job, const std::string& key,
                    std::shared_ptr<coordinator::AttachedClient> client);
  void SendInput(JobId job, coordinator::InputChunk chunk);
  void LoseClient(JobId job, const coordinator::AttachedClient* client);
  void LetClientLeave(JobId job, const coordinator::AttachedClient* client);

  // ---- Workers.

  absl::StatusOr<proto::RegisterReply> Register(const proto::RegisterRequest& request);
  /// Another daemon has been given this name by mistake, and its disk is full.
  void RegisterNamesake(const std::string& name);
  void AttachWorker(const proto::WorkerEvent& first, const Link& control, SimWorkerPort& port);
  void OnEvent(WorkerId id, const Link& control, const proto::WorkerEvent& event);
  void OnFrame(const Link& link, const SimFrameBytes& frame, SimWorkerPort& port);

 private:
  class ControlStream;
  struct FrameEnd {
    Link link;
    SimWorkerPort* port;
  };

  /// One event of the core, and what must hold after it.
  void Turn(const std::function<void()>& event);
  /// Who has this name, is connected, and is no other incarnation; 0: nobody.
  WorkerId Standing(const std::string& name, std::uint64_t but_for) const;
  void WaitForEnd(JobId job);
  /// A caller who waits for an answer; or not any longer, perhaps.
  using Ask = std::function<coordinator::WaitId(Cluster::OnJob answer)>;
  void AskAndGo(const std::string& what, const Ask& ask, const Cluster::OnJob& answer);
  /// `answer`, which is to come once.
  template <typename Answer>
  auto Owe(const std::string& what, Answer answer) {
    owed_[++last_owed_] = {.what = what, .since_ns = loop_.now_ns()};
    return [this, number = last_owed_, answer = std::move(answer)](const auto& outcome) {
      if (owed_.erase(number) == 0 && !let_go_.contains(number))
        oracle_.Fail("an answer comes twice");
      answer(outcome);
    };
  }
  void CountInRecovery(JobId job, const char* what);
  void CheckSaved(JobId job, const proto::Job& answered) const;
  void OnEnded(JobId job);
  void CheckNothingLeft(JobId job) const;
  void CheckAtOnce(const JobRecord& placed) const;
  void CheckQuota(const JobRecord& placed) const;
  void CheckOrder(const JobRecord& placed) const;
  void CheckReach(const JobRecord& placed) const;
  void CheckStart(const proto::StartJob& start) const;
  void CheckAfter(const proto::StartJob& start) const;
  void CheckLog(JobId job, const bspnow::Checkpoint& from) const;
  void CheckHolders(JobId job, const bspnow::Checkpoint& committed) const;
  void CheckCopies(JobId job, const std::string& catalogue) const;
  void CheckOutputBefore(const JobRecord& ended) const;
  bool IsSound(JobId job, const bspnow::Checkpoint& checkpoint) const;
  void CheckTimes(const proto::Job& job);
  const char* WaitOf(const JobRecord& record) const;
  void CheckWaits();
  using Row = std::function<void()>;  ///< Puts it into the journal.
  bool RefusesRow();
  absl::Status StoreRow(const Row& row);
  absl::Status RefuseRow(const Row& row);
  absl::Status WriteRow(const Row& row) { return RefusesRow() ? RefuseRow(row) : StoreRow(row); }
  void CheckKnown(const proto::Order& order) const;
  void CheckGivenUp(JobId job, const std::string& catalogue) const;
  void CheckAcknowledged(WorkerId worker, std::uint64_t sequence) const;
  void CheckLossy(JobId job) const;
  std::uint64_t AwakeNs() const { return loop_.now_ns() - actor_->paused_ns; }
  void CheckListened(WorkerId lost, const std::string& reason) const;
  SimWriter& LogWriterOf(JobId job);
  void Watch(const proto::Order& order);
  void WatchRelease(WorkerId worker, const FrameHeader& header, std::span<const std::byte> payload);
  /// Its newest in the journal; with number 0 if there is none.
  bspnow::Checkpoint StoredFor(JobId job) const;
  void CheckCatalogue(JobId job, const std::string& catalogue) const;
  void WatchCatalogue(JobId job, const std::string& catalogue);
  void OnHello(const Link& link, const SimFrameBytes& frame, SimWorkerPort& port);
  absl::Status AppendTo(JobId job, const LogRecord& record);
  absl::StatusOr<LogCut> CutLog(JobId job, const std::vector<LogPosition>& positions);

  // ---- The core's ports.

  Moment Now() const override;
  void Post(Event event) override;
  CoreTimer AddTimer(std::uint64_t after_ms, Event event) override;
  void CancelTimer(CoreTimer timer) override { timers_.erase(timer); }

  void WriteJobs(std::vector<JobRecord> records, Journal::Done done) override;
  void WriteCheckpoints(JobId job, std::string catalogue, Journal::Done done) override;
  void WriteDrained(std::string node, Journal::Done done) override;
  void WriteUndrained(std::string node, Journal::Done done) override;
  void WriteParameters(std::uint32_t p, std::string parameters, Journal::Done done) override;
  void RaiseTerm(std::uint64_t term, Journal::Done done) override;
  void Archive(const std::vector<JobId>&) override {}  // So many jobs no schedule has.
  void ReadHistory(JobId, std::size_t, FoundJobs found) override {
    found(coordinator::HistoryPage());
  }

  void Begin(JobId job) override { journal_.logs[job]; }
  void Append(JobId job, LogRecord record, OutputLogs::Done done) override;
  void Cut(JobId job, const std::vector<LogPosition>& positions, CutDone done) override;
  void Sync(JobId job, const std::vector<LogPosition>& reach, OutputLogs::Done done) override;
  void End(JobId) override {}
  std::string waits_for(JobId) const override { return ""; }

  void Send(WorkerId worker, const FrameHeader& header,
            std::span<const std::byte> payload) override;
  void Close(WorkerId worker, const char* reason) override;

  SimLoop& loop_;
  SimOracle& oracle_;
  SimJournal& journal_;
  const Nodes nodes_;
  SimLoop::ActorPtr actor_ = std::make_shared<SimLoop::Actor>();
  SimWriter writer_;  ///< Of the journal.
  /// Of the jobs' output: what is slow with one log holds up no other, as in the daemon.
  std::map<JobId, SimWriter> log_writers_;
  /// The event that a worker has just sent, and those whose output is not in its log yet.
  std::pair<WorkerId, std::uint64_t> arriving_{};
  std::map<WorkerId, std::map<std::uint64_t, JobId>> unlogged_;
  std::set<CoreTimer> timers_;
  std::uint64_t last_timer_ = 0;
  std::map<WorkerId, FrameEnd> frames_;
  /// When this coordinator last heard a worker, and lost its stream, of the time that it was awake.
  std::map<WorkerId, std::uint64_t> heard_ns_;
  std::map<WorkerId, std::uint64_t> broken_ns_;
  std::vector<Link> links_;  ///< All that were ever accepted, in order.
  struct Owed {
    std::string what;
    std::uint64_t since_ns;
  };
  std::map<std::uint64_t, Owed> owed_;  ///< Answers, in the order of the questions.
  std::uint64_t last_owed_ = 0;
  std::set<std::uint64_t> let_go_;                            ///< Whose callers have gone.
  std::set<JobId> awaited_;                                   ///< Whose end is waited for.
  std::set<std::pair<JobId, Epoch>> started_;                 ///< By this coordinator.
  std::set<std::pair<std::uint64_t, std::uint64_t>> placed_;  ///< Jobs and epochs.
  std::map<std::pair<WorkerId, JobId>, std::pair<Epoch, std::uint64_t>> released_;
  std::set<std::pair<JobId, std::uint64_t>> directed_;  ///< Checkpoints asked for in releases.
  SimCopies copies_;
  /// Losses that are not overcome, and when this coordinator learned of them; nothing: it found
  /// them in the journal.
  std::map<JobId, std::optional<std::uint64_t>> open_losses_;
  /// Jobs that wait for nodes: the epoch, what for, and since when.
  struct Wait {
    Epoch epoch;
    std::string what;
    std::uint64_t since_ns;
  };
  std::map<JobId, Wait> waits_;
  std::uint64_t look_at_waits_ns_ = 0;
  bool dead_ = false;
  bool journal_hangs_ = false;
  bool logs_hang_ = false;
  const StoredState stored_;
  const std::uint64_t term_;
  const std::uint64_t run_;
  const std::uint32_t user_slots_;  ///< That jobs of a user have at once; 0: any number.
  std::unique_ptr<Cluster> cluster_;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_COORDINATOR_H_
