// Who wants a checkpoint, and what is done after it: `bsp checkpoint`, `suspend`, `resume` and
// `drain`. See live_job.h.
#include <algorithm>
#include <optional>
#include <utility>

#include <absl/strings/str_cat.h>
#include "base/machine_variable.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/cluster_view.h"

namespace bspnow::coordinator {
namespace {

/// A job that could not be saved is left alone for that long, then twice as long, and so on up to
/// the second.
constexpr std::uint64_t kMoveWaitNs = 60'000'000'000;
constexpr std::uint64_t kMoveWaitNsMax = 16 * kMoveWaitNs;

}  // namespace

void Cluster::Request(JobId id, CheckpointRequest request) {
  LiveJob& job = *FindLive(id);
  job.requests.push_back(std::move(request));
  const JobRecord& record = *table_.Find(id);
  if (ReleasesItself(record) && job.epoch == EpochOf(record))
    OrderCheckpoint(id, FindLive(id)->superstep());
}

absl::Status Cluster::MayCheckpoint(JobId id) const {
  const auto record = FindJob(id);
  if (!record.ok()) return record.status();
  const proto::JobState state = (*record)->job().state();
  if (state == proto::RUNNING) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(StateSentence((*record)->job()), ": only a running job can be checkpointed"));
}

WaitId Cluster::Checkpoint(JobId id, OnJob answer) {
  const WaitId caller{.job = id, .number = ++last_wait_};
  if (absl::Status may = MayCheckpoint(id); !may.ok()) {
    answer(may);
  } else {
    Request(id, {.kind = CheckpointRequest::Kind::kCheckpoint,
                 .answer = std::move(answer),
                 .caller = caller.number});
  }
  return caller;
}

absl::Status Cluster::MaySuspend(JobId id) const {
  const auto record = FindJob(id);
  if (!record.ok()) return record.status();
  const proto::JobState state = (*record)->job().state();
  if (HasEnded(state) || state == proto::ENDING)
    return absl::FailedPreconditionError(
        absl::StrCat(StateSentence((*record)->job()), ": it is over"));
  if ((*record)->took_input())
    return absl::FailedPreconditionError(
        absl::StrCat("job ", Value(id), " has taken standard input, which cannot be given again"));
  return absl::OkStatus();
}

WaitId Cluster::Suspend(JobId id, OnJob answer) {
  const WaitId caller{.job = id, .number = ++last_wait_};
  if (absl::Status may = MaySuspend(id); !may.ok()) {
    answer(may);
  } else {
    FindLive(id)->resumed = false;
    BeginSuspending(id, {.kind = CheckpointRequest::Kind::kSuspend,
                         .answer = std::move(answer),
                         .caller = caller.number});
  }
  return caller;
}

void Cluster::BeginSuspending(JobId id, CheckpointRequest request) {
  const JobRecord& record = *table_.Find(id);
  const proto::JobState state = record.job().state();
  // Its processes run, or wait for their workers to come back to this coordinator.
  if (state == proto::RUNNING && FindLive(id)->running) return Request(id, std::move(request));
  const bool suspended = state == proto::SUSPENDED;
  if (suspended && record.hosts().empty()) return AnswerWhenStored(id, request.answer);
  FindLive(id)->suspending.push_back(std::move(request));
  if (suspended) return;  // It is leaving its nodes.
  checkpoint_figures_.suspensions += 1;
  Perform(table_.OnSuspended(id, Now()));
}

void Cluster::AnswerSuspended(JobId id) {
  LiveJob* job = FindLive(id);
  if (job == nullptr) return;
  for (const CheckpointRequest& request : std::exchange(job->suspending, {}))
    if (request.answer) request.answer(ShowStored(id, job->refusal));
}

void Cluster::Resume(JobId id, const OnJob& answer) {
  const auto record = FindJob(id);
  if (!record.ok()) return answer(record.status());
  const proto::JobState state = (*record)->job().state();
  LiveJob* const live = FindLive(id);
  // Whose first answer got lost asks once more.
  const bool goes_on = state != proto::SUSPENDED && state != proto::ENDING;
  if (goes_on && live != nullptr && live->resumed) return AnswerWhenStored(id, answer);
  if (state != proto::SUSPENDED)
    return answer(absl::FailedPreconditionError(
        absl::StrCat(StateSentence((*record)->job()), ", not suspended")));
  live->resumed = true;
  Perform(table_.OnResume(id, Now()));
  AnswerSuspended(id);  // Callers that still wait for the job to leave its nodes.
  AnswerWhenStored(id, answer);
}

void Cluster::Alter(const proto::AlterJobRequest& request, const OnJob& answer) {
  const JobId id{request.job()};
  const auto record = FindJob(id);
  if (!record.ok()) return answer(record.status());
  if (HasEnded(**record))
    return answer(absl::FailedPreconditionError(
        absl::StrCat(StateSentence((*record)->job()), ": it is over")));
  if (!table_.jobs().at(id).durable) {  // Of a submission that the journal refuses no row may stay.
    const JobId submitted{(*record)->job().has_array() ? (*record)->job().array().job()
                                                       : Value(id)};
    FindLive(submitted)->submissions.push_back(
        [this, request, answer](const absl::StatusOr<JobId>& accepted) {
          accepted.ok() ? Alter(request, answer) : answer(accepted.status());
        });
    return;
  }
  if (absl::Status s = table_.OnAlter(request, Now()); !s.ok()) return answer(s);
  if (request.has_checkpoints())
    FindLive(id)->policy =
        CheckpointPolicy(RuleOf(request.checkpoints()), settings_.checkpoint_limits);
  Perform({});
  ports_.journal.WriteJobs({*table_.Find(id)}, [this, id, answer](const absl::Status& status) {
    if (status.ok()) return answer(Show(id));
    answer(absl::Status(status.code(),
                        absl::StrCat("done, but a restart of the coordinator will forget it: ",
                                     std::string(status.message()))));
  });
}

// What has no room elsewhere, or cannot be saved, stays to its end. An attempt costs a whole image
// and holds the processes, so where time does not press they become rare.
void Cluster::MoveJobsFrom(const std::vector<WorkerId>& workers) {
  std::optional<JobTable::SpareRoom> room;
  for (const WorkerId worker : workers) {
    const Node* node = nodes_.Find(worker);
    const bool leaving = node != nullptr && node->leaving;
    for (const JobId id : table_.JobsOn(worker)) {
      const LiveJob* job = FindLive(id);
      if (job == nullptr || (!leaving && NowNs() < job->move_again_ns) || !MayMove(id)) continue;
      if (!room) room = table_.SpareRoomNow();
      Move(id, *room);
    }
  }
}

// There may be room elsewhere now, or what could not be saved can be; or the coordinator that was
// asked is no more.
void Cluster::LeaveClosedNodes() {
  std::vector<WorkerId> closed;
  for (const auto& [worker, node] : nodes_.up())
    if (!node->open()) closed.push_back(worker);
  MoveJobsFrom(closed);
}

// Unless it is asked to already.
bool Cluster::MayMove(JobId id) const {
  const LiveJob* job = FindLive(id);
  const JobRecord* record = table_.Find(id);
  return job != nullptr && job->epoch == EpochOf(*record) && !record->took_input() &&
         record->job().state() == proto::RUNNING && !job->WaitsToMove();
}

void Cluster::Move(JobId id, JobTable::SpareRoom& room) {
  if (MayMove(id) && table_.ShouldMove(id, room))
    Request(id, {.kind = CheckpointRequest::Kind::kMove, .answer = nullptr});
}

JobOrders Cluster::ServeRequests(JobId id, LiveJob& job, const CheckpointOrders::End& end) {
  // After a holding checkpoint no process has run: it serves those who asked meanwhile, too.
  const bool for_all = end.failure.empty() && end.hold == Hold::kYes;
  std::vector<CheckpointRequest> served;
  std::vector<CheckpointRequest> others;
  for (CheckpointRequest& request : std::exchange(job.requests, {}))
    (for_all || request.number == end.number ? served : others).push_back(std::move(request));
  job.requests = std::move(others);
  bool suspends = false;
  bool moves = false;
  for (CheckpointRequest& request : served) {
    if (!end.failure.empty()) {
      if (request.kind == CheckpointRequest::Kind::kMove) {
        job.move_wait_ns = std::clamp(2 * job.move_wait_ns, kMoveWaitNs, kMoveWaitNsMax);
        job.move_again_ns = NowNs() + job.move_wait_ns;
      }
      if (request.answer)
        request.answer(absl::AbortedError(absl::StrCat("job ", Value(id), ": ", end.failure)));
    } else if (request.kind == CheckpointRequest::Kind::kSuspend && !MaySuspend(id).ok()) {
      if (request.answer) request.answer(MaySuspend(id));  // It has taken input meanwhile.
    } else if (request.kind == CheckpointRequest::Kind::kSuspend) {
      suspends = true;
      job.suspending.push_back(std::move(request));
    } else if (request.kind == CheckpointRequest::Kind::kMove) {
      moves = true;
    } else if (request.answer) {
      request.answer(Show(id));
    }
  }
  // Those who asked meanwhile need not wait for the end of a superstep to be told of.
  if (ReleasesItself(*table_.Find(id)) && job.HasPendingRequest())
    ports_.timers.Post([this, id] {
      const LiveJob* const live = FindLive(id);
      if (live != nullptr && live->HasPendingRequest() && live->epoch == EpochOf(*table_.Find(id)))
        OrderCheckpoint(id, live->superstep());
    });
  if (!end.failure.empty() || end.hold == Hold::kNo) return {};
  JobOrders orders = suspends ? table_.OnSuspended(id, Now())
                     : moves  ? table_.OnMove(id, Now())
                              : JobOrders{};
  if (suspends) checkpoint_figures_.suspensions += 1;
  if (!orders.ends.empty() || suspends) return orders;
  std::vector<CheckpointOrders::ReleaseHeld> release_held;  // There is no room elsewhere, any more.
  for (const CheckpointPart& part : job.checkpoints.last()->parts)
    release_held.push_back({part.host, end.number});
  SendReleases(id, job.epoch, release_held);
  return orders;
}

// The job leaves its nodes as it is: who wants it to need not wait for slots and a barrier first.
void Cluster::ServeWithoutCheckpoint(JobId id, LiveJob& job) {
  using Kind = CheckpointRequest::Kind;
  const auto take = [&job](Kind kind) {
    std::vector<CheckpointRequest> taken;
    std::vector<CheckpointRequest> others;
    for (CheckpointRequest& request : std::exchange(job.requests, {}))
      (request.kind == kind && request.number == 0 ? taken : others).push_back(std::move(request));
    job.requests = std::move(others);
    return taken;
  };
  take(Kind::kMove);
  const proto::JobState state = table_.Find(id)->job().state();
  if (state == proto::RECOVERING)
    for (CheckpointRequest& request : take(Kind::kSuspend)) BeginSuspending(id, std::move(request));
  if (state == proto::SUSPENDED)
    for (const CheckpointRequest& request : take(Kind::kCheckpoint))
      if (request.answer) request.answer(MayCheckpoint(id));
}

// ---- Parameters ---------------------------------------------------------------------------------

// A row for each p is kept for ever.
void Cluster::StoreParameters(proto::MachineParameters parameters,
                              std::function<void(absl::Status)> answer) {
  parameters.DiscardUnknownFields();
  if (parameters.p() < 1 || parameters.p() > kProcessesMax)
    return answer(absl::InvalidArgumentError(absl::StrCat("parameters of a machine are for 1 to ",
                                                          kProcessesMax, " processes, not ",
                                                          parameters.p())));
  std::erase_if(parameters_, [&](const auto& stored) { return stored.p() == parameters.p(); });
  ports_.journal.WriteParameters(parameters.p(), parameters.SerializeAsString(), std::move(answer));
  parameters_.push_back(std::move(parameters));
}

absl::StatusOr<proto::MachineParameters> Cluster::ShowParameters(std::uint32_t p) const {
  for (auto stored = parameters_.rbegin(); stored != parameters_.rend(); ++stored)
    if (p == 0 || stored->p() == p) return *stored;
  return absl::NotFoundError(
      p == 0 ? std::string("nothing was measured here yet; run `bsp probe`")
             : absl::StrCat("nothing was measured with p = ", p, "; run `bsp probe -n ", p, "`"));
}

// With the job, and so alike for all its processes in all its epochs: all must choose alike.
void Cluster::TellMachine(proto::JobSpec& spec) const {
  if (std::any_of(spec.environment().begin(), spec.environment().end(), &NamesMachine)) return;
  const absl::StatusOr<proto::MachineParameters> stored = ShowParameters(spec.nprocs());
  if (!stored.ok()) return;
  const std::string variable =
      MeasuredMachineVariable({.g_ns_per_byte = stored->g_total_ns_per_byte(),
                               .l_ns = stored->l_ns(),
                               .half_bytes = stored->half_bytes(),
                               .s_flops = stored->r_flops()});
  if (!variable.empty()) spec.add_environment(variable);
}

}  // namespace bspnow::coordinator
