// What users want of a simulated cluster: jobs, and changes of mind.
#include <signal.h>

#include <algorithm>
#include <utility>

#include "tests/simulation/sim_cluster.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kReconnectMs = 60'000;
constexpr std::uint64_t kSoonMs = 3'000;
constexpr std::uint64_t kPatienceNs = kSecond;  // Of a client without an answer.

}  // namespace

void SimCluster::PlanSubmissions() {
  submissions_ = 1 + loop_.Below(5);
  for (std::uint64_t i = 0; i < submissions_; ++i) {
    loop_.After(loop_.Below(kSecond), [this] { Submit(loop_.Below(std::uint64_t{1} << 40)); });
  }
}

proto::CheckpointPolicy SimCluster::RandomPolicy() {
  proto::CheckpointPolicy policy;
  const std::uint64_t kind = only_lanes_ ? loop_.Between(65, 99) : loop_.Below(100);
  if (kind < 50) {
    policy.set_every_supersteps(loop_.Between(1, 6));
  } else if (kind < 75) {
    policy.set_every_ms(loop_.Between(10, 80));
  } else if (kind >= 90) {
    policy.set_off(true);
  }
  return policy;
}

void SimCluster::Submit(std::uint64_t number) {
  std::uint32_t slots = 0;
  for (const Machine& machine : machines_) slots += machine.slots;
  proto::JobSpec spec;
  const std::uint64_t idle = loop_.Below(only_lanes_ ? std::min(slots, 3u) : slots);
  spec.set_nprocs(slots - static_cast<std::uint32_t>(idle));
  spec.mutable_program()->set_name("simulated");
  spec.mutable_program()->set_sha256(std::string(64, '0'));
  spec.add_arguments(std::to_string(number));
  spec.set_priority(static_cast<std::int32_t>(loop_.Below(2)));
  if (loop_.Chance(10)) spec.set_time_limit_s(1 + loop_.Below(5));
  const auto few = static_cast<std::int32_t>(loop_.Below(4));
  spec.set_restarts_max(loop_.Chance(80) ? kRestartsMany : few == 0 ? -1 : few);
  *spec.mutable_checkpoints() = RandomPolicy();
  if (number % 8 == 1 && number % 7 != 0) {
    spec.set_attached(true);
    spec.set_reconnect_ms(loop_.Chance(50) ? kReconnectMs : kSoonMs);
  }
  StartAfterOthers(number, spec);
  proto::SubmitJobRequest request;
  request.set_submission_key("key " + std::to_string(number));
  *request.mutable_spec() = spec;
  if (number % 7 == 0) {
    request.mutable_array()->set_last(1 + number % 2);
    request.mutable_array()->set_step(1);
    request.mutable_array()->set_at_once(static_cast<std::uint32_t>(number % 5 % 3));
  }
  submissions_ += request.array().last();
  Send(request);
}

/// One job of three, if there is one that it can follow.
void SimCluster::StartAfterOthers(std::uint64_t number, proto::JobSpec& spec) const {
  if (number % 3 != 0) return;
  for (const auto& [job, record] : journal_.jobs) {
    if (spec.after_size() == 2) break;
    proto::AfterJob& after = *spec.add_after();
    after.set_job(Value(job));
    after.set_any(number % 2 == 0);
  }
}

// Again and again until there is an answer: a call may be lost, or its answer. It does not start
// after jobs that an older journal has forgotten.
void SimCluster::Send(proto::SubmitJobRequest request) {
  const auto forgotten = [this](const proto::AfterJob& after) {
    return !journal_.jobs.contains(JobId{after.job()});
  };
  auto& after = *request.mutable_spec()->mutable_after();
  after.erase(std::remove_if(after.begin(), after.end(), forgotten), after.end());
  const auto answered = std::make_shared<bool>(false);
  loop_.On(coordinator().actor(), loop_.Delay(),
           [this, &called = coordinator(), request, answered] {
             if (called.dead() || called.strange()) return;
             called.Submit(request, [this, request, answered](JobId first) {
               OnAcknowledged(request, first);
               if (loop_.Chance(10) || std::exchange(*answered, true)) return;  // It is lost.
               if (request.spec().attached())
                 SimClient({.loop = loop_,
                            .oracle = oracle_,
                            .coordinator = [this]() -> SimCoordinator& { return coordinator(); }},
                           first, request.submission_key());
               for (std::uint64_t i = 0; i <= request.array().last(); ++i) {
                 acknowledged_ += 1;
                 PlanRequests(JobId{Value(first) + i});
               }
             });
           });
  loop_.After(kPatienceNs, [this, request, answered] {
    if (!std::exchange(*answered, true)) Send(request);
  });
}

// One that another has replaced may say what an older journal has forgotten.
void SimCluster::OnAcknowledged(const proto::SubmitJobRequest& request, JobId first) {
  for (std::uint64_t i = 0; i <= request.array().last(); ++i) {
    const JobId job{Value(first) + i};
    if (!journal_.put_back || journal_.jobs.contains(job))
      oracle_.OnAcknowledged({.key = request.submission_key(), .element = i}, job);
  }
}

void SimCluster::PlanRequests(JobId job) {
  if (!loop_.Chance(50)) return;
  for (std::uint64_t i = loop_.Between(1, 4); i > 0; --i) {
    loop_.After(loop_.Below(2 * kSecond), [this, job] {
      loop_.On(coordinator().actor(), 0, [this, job, &called = coordinator()] {
        if (!called.dead()) Request(job);
      });
    });
  }
}

// Who hears nothing asks again.
void SimCluster::AskAgain(const std::function<void(SimCoordinator&)>& ask) {
  ask(coordinator());
  if (!loop_.Chance(30)) return;
  loop_.After(loop_.Below(kSecond), [this, ask] {
    loop_.On(coordinator().actor(), 0, [ask, &called = coordinator()] {
      if (!called.dead()) ask(called);
    });
  });
}

void SimCluster::Request(JobId job) {
  const std::uint64_t what = loop_.Below(100);
  if (what < 6) return AskAgain([job](SimCoordinator& called) { called.Cancel(job); });
  if (what < 12) {
    signalled_.insert(job);
    return AskAgain([job](SimCoordinator& called) { called.Signal(job, SIGINT); });
  }
  if (what < 40) return AskAgain([job](SimCoordinator& called) { called.Checkpoint(job); });
  if (what < 50) return Alter(job);
  AskAgain([job](SimCoordinator& called) { called.Suspend(job); });
  for (const std::uint64_t later_ns : {kSecond / 10, kSecond / 2, 3 * kSecond}) {
    loop_.After(later_ns + loop_.Below(later_ns), [this, job] {
      loop_.On(coordinator().actor(), 0, [job, &called = coordinator()] {
        if (!called.dead()) called.Resume(job);
      });
    });
  }
}

void SimCluster::Alter(JobId job) {
  proto::AlterJobRequest request;
  request.set_job(Value(job));
  if (loop_.Chance(30)) request.set_restarts_max(kRestartsMany);
  if (loop_.Chance(30)) request.set_priority(static_cast<std::int32_t>(loop_.Below(2)));
  AskAgain([request](SimCoordinator& called) { called.Alter(request); });
}

}  // namespace bspnow
