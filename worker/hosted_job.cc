#include "worker/hosted_job.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace bspnow {
namespace {

std::vector<LeftFile> Fitting(JobId job, std::vector<LeftFile> files, std::uint64_t bytes_max) {
  std::vector<LeftFile> fitting;
  std::uint64_t bytes = 0;
  for (LeftFile& file : files) {
    if (file.bytes > bytes_max - bytes) {
      spdlog::warn(
          "event=file_left_out job={} file={} bytes={} reason=\"more than {} bytes in all\"",
          Value(job), file.name, file.bytes, bytes_max);
      continue;
    }
    bytes += file.bytes;
    fitting.push_back(std::move(file));
  }
  return fitting;
}

}  // namespace

HostedJob::HostedJob(HostingContext& context, HostedJobPlan plan, std::function<void()> cleared)
    : context_(context),
      plan_(std::move(plan)),
      job_(JobId{plan_.start.job()}),
      epoch_(Epoch{plan_.start.epoch()}),
      cleared_(std::move(cleared)),
      checkpoints_(
          job_, {plan_.start.cpu_features().begin(), plan_.start.cpu_features().end()},
          *context.keeper, [this](proto::WorkerEvent event) { Report(std::move(event)); },
          [this](const std::string& refusal) {
            if (host_) host_->SetRoom(refusal);
          }) {}

HostedJob::~HostedJob() { StopExchange(); }

std::vector<std::uint32_t> HostedJob::pids() const {
  const auto& pids = plan_.start.hosts(static_cast<int>(plan_.node)).pids();
  return {pids.begin(), pids.end()};
}

// Those that did not take part have left long before the image was made.
std::vector<std::uint32_t> HostedJob::started_pids() const {
  std::vector<std::uint32_t> started = pids();
  if (resumes_images()) {
    std::erase_if(started,
                  [p = plan_.start.resume().participants()](auto pid) { return pid >= p; });
  }
  return started;
}

std::vector<std::uint32_t> HostedJob::PidsTakingPart() const {
  std::vector<std::uint32_t> taking_part;
  for (const std::uint32_t pid : pids()) {
    if (segment_ && pid < segment_->participants()) taking_part.push_back(pid);
  }
  return taking_part;
}

proto::HeldJob HostedJob::Held() const {
  proto::HeldJob held;
  held.set_job(Value(job_));
  held.set_epoch(Value(epoch_));
  if (segment_) {
    held.set_participants(segment_->participants());
    held.set_barriers(segment_->barriers());
    held.set_first_superstep(segment_->first_superstep());
  }
  for (const Pid pid : begun_) held.add_begun(Value(pid));
  for (const proto::ProcessExited& exited : exited_) *held.add_exited() = exited;
  held.set_clearing(ending_);
  return held;
}

bool HostedJob::HasPidZero() const {
  for (const std::uint32_t pid : plan_.start.hosts(static_cast<int>(plan_.node)).pids()) {
    if (pid == 0) return true;
  }
  return false;
}

// ---- What happens -------------------------------------------------------------------------------

void HostedJob::OnHostEvent(proto::WorkerEvent event) {
  switch (event.what_case()) {
    case proto::WorkerEvent::kNotStarted:
      return ReportNotStarted(event.not_started().exit_status(), event.not_started().reason());
    case proto::WorkerEvent::kRestoreFailed:
      return ReportRestoreFailed({.failure = event.restore_failed().reason()});
    case proto::WorkerEvent::kCheckpointStored:
      return checkpoints_.OnWritten(std::move(*event.mutable_checkpoint_stored()), *segment_);
    case proto::WorkerEvent::kCheckpointFailed:
      return checkpoints_.OnFailed(event.checkpoint_failed());
    case proto::WorkerEvent::kExited:
      running_.erase(Pid{event.exited().pid()});
      if (not_started_ && resumes()) return;  // It is bsp-restore that has ended.
      OnExited(*event.mutable_exited());
      break;
    default:
      break;
  }
  const bool has_begun = event.has_begun();
  if (has_begun) begun_.insert(Pid{event.begun().pid()});
  Report(std::move(event));
  if (!has_begun || !resumes() || begun_.size() != started_pids().size()) return;
  proto::WorkerEvent resumed;
  resumed.mutable_resumed();
  Report(std::move(resumed));
}

// How far it came is in the segment.
void HostedJob::OnExited(proto::ProcessExited& exited) {
  const Pid pid{exited.pid()};
  exited.set_reached(static_cast<std::uint32_t>(segment_->state(pid)));
  exited.set_superstep(Value(segment_->superstep(pid)));
  exited_.push_back(exited);
}

void HostedJob::OnGone() {
  host_.reset();
  stage_ = Stage::kDone;
  checkpoints_.OnHostGone(segment_->ordered_image());
  if (!running_.empty() && !not_started_ && !ending_) {
    ReportBroken(ExchangeFault::kEnvironment, "its processes were killed, with bsp-host");
  }
  running_.clear();
  if (ending_) Clear();
}

void HostedJob::Report(proto::WorkerEvent event) {
  if (silent_) return;
  event.set_job(Value(job_));
  event.set_epoch(Value(epoch_));
  context_.report(std::move(event));
}

// As local bsprun says it: without the place where the program happens to lie here.
void HostedJob::ReportNotStarted(int exit_status, std::string reason) {
  if (resumes()) return ReportRestoreFailed({.failure = std::move(reason)});
  not_started_ = true;
  const std::string here = directory_ ? directory_->path() + "/" : "";
  if (!here.empty() && absl::StartsWith(reason, here)) reason.erase(0, here.size());
  spdlog::warn("event=job_not_started job={} epoch={} reason=\"{}\"", Value(job_), Value(epoch_),
               reason);
  proto::WorkerEvent event;
  event.mutable_not_started()->set_reason(std::move(reason));
  event.mutable_not_started()->set_exit_status(exit_status);
  Report(std::move(event));
}

void HostedJob::ReportRestoreFailed(const PreparedRestore& restore) {
  if (std::exchange(not_started_, true)) return;
  spdlog::warn("event=restore_failed job={} epoch={} reason=\"{}\"", Value(job_), Value(epoch_),
               restore.failure);
  proto::WorkerEvent event;
  proto::RestoreFailed& failed = *event.mutable_restore_failed();
  failed.set_checkpoint(plan_.start.resume().checkpoint());
  failed.set_reason(restore.failure);
  failed.mutable_pids()->Assign(restore.missing.begin(), restore.missing.end());
  Report(std::move(event));
}

void HostedJob::ReportBroken(ExchangeFault fault, const std::string& reason) {
  spdlog::warn("event=job_broken job={} epoch={} reason=\"{}\"", Value(job_), Value(epoch_),
               reason);
  proto::WorkerEvent event;
  event.mutable_broken()->set_reason(reason);
  event.mutable_broken()->set_final(fault == ExchangeFault::kProgram);
  Report(std::move(event));
}

// ---- Orders -------------------------------------------------------------------------------------

void HostedJob::Signal(int signal) {
  if (host_) host_->Signal(signal);
}

void HostedJob::OnInput(const proto::Input& input) {
  if (!input_) return;
  if (!input.data().empty() && !input_->Write(input.offset(), input.data()))
    ReportBroken(ExchangeFault::kProgram, "standard input of pid 0 did not come as a whole");
  if (input.end()) input_->Close();
}

void HostedJob::OnOutputKept(std::uint64_t credit_bytes) {
  if (host_) host_->Grant(credit_bytes);
}

void HostedJob::TakeCheckpoint(const proto::TakeCheckpoint& order) {
  if (stage_ == Stage::kRunning) checkpoints_.Take(order, *segment_);
}

void HostedJob::LetGo(std::uint64_t checkpoint) {
  if (segment_) segment_->LetGo(checkpoint);
  checkpoints_.GiveUp(checkpoint);
}

void HostedJob::SetLease(std::uint64_t until_ns) {
  if (segment_) segment_->SetLease(until_ns);
}

void HostedJob::Abandon() {
  silent_ = true;
  SetLease(0);
  StopExchange();  // Before this worker gets another id.
  End(Files::kDrop);
}

void HostedJob::End(Files files) {
  if (std::exchange(ending_, true)) return;
  files_ = files;
  if (stage_ == Stage::kRunning) host_->KillAll();
  if (stage_ == Stage::kDone) Clear();
}

// Before the segment goes.
void HostedJob::StopExchange() {
  if (std::exchange(exchanging_, false)) context_.data_plane.RemoveJob(job_, epoch_);
}

void HostedJob::Clear() {
  stage_ = Stage::kClearing;
  StopExchange();
  segment_.reset();
  input_.reset();
  const bool keep = files_ == Files::kKeep && HasPidZero() && !silent_;
  const auto directory =
      std::make_shared<std::optional<JobDirectory>>(std::exchange(directory_, std::nullopt));
  context_.threads.Run([this, keep, directory] {
    if (keep && directory->has_value()) KeepFiles(**directory);
    directory->reset();
    context_.loop.Post([this] {
      proto::WorkerEvent event;
      event.mutable_cleared();
      Report(std::move(event));
      cleared_();
    });
  });
}

// On one of the threads.
void HostedJob::KeepFiles(const JobDirectory& directory) const {
  const std::vector<LeftFile> files =
      Fitting(job_, directory.LeftFiles(), context_.files_bytes_max);
  if (files.empty()) return;
  const absl::Status stored = context_.store_files(job_, directory.path(), files);
  if (stored.ok()) return;
  spdlog::warn("event=files_not_kept job={} reason=\"{}\"", Value(job_),
               std::string(stored.message()));
}

}  // namespace bspnow
