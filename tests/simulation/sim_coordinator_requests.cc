// What users ask of the simulated coordinator, and what it tells them.
#include <utility>

#include "coordinator/core/checkpoints/checkpoint_catalogue.h"
#include "tests/simulation/sim_coordinator.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kPatienceNs = kSecond / 2;
constexpr std::uint32_t kGoPercent = 20;  // Of callers who do not wait for their answer.

}  // namespace

// Some answers come all the same.
void SimCoordinator::AskAndGo(const Ask& ask, Cluster::OnJob answer) {
  coordinator::WaitId wait;
  Turn([&] { wait = ask(std::move(answer)); });
  if (!loop_.Chance(kGoPercent)) return;
  loop_.On(actor_, loop_.Below(kPatienceNs), [this, wait] {
    oracle_.Count("callers that go");
    Turn([&] { cluster_->StopWaiting(wait); });
  });
}

void SimCoordinator::Cancel(JobId job) {
  Turn([&] {
    cluster_->Cancel(job, "ada", [this, job](const absl::StatusOr<proto::Job>& cancelled) {
      const JobRecord* record = cluster_->table().Find(job);
      if (!cancelled.ok() || !rules() || record == nullptr) return;
      oracle_.Count("cancellations acknowledged");
      oracle_.promises().OnCancelled(*record);
    });
  });
}

void SimCoordinator::Signal(JobId job, int signal) {
  Turn([&] { cluster_->OnSignal(job, signal); });
}

void SimCoordinator::Checkpoint(JobId job) {
  AskAndGo([&](auto answer) { return cluster_->Checkpoint(job, std::move(answer)); },
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
  const std::uint64_t asked = oracle_.promises().OnSuspend();
  AskAndGo([&](auto answer) { return cluster_->Suspend(job, std::move(answer)); },
           [this, job, asked](const absl::StatusOr<proto::Job>& suspended) {
             if (!suspended.ok() || suspended->state() != proto::SUSPENDED) return;
             oracle_.Count("suspended");
             CheckNothingLeft(job);
             if (rules()) oracle_.promises().OnSuspended(job, asked);
           });
}

void SimCoordinator::Resume(JobId job) {
  const std::uint64_t asked = oracle_.promises().OnResume(job);
  Turn([&] {
    cluster_->Resume(job, [this, job, asked](const absl::StatusOr<proto::Job>& resumed) {
      if (!resumed.ok()) return;
      oracle_.Count("resumed by users");
      if (rules()) oracle_.promises().OnResumed(job, asked);
    });
  });
}

void SimCoordinator::SetDrained(const std::string& node, Drain drain) {
  const std::uint64_t asked = oracle_.promises().OnDrain(node);
  Turn([&] {
    cluster_->SetDrained(node, drain, [this, node, asked, drain](const auto& drained) {
      if (drained.ok() && rules()) oracle_.promises().OnDrained(node, asked, drain);
    });
  });
}

void SimCoordinator::ForgetNode(const std::string& node) {
  const std::uint64_t asked = oracle_.promises().OnDrain(node);
  Turn([&] {
    cluster_->ForgetNode(node, [this, node, asked](const auto& forgotten) {
      if (!forgotten.ok() || !rules()) return;
      oracle_.Count("nodes forgotten");
      oracle_.promises().OnDrained(node, asked, Drain::kUndrain);
    });
  });
}

void SimCoordinator::Alter(proto::AlterJobRequest request) {
  const JobId job{request.job()};
  const std::uint64_t asked = oracle_.promises().OnRename(job);
  request.set_name("name " + std::to_string(asked));
  Turn([&] {
    cluster_->Alter(request, [this, job, asked, name = request.name()](const auto& altered) {
      if (!altered.ok() || !rules()) return;
      oracle_.Count("jobs altered");
      oracle_.promises().OnRenamed(job, asked, name);
    });
  });
}

}  // namespace bspnow
