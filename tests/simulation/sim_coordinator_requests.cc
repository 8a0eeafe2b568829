// What users ask of the simulated coordinator, and what it tells them.
#include <utility>

#include "coordinator/core/checkpoints/checkpoint_catalogue.h"
#include "tests/simulation/sim_coordinator.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kPatienceNs = kSecond / 2;
constexpr std::uint32_t kGoPercent = 20;          // Of callers who do not wait for their answer.
constexpr std::uint64_t kAnswerNs = 8 * kSecond;  // After all jobs have ended: the journal's time.

std::string Of(const char* what, JobId job) {
  return std::string(what) + " of job " + std::to_string(Value(job));
}

}  // namespace

// Some answers come all the same.
void SimCoordinator::AskAndGo(const std::string& what, const Ask& ask,
                              const Cluster::OnJob& answer) {
  coordinator::WaitId wait;
  const std::uint64_t number = last_owed_ + 1;
  Turn([&] { wait = ask(Owe(what, answer)); });
  if (!loop_.Chance(kGoPercent)) return;
  loop_.On(actor_, loop_.Below(kPatienceNs), [this, wait, number] {
    oracle_.Count("callers that go");
    if (owed_.erase(number) != 0) let_go_.insert(number);
    Turn([&] { cluster_->StopWaiting(wait); });
  });
}

void SimCoordinator::CheckAnswered() const {
  if (owed_.empty()) return;
  const Owed& oldest = owed_.begin()->second;
  if (loop_.now_ns() - oldest.since_ns >= kAnswerNs)
    oracle_.Fail("nobody answers who asked for " + oldest.what);
}

void SimCoordinator::CountInRecovery(JobId job, const char* what) {
  const JobRecord* record = cluster_->table().Find(job);
  if (record != nullptr && record->job().state() == proto::RECOVERING) oracle_.Count(what);
}

void SimCoordinator::Cancel(JobId job) {
  CountInRecovery(job, "cancellations in a recovery");
  const auto answer = [this, job](const absl::StatusOr<proto::Job>& cancelled) {
    const JobRecord* record = cluster_->table().Find(job);
    if (!cancelled.ok() || !rules() || record == nullptr) return;
    oracle_.Count("cancellations acknowledged");
    oracle_.promises().OnCancelled(*record);
  };
  Turn([&] { cluster_->Cancel(job, "ada", Owe(Of("the cancellation", job), answer)); });
}

void SimCoordinator::Signal(JobId job, int signal) {
  Turn([&] { cluster_->OnSignal(job, signal); });
}

void SimCoordinator::Checkpoint(JobId job) {
  CountInRecovery(job, "checkpoints asked for in a recovery");
  AskAndGo(
      Of("a checkpoint", job),
      [&](auto answer) { return cluster_->Checkpoint(job, std::move(answer)); },
      [this, job](const absl::StatusOr<proto::Job>& saved) {
        if (saved.ok() && rules()) CheckSaved(job, *saved);
      });
}

void SimCoordinator::CheckSaved(JobId job, const proto::Job& answered) const {
  if (coordinator::HasEnded(answered.state())) return;  // It was quick.
  oracle_.Count("checkpoints that users have");
  const auto found = journal_.checkpoints.find(job);
  const auto stored = coordinator::DecodeCatalogue(
      found == journal_.checkpoints.end() ? std::string() : found->second);
  const std::uint64_t number = answered.checkpoints().committed();
  if (number == 0 || stored->checkpoints.empty() || stored->checkpoints.back().number < number)
    oracle_.Fail("job " + std::to_string(Value(job)) + " is said to be saved, and is not");
}

void SimCoordinator::Suspend(JobId job) {
  CountInRecovery(job, "suspensions in a recovery");
  const std::uint64_t asked = oracle_.promises().OnSuspend();
  AskAndGo(
      Of("the suspension", job),
      [&](auto answer) { return cluster_->Suspend(job, std::move(answer)); },
      [this, job, asked](const absl::StatusOr<proto::Job>& suspended) {
        if (!suspended.ok() || suspended->state() != proto::SUSPENDED) return;
        oracle_.Count("suspended");
        CheckNothingLeft(job);
        if (rules()) oracle_.promises().OnSuspended(job, asked);
      });
}

void SimCoordinator::Resume(JobId job) {
  const std::uint64_t asked = oracle_.promises().OnResume(job);
  const auto answer = [this, job, asked](const absl::StatusOr<proto::Job>& resumed) {
    if (!resumed.ok()) return;
    oracle_.Count("resumed by users");
    if (rules()) oracle_.promises().OnResumed(job, asked);
  };
  Turn([&] { cluster_->Resume(job, Owe(Of("the resumption", job), answer)); });
}

void SimCoordinator::SetDrained(const std::string& node, Drain drain) {
  const std::uint64_t asked = oracle_.promises().OnDrain(node);
  const auto answer = [this, node, asked, drain](const auto& drained) {
    if (drained.ok() && rules()) oracle_.promises().OnDrained(node, asked, drain);
  };
  Turn([&] { cluster_->SetDrained(node, drain, Owe("the draining of " + node, answer)); });
}

void SimCoordinator::ForgetNode(const std::string& node) {
  const std::uint64_t asked = oracle_.promises().OnDrain(node);
  for (const JobRecord* record : cluster_->table().records())
    CountInRecovery(IdOf(*record), "nodes to be forgotten in a recovery");
  const auto answer = [this, node, asked](const auto& forgotten) {
    if (!forgotten.ok() || !rules()) return;
    oracle_.Count("nodes forgotten");
    oracle_.promises().OnDrained(node, asked, Drain::kUndrain);
  };
  Turn([&] { cluster_->ForgetNode(node, Owe("the removal of " + node, answer)); });
}

void SimCoordinator::Alter(proto::AlterJobRequest request) {
  const JobId job{request.job()};
  const std::uint64_t asked = oracle_.promises().OnRename(job);
  request.set_name("name " + std::to_string(asked));
  CountInRecovery(job, "alterations in a recovery");
  const auto answer = [this, job, asked, name = request.name()](const auto& altered) {
    if (!altered.ok() || !rules()) return;
    oracle_.Count("jobs altered");
    oracle_.promises().OnRenamed(job, asked, name);
  };
  Turn([&] { cluster_->Alter(request, Owe(Of("the alteration", job), answer)); });
}

}  // namespace bspnow
