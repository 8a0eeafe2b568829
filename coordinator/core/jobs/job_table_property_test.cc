// Whatever happens in whatever order: a job has exactly one end, no two of its epochs are on nodes
// at once, no slot is used twice. The model beside the table knows only what the orders say.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "coordinator/core/jobs/job_table_fixture.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint32_t kNodes = 4;
constexpr std::uint32_t kSlots = 3;
constexpr int kJobs = 6;
constexpr int kSteps = 400;

class Disorder {
 public:
  explicit Disorder(std::uint32_t seed) : random_(seed) {}

  void Run() {
    for (int step = 0; step < kSteps && !testing::Test::HasFailure(); ++step) Step();
    Calm();
  }

 private:
  /// What a worker holds of a job, as its orders say.
  struct Hosted {
    Epoch epoch;
    std::set<std::uint32_t> alive;
    std::vector<std::pair<Pid, ProcessEnd>> exited;
    bool clearing = false;
  };
  struct Worker {
    std::string name;
    std::map<JobId, Hosted> jobs;
    bool back = true;  ///< Has registered with this coordinator.
  };

  std::uint32_t Below(std::uint32_t end) { return random_() % end; }
  bool Chance(std::uint32_t percent) { return Below(100) < percent; }

  template <typename Map>
  auto Any(Map& map) {
    auto it = map.begin();
    std::advance(it, Below(static_cast<std::uint32_t>(map.size())));
    return it;
  }

  void Step() {
    at_.now_ns += Below(200) * 1'000'000;
    at_.unix_ms += 100;
    switch (Below(15)) {
      case 0:
      case 1:
        if (submitted_ < kJobs) Submit();
        break;
      case 2:
        if (workers_.size() < kNodes) NodeUp();
        break;
      case 3:
        if (!workers_.empty() && Chance(30)) NodeLost();
        break;
      case 4:
      case 5:
        Stored();
        break;
      case 6:
      case 7:
      case 8:
        Clear();
        break;
      case 9:
        Exit();
        break;
      case 10:
        if (Chance(20)) Restart();
        break;
      case 11:
        Returns();
        break;
      case 12:
        if (table_.next_deadline_ns() <= at_.now_ns) Do(table_.OnTime(at_));
        break;
      case 13:
        User();
        break;
      default:
        Progress();
        break;
    }
    if (table_.pass_due() && Chance(50)) Do(table_.Schedule(at_));  // In some later turn.
    Check();
  }

  // ---- Events -----------------------------------------------------------------------------------

  void Submit() {
    proto::JobSpec spec = Request(1 + Below(kNodes * kSlots / 2));
    const std::int32_t restarts_max = static_cast<std::int32_t>(Below(5)) - 1;
    spec.set_restarts_max(restarts_max == 0 ? -1 : restarts_max);
    spec.set_time_limit_s(Chance(20) ? 30 : 0);
    const std::string key = "key" + std::to_string(++submitted_);
    Do(table_.OnSubmit(spec, key, at_).orders);
  }

  void NodeUp() {
    const WorkerId id{++last_worker_};
    std::set<std::string> names = {"n0", "n1", "n2", "n3"};
    for (const auto& [other, worker] : workers_) names.erase(worker.name);
    workers_[id].name = *names.begin();
    AddNode(nodes_, id, workers_[id].name, kSlots);
    Do(table_.OnNodeUp(id, at_));
  }

  void NodeLost() {
    const auto worker = Any(workers_);
    const bool known = worker->second.back;
    const WorkerId id = worker->first;
    workers_.erase(worker);  // Its processes die with it, or outlive their lease.
    if (!known) return;
    nodes_.Remove(id, absl::OkStatus());
    Do(table_.OnNodeLost(id, "worker lost", "lease expired", {}, at_));
  }

  void Stored() {
    if (writing_.empty()) return;
    const JobTransition next = writing_.front();
    writing_.erase(writing_.begin());
    if (Chance(10)) {
      if (HasEnded(next.records.front())) unwritten_ends_.insert(IdOf(next.records.front()));
      Do(table_.OnStoreFailed(next.sequence, "disk full", at_));
    } else {
      journal_[IdOf(next.records.front())] = next.records.front();
      Do(table_.OnStored(next.sequence, at_));
    }
  }

  /// A worker that has an order to clear a job away reports that it has.
  void Clear() {
    for (auto& [id, worker] : workers_) {
      if (!worker.back) continue;
      for (auto& [held, hosted] : worker.jobs) {
        if (!hosted.clearing || Chance(50)) continue;
        const JobId job = held;
        const Epoch epoch = hosted.epoch;
        worker.jobs.erase(job);
        return Do(table_.OnCleared(job, epoch, id, at_));
      }
    }
  }

  void Exit() {
    for (auto& [id, worker] : workers_) {
      for (auto& [job, hosted] : worker.jobs) {
        if (hosted.alive.empty() || hosted.clearing || Chance(60)) continue;
        const Pid pid{*hosted.alive.begin()};
        hosted.alive.erase(hosted.alive.begin());
        ProcessEnd end = coordinator::Exit(Reached::kEnded, 0);
        if (Chance(30)) end = coordinator::Exit(Reached::kAborted, 6);
        if (Chance(30)) end.signal = SIGKILL;
        hosted.exited.push_back({pid, end});
        if (worker.back) Do(table_.OnExited(job, hosted.epoch, pid, end, at_));
        return;
      }
    }
  }

  /// The coordinator dies; what it was writing may be on the disk or not.
  void Restart() {
    for (const JobTransition& transition : writing_) {
      if (Chance(50)) break;
      for (const JobRecord& record : transition.records) journal_[IdOf(record)] = record;
    }
    writing_.clear();
    finished_.clear();
    restarted_ns_ = at_.now_ns;
    nodes_ = Nodes(1);
    table_ = JobTable(nodes_);
    for (auto& [id, worker] : workers_) worker.back = false;
    for (const auto& [id, record] : std::map(journal_)) {
      Do(table_.Restore(record, at_));
      if (HasEnded(record)) ended_.insert(id);
      // An end is announced even if it cannot be written; the next coordinator announces another.
      if (!HasEnded(record) && unwritten_ends_.contains(id)) ended_.erase(id);
      EXPECT_TRUE(HasEnded(record) || !ended_.contains(id))
          << "the end of job " << Value(id) << " was announced before it was durable";
    }
  }

  void Returns() {
    for (auto& [id, worker] : workers_) {
      if (worker.back) continue;
      std::vector<HeldEpoch> held;
      for (const auto& [job, hosted] : worker.jobs) {
        held.push_back({.job = job,
                        .epoch = hosted.epoch,
                        .participants = 0,
                        .clearing = hosted.clearing,
                        .begun = {},
                        .exited = hosted.exited});
      }
      worker.back = true;
      AddNode(nodes_, id, worker.name, kSlots);
      JobTable::Return returned = table_.OnHostReturned(id, held, at_);
      const std::set<JobId> kept(returned.kept.begin(), returned.kept.end());
      std::erase_if(worker.jobs, [&](const auto& each) { return !kept.contains(each.first); });
      return Do(std::move(returned.orders));
    }
  }

  void User() {
    const auto records = table_.records();
    if (records.empty()) return;
    const JobId job = IdOf(*records[Below(static_cast<std::uint32_t>(records.size()))]);
    switch (Below(8)) {
      case 0:
        return Do(table_.OnCancel(job, "cancelled", at_));
      case 1:
        return Do(table_.OnSignal(job, SIGINT, at_));
      case 2:
      case 3:
        return Do(table_.OnSuspended(job, at_));
      case 4:
        return Do(table_.OnMove(job, at_));
      default:
        return Do(table_.OnResume(job, at_));
    }
  }

  void Progress() {
    for (auto& [id, worker] : workers_) {
      for (auto& [job, hosted] : worker.jobs) {
        if (!worker.back || Chance(60)) continue;
        if (Chance(20))
          return Do(table_.OnNotStarted(
              job, hosted.epoch, {.node = NameOf(id), .reason = "damaged", .exit_status = 1}, at_));
        if (Chance(20)) return Do(table_.OnCheckpointCommitted(job, at_));
        return Do(table_.OnResumed(job, hosted.epoch, id, at_));
      }
    }
  }

  // ---- What is ordered --------------------------------------------------------------------------

  void Do(JobOrders orders) {
    for (JobTransition& transition : orders.store) writing_.push_back(std::move(transition));
    for (const StartOrder& order : orders.starts) Start(order);
    for (const EndOrder& order : orders.ends) {
      const auto worker = workers_.find(order.worker);
      if (worker == workers_.end()) continue;
      const auto hosted = worker->second.jobs.find(order.job);
      if (hosted == worker->second.jobs.end() || hosted->second.epoch != order.epoch) continue;
      hosted->second.clearing = true;
      hosted->second.alive.clear();
    }
    for (const SignalOrder& order : orders.signals)
      if (Chance(50)) Obey(order);
    for (const FinishedJob& job : orders.finished) {
      EXPECT_TRUE(finished_.emplace(job.job, job.epoch).second)
          << "the output of job " << Value(job.job) << " is made durable again";
      Do(table_.OnOutputDurable(
          job.job, job.epoch,
          Chance(10) ? absl::FailedPreconditionError("a gap") : absl::OkStatus(), at_));
    }
    for (const JobId job : orders.ended) {
      EXPECT_TRUE(ended_.insert(job).second) << "two ends of job " << Value(job);
    }
  }

  /// Its processes there clean up and exit.
  void Obey(const SignalOrder& order) {
    const auto worker = workers_.find(order.worker);
    if (worker == workers_.end()) return;
    const auto hosted = worker->second.jobs.find(order.job);
    if (hosted == worker->second.jobs.end() || hosted->second.epoch != order.epoch) return;
    const ProcessEnd end = coordinator::Exit(Reached::kEnded, 1);
    for (const std::uint32_t pid : std::exchange(hosted->second.alive, {})) {
      hosted->second.exited.push_back({Pid{pid}, end});
      Do(table_.OnExited(order.job, order.epoch, Pid{pid}, end, at_));
    }
  }

  void Start(const StartOrder& order) {
    EXPECT_FALSE(ended_.contains(order.job));
    EXPECT_GT(order.epoch, epochs_[order.job]);
    epochs_[order.job] = order.epoch;
    const bool leases_are_over = at_.now_ns >= restarted_ns_ + kReturnNs;
    for (const auto& [id, worker] : workers_) {
      if (!worker.back && leases_are_over) continue;  // It does not advance.
      EXPECT_FALSE(worker.jobs.contains(order.job))
          << "job " << Value(order.job) << " has two epochs, one on " << worker.name;
    }
    for (const NodeShare& share : order.hosts) {
      const auto worker = workers_.find(share.worker);
      ASSERT_NE(worker, workers_.end());
      Hosted& hosted = worker->second.jobs[order.job];
      hosted.epoch = order.epoch;
      for (const Pid pid : share.pids) hosted.alive.insert(Value(pid));
    }
  }

  void Check() {
    for (const JobTable::NodeView& view : table_.nodes()) {
      EXPECT_LE(view.slots_used, view.node->slots) << view.node->name;
    }
    for (const auto& [id, worker] : workers_) {
      if (!worker.back) continue;
      std::uint32_t used = 0;
      for (const auto& [job, hosted] : worker.jobs) {
        const JobRecord* record = table_.Find(job);
        ASSERT_NE(record, nullptr);
        for (const proto::JobHost& host : record->hosts()) {
          if (WorkerOf(host) == id) used += host.slots();
        }
      }
      EXPECT_LE(used, kSlots) << worker.name;
    }
  }

  /// Nothing breaks any more: every job reaches its end.
  void Calm() {
    while (workers_.size() < kNodes) NodeUp();
    for (int turn = 0; turn < 2000 && !AllEnded(); ++turn) {
      at_.now_ns += 1'000'000'000;
      at_.unix_ms += 1000;
      while (!writing_.empty()) {
        const JobTransition next = writing_.front();
        writing_.erase(writing_.begin());
        journal_[IdOf(next.records.front())] = next.records.front();
        Do(table_.OnStored(next.sequence, at_));
      }
      Returns();
      Clear();
      for (const JobRecord* record : table_.records()) Do(table_.OnResume(IdOf(*record), at_));
      Do(table_.OnTime(at_));
      if (table_.pass_due()) Do(table_.Schedule(at_));
      EndOne();
      Check();
    }
    for (const JobRecord* record : table_.records()) {
      EXPECT_TRUE(ended_.contains(IdOf(*record)) && HasEnded(*record))
          << "job " << Value(IdOf(*record)) << " hangs, " << StateText(record->job().state())
          << ": " << record->job().reason();
    }
  }

  bool AllEnded() {
    const auto records = table_.records();
    return std::all_of(records.begin(), records.end(),
                       [&](const JobRecord* record) { return ended_.contains(IdOf(*record)); });
  }

  void EndOne() {
    for (auto& [id, worker] : workers_) {
      for (auto& [job, hosted] : worker.jobs) {
        if (hosted.alive.empty() || hosted.clearing) continue;
        const Pid pid{*hosted.alive.begin()};
        hosted.alive.erase(hosted.alive.begin());
        const ProcessEnd end = coordinator::Exit(Reached::kEnded, 0);
        hosted.exited.push_back({pid, end});
        return Do(table_.OnExited(job, hosted.epoch, pid, end, at_));
      }
    }
  }

  std::mt19937 random_;
  Nodes nodes_{1};
  JobTable table_{nodes_};
  Moment at_{.now_ns = kSecondNs, .unix_ms = 1000};
  std::map<WorkerId, Worker> workers_;
  std::map<JobId, JobRecord> journal_;
  std::vector<JobTransition> writing_;
  std::map<JobId, Epoch> epochs_;
  std::set<JobId> ended_;
  std::set<std::pair<JobId, Epoch>> finished_;  ///< By this coordinator.
  std::set<JobId> unwritten_ends_;
  std::uint64_t restarted_ns_ = 0;
  int submitted_ = 0;
  std::uint32_t last_worker_ = 0;
};

TEST(JobTablePropertyTest, HoldsInAnyOrderOfEvents) {
  for (std::uint32_t seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Disorder(seed).Run();
  }
}

}  // namespace
}  // namespace bspnow::coordinator
