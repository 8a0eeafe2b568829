#include "worker/core/hosted_job.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/exit_status.h"
#include "base/failpoint.h"

namespace bspnow::worker {
namespace {

// The coordinator says DataLoss of a content that it has no more: no later try would find it.
int StatusOfFailedStart(const absl::Status& why) {
  if (absl::IsDataLoss(why)) return kNotFoundStatus;
  return absl::IsPermissionDenied(why) ? kNotExecutableStatus : kFailureStatus;
}

}  // namespace

HostedJob::HostedJob(const HostedJobContext& context, proto::StartJob start, std::uint32_t node,
                     std::function<void()> cleared)
    : context_(context),
      start_(std::move(start)),
      node_(node),
      job_(JobId{start_.job()}),
      epoch_(Epoch{start_.epoch()}),
      cleared_(std::move(cleared)),
      checkpoints_(
          job_, {start_.cpu_features().begin(), start_.cpu_features().end()}, context.keeper,
          [this](proto::WorkerEvent event) { Report(std::move(event)); },
          [this](const std::string& refusal) {
            proto::HostOrder order;
            order.set_no_room(refusal);
            host_->Send(order);
          }),
      host_(context.hosting.Host(*this)) {}

std::vector<std::uint32_t> HostedJob::StartedPids() const {
  std::vector<std::uint32_t> started(place().pids().begin(), place().pids().end());
  if (resumes_images()) {
    std::erase_if(started, [p = start_.resume().participants()](auto pid) { return pid >= p; });
  }
  return started;
}

std::vector<std::uint32_t> HostedJob::PidsTakingPart() const {
  std::vector<std::uint32_t> pids(place().pids().begin(), place().pids().end());
  std::erase_if(pids, [p = host_->Progress().participants()](auto pid) { return pid >= p; });
  return pids;
}

proto::HeldJob HostedJob::Held() const {
  proto::HeldJob held = host_->Progress();
  held.set_job(Value(job_));
  held.set_epoch(Value(epoch_));
  if (resumes()) held.set_resumed_from(start_.resume().superstep());
  if (resumes_images()) {
    held.set_put_back(true);
    held.set_participants(start_.resume().participants());
  }
  *held.mutable_started() = started_;
  held.set_never_began(!began_);
  for (const Pid pid : begun_) held.add_begun(Value(pid));
  for (const proto::ProcessExited& exited : exited_) *held.add_exited() = exited;
  // A coordinator that died may have had the report, and not written what follows.
  held.set_clearing(ending_ || broken_ || not_started_);
  return held;
}

// ---- What happens -------------------------------------------------------------------------------

void HostedJob::OnPrepared(absl::Status status, const proto::RestoreFailed& failed,
                           std::string not_brought) {
  stage_ = Stage::kDone;
  if (resumes())
    not_brought_ = status.ok() ? std::move(not_brought) : std::string(status.message());
  if (ending_) return Clear();
  if (!failed.reason().empty()) return ReportRestoreFailed(failed);
  if (status.ok()) status = StartProcesses();
  if (status.ok() && resumes()) status = FailpointStatus("worker.restore.started");
  if (status.ok()) return;
  proto::JobNotStarted why;
  why.set_exit_status(StatusOfFailedStart(status));
  why.set_reason(std::string(status.message()));
  ReportNotStarted(why);
}

absl::Status HostedJob::StartProcesses() {
  if (absl::Status s = host_->Start(context_.lease_until_ns); !s.ok()) return s;
  const std::vector<std::uint32_t> started = StartedPids();
  if (started.empty()) {
    // All that were here had left before the checkpoint. The node stays one of the job's, as it
    // was, to its end.
    for (const std::uint32_t pid : place().pids()) begun_.insert(Pid{pid});
    ReportResumed();
    return absl::OkStatus();
  }
  began_ = true;
  for (const std::uint32_t pid : started) running_.insert(Pid{pid});
  stage_ = Stage::kRunning;
  checkpoints_.LookForRoom();
  return absl::OkStatus();
}

void HostedJob::OnHostEvent(proto::WorkerEvent event) {
  switch (event.what_case()) {
    case proto::WorkerEvent::kNotStarted:
      began_ = false;
      return ReportNotStarted(event.not_started());
    case proto::WorkerEvent::kRestoreFailed:
      return ReportRestoreFailed(event.restore_failed());
    case proto::WorkerEvent::kCheckpointStored:
      return checkpoints_.OnWritten(event.checkpoint_stored());
    case proto::WorkerEvent::kCheckpointFailed:
      return checkpoints_.OnFailed(event.checkpoint_failed());
    case proto::WorkerEvent::kStarted:
      started_ = event.started();
      return Report(std::move(event));
    case proto::WorkerEvent::kBegun: {
      const Pid pid{event.begun().pid()};
      Report(std::move(event));
      return OnBegun(pid);
    }
    case proto::WorkerEvent::kExited:
      running_.erase(Pid{event.exited().pid()});
      used_.set_cpu_ns(used_.cpu_ns() + event.exited().cpu_ns());
      used_.set_peak_memory_bytes(
          std::max(used_.peak_memory_bytes(), event.exited().peak_memory_bytes()));
      if (not_started_ && resumes()) return;  // It is bsp-restore that has ended.
      exited_.push_back(event.exited());
      return Report(std::move(event));
    default:
      return Report(std::move(event));
  }
}

void HostedJob::OnBegun(Pid pid) {
  begun_.insert(pid);
  if (resumes() && begun_.size() == StartedPids().size()) ReportResumed();
}

void HostedJob::OnHostGone(std::uint64_t ordered) {
  stage_ = Stage::kDone;
  checkpoints_.OnHostGone(ordered);
  if (!running_.empty() && !not_started_ && !ending_) {
    const std::string why = host_killed_for_.empty() ? "" : ", " + host_killed_for_;
    ReportBroken(ExchangeFault::kEnvironment, "its processes were killed, with bsp-host" + why);
  }
  running_.clear();
  if (ending_) Clear();
}

void HostedJob::OnCleared(std::string files_lost) {
  if (files_lost.empty()) files_lost = files_lost_;
  proto::WorkerEvent event;
  *event.mutable_cleared() = used_;
  event.mutable_cleared()->set_files_lost(std::move(files_lost));
  event.mutable_cleared()->set_began(began_);
  Report(std::move(event));
  const std::function<void()> cleared = std::move(cleared_);  // This job may go in it.
  cleared();
}

void HostedJob::Report(proto::WorkerEvent event) {
  if (silent_) return;
  event.set_job(Value(job_));
  event.set_epoch(Value(epoch_));
  context_.report(std::move(event));
}

void HostedJob::ReportResumed() {
  proto::WorkerEvent event;
  event.mutable_resumed();
  Report(std::move(event));
}

void HostedJob::ReportNotStarted(const proto::JobNotStarted& why) {
  if (resumes()) {
    proto::RestoreFailed failed;
    failed.set_reason(why.reason());
    return ReportRestoreFailed(failed);
  }
  not_started_ = true;
  spdlog::warn("event=job_not_started job={} epoch={} reason=\"{}\"", Value(job_), Value(epoch_),
               why.reason());
  proto::WorkerEvent event;
  *event.mutable_not_started() = why;
  Report(std::move(event));
}

void HostedJob::ReportRestoreFailed(const proto::RestoreFailed& why) {
  if (std::exchange(not_started_, true)) return;
  spdlog::warn("event=restore_failed job={} epoch={} reason=\"{}\"", Value(job_), Value(epoch_),
               why.reason());
  proto::WorkerEvent event;
  *event.mutable_restore_failed() = why;
  event.mutable_restore_failed()->set_checkpoint(start_.resume().checkpoint());
  Report(std::move(event));
}

void HostedJob::ReportBroken(ExchangeFault fault, const std::string& reason) {
  spdlog::warn("event=job_broken job={} epoch={} reason=\"{}\"", Value(job_), Value(epoch_),
               reason);
  broken_ = true;
  proto::WorkerEvent event;
  event.mutable_broken()->set_reason(reason);
  event.mutable_broken()->set_final(fault == ExchangeFault::kProgram);
  Report(std::move(event));
}

// ---- Orders -------------------------------------------------------------------------------------

void HostedJob::Signal(int signal) {
  proto::HostOrder order;
  order.set_signal(signal);
  host_->Send(order);
}

void HostedJob::OnOutputKept(std::uint64_t credit_bytes) {
  proto::HostOrder order;
  order.set_credit_bytes(credit_bytes);
  host_->Send(order);
}

void HostedJob::OnInput(const proto::Input& input) {
  if (host_->TakeInput(input)) return;
  ReportBroken(ExchangeFault::kProgram, "standard input of pid 0 did not come as a whole");
}

void HostedJob::TakeCheckpoint(const proto::TakeCheckpoint& order) {
  if (stage_ == Stage::kRunning) host_->OrderImage(order);
}

void HostedJob::ReleaseHeld(std::uint64_t checkpoint) {
  host_->ReleaseHeld(checkpoint);
  checkpoints_.GiveUp(checkpoint);
}

void HostedJob::LookAgain(std::uint64_t look) {
  if (stage_ == Stage::kRunning) host_->LookAgain(look);
}

void HostedJob::Abandon() {
  silent_ = true;
  SetLease(0);
  host_->StopExchange();  // Before this worker gets another id.
  // The files that were to be brought are wanted no more.
  if (ending_ && stage_ == Stage::kPreparing) host_->StopPreparing();
  End(JobHost::Left::kNothing);
}

void HostedJob::EndUnasked(const std::string& why) {
  if (ending_) return;
  ReportBroken(ExchangeFault::kEnvironment, why);
  const bool would_keep_files = !start_.spec().attached() || start_.spec().core();
  if (place().pids(0) == 0 && would_keep_files) files_lost_ = why + " (if it left any)";
  End(JobHost::Left::kNothing);
}

void HostedJob::End(JobHost::Left kept) {
  if (std::exchange(ending_, true)) return;
  const bool may_have_files = place().pids(0) == 0 || start_.spec().core();
  const bool without = kept == JobHost::Left::kFilesAndProfile && !may_have_files;
  kept_ = without ? JobHost::Left::kProfile : kept;
  // The files that a checkpoint holds are the job's; half of them would be taken for all.
  const bool brings_files = kept_ == JobHost::Left::kFilesAndProfile && resumes();
  if (stage_ == Stage::kPreparing && !brings_files) host_->StopPreparing();
  if (stage_ == Stage::kPreparing && brings_files) host_->BringFilesOnly();
  if (stage_ == Stage::kRunning) {
    proto::HostOrder order;
    order.set_kill_all(true);
    host_->Send(order);
  }
  if (stage_ == Stage::kDone) Clear();
}

// Of files that a checkpoint holds all are there, or none is the job's.
void HostedJob::Clear() {
  stage_ = Stage::kClearing;
  if (kept_ == JobHost::Left::kFilesAndProfile && !not_brought_.empty()) {
    kept_ = JobHost::Left::kProfile;
    files_lost_ = not_brought_;
  }
  host_->Clear(silent_ ? JobHost::Left::kNothing : kept_);
}

}  // namespace bspnow::worker
