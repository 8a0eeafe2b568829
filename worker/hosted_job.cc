#include "worker/hosted_job.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <errno.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <filesystem>
#include <utility>

#include "worker/spawn.h"

namespace bspnow {
namespace {

constexpr int kFailureStatus = 1;

std::vector<Pid> PidsOf(const proto::Host& host) {
  std::vector<Pid> pids;
  for (const std::uint32_t pid : host.pids()) pids.push_back(Pid{pid});
  return pids;
}

std::vector<std::string> EnvironmentOf(const proto::JobSpec& spec) {
  const std::vector<std::string> given(spec.environment().begin(), spec.environment().end());
  if (spec.replace_environment()) return given;
  std::vector<std::string> environment = EnvironmentWith(given);
  std::erase_if(environment, [](const std::string& variable) {
    return absl::StartsWith(variable, "NOTIFY_SOCKET=");  // systemd's, to this daemon alone.
  });
  return environment;
}

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
      cleared_(std::move(cleared)) {}

HostedJob::~HostedJob() { StopExchange(); }

// ---- Starting -----------------------------------------------------------------------------------

void HostedJob::Start() {
  if (plan_.start.reads_input() && HasPidZero()) {
    input_ = std::make_unique<InputPipe>(context_.loop, [this] {
      proto::WorkerEvent event;
      event.mutable_input_taken();
      Report(std::move(event));
    });
  }
  context_.threads.Run([this] {
    const std::string path =
        absl::StrCat(context_.jobs_directory, "/", JobDirectoryName(job_, epoch_));
    const auto directory = std::make_shared<absl::StatusOr<JobDirectory>>(
        JobDirectory::Create(path, plan_.start.spec(), context_.cache));
    context_.loop.Post([this, directory] { OnPrepared(std::move(*directory)); });
  });
}

void HostedJob::OnPrepared(absl::StatusOr<JobDirectory> directory) {
  stage_ = Stage::kDone;
  absl::Status status = directory.status();
  if (directory.ok()) directory_.emplace(std::move(*directory));
  if (ending_) {
    Clear();
    return;
  }
  if (status.ok()) status = StartProcesses();
  if (!status.ok()) ReportNotStarted(kFailureStatus, std::string(status.message()));
}

absl::Status HostedJob::StartProcesses() {
  if (absl::Status s = MakeSegment(); !s.ok()) return s;
  const absl::StatusOr<HostPlan> plan = PlanForHost();
  if (!plan.ok()) return plan.status();
  UniqueFd input;
  if (input_) input = input_->TakeReadEnd();
  absl::StatusOr<StartedHost> started =
      StartHost(HostProgram{.path = context_.host_program,
                            .name = JobDirectoryName(job_, epoch_),
                            .limits = context_.limits},
                *plan,
                PlanDescriptors{
                    .segment = segment_->fd(), .doorbell = doorbell_.get(), .input = input.get()});
  if (!started.ok()) return started.status();
  running_.insert(plan->pids.begin(), plan->pids.end());
  host_ = std::make_unique<HostLink>(context_.loop, std::move(*started), EventsOfHost());
  stage_ = Stage::kRunning;
  return absl::OkStatus();
}

absl::Status HostedJob::MakeSegment() {
  const proto::JobSpec& spec = plan_.start.spec();
  absl::StatusOr<NodeSegment> segment =
      NodeSegment::Create(SegmentPlan{.job = job_,
                                      .epoch = epoch_,
                                      .nprocs = spec.nprocs(),
                                      .check_full = spec.check_full(),
                                      .memory_bytes = context_.memory_bytes,
                                      .address_space_bytes = context_.address_space_bytes()});
  if (!segment.ok()) return segment.status();
  segment_ = std::make_unique<NodeSegment>(std::move(*segment));
  JobPlan exchange{
      .job = job_, .epoch = epoch_, .hosts = {}, .segment = segment_.get(), .doorbell = -1};
  std::vector<std::vector<Pid>> pids;
  for (const proto::Host& host : plan_.start.hosts()) {
    pids.push_back(PidsOf(host));
    exchange.hosts.push_back(JobHost{.worker = WorkerId{host.worker()},
                                     .data_address = host.data_address(),
                                     .pids = pids.back()});
  }
  segment_->Place(plan_.node, pids);
  if (pids.size() > 1) {
    doorbell_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!doorbell_.valid()) {
      return absl::ResourceExhaustedError(absl::StrCat("making a doorbell: ", strerror(errno)));
    }
    exchange.doorbell = doorbell_.get();
  }
  context_.data_plane.AddJob(exchange);
  exchanging_ = true;
  return absl::OkStatus();
}

absl::StatusOr<HostPlan> HostedJob::PlanForHost() const {
  const proto::JobSpec& spec = plan_.start.spec();
  HostPlan plan;
  plan.program = directory_->program_path();
  plan.arguments.assign(spec.arguments().begin(), spec.arguments().end());
  if (plan.arguments.empty()) plan.arguments.push_back(spec.program().name());
  plan.environment = EnvironmentOf(spec);
  plan.directory = spec.directory();
  std::error_code error;
  if (plan.directory.empty() ||
      (spec.directory_optional() && !std::filesystem::is_directory(plan.directory, error))) {
    plan.directory = directory_->path();
  }
  plan.pids = PidsOf(plan_.start.hosts(static_cast<int>(plan_.node)));
  if (plan.pids.empty()) return absl::InvalidArgumentError("no process is for this node");
  plan.processors = context_.processors;
  plan.memory_bytes = spec.memory_bytes();
  plan.segment_bytes = segment_->bytes();
  plan.interactive = spec.interactive();
  return plan;
}

bool HostedJob::HasPidZero() const {
  for (const std::uint32_t pid : plan_.start.hosts(static_cast<int>(plan_.node)).pids()) {
    if (pid == 0) return true;
  }
  return false;
}

// ---- What happens -------------------------------------------------------------------------------

HostLinkEvents HostedJob::EventsOfHost() {
  return HostLinkEvents{
      .started =
          [this] {
            proto::WorkerEvent event;
            event.mutable_started();
            Report(std::move(event));
          },
      .not_started = [this](int status,
                            const std::string& reason) { ReportNotStarted(status, reason); },
      .attached =
          [this](Pid pid, pid_t os_pid) {
            if (exchanging_) context_.data_plane.SetProcess(job_, epoch_, pid, os_pid);
          },
      .begun =
          [this](Pid pid) {
            proto::WorkerEvent event;
            event.mutable_begun()->set_pid(Value(pid));
            Report(std::move(event));
          },
      .output = [this](Pid pid, Stream stream,
                       std::string text) { OnOutput(pid, stream, std::move(text)); },
      .exited = [this](Pid pid, int wait_status) { OnExited(pid, wait_status); },
      .gone = [this] { OnGone(); }};
}

void HostedJob::OnOutput(Pid pid, Stream stream, std::string text) {
  proto::WorkerEvent event;
  proto::ProcessOutput& output = *event.mutable_output();
  output.set_pid(Value(pid));
  output.set_stream(stream == Stream::kOutput ? proto::STDOUT : proto::STDERR);
  output.set_text(std::move(text));
  Report(std::move(event));
}

void HostedJob::OnExited(Pid pid, int wait_status) {
  running_.erase(pid);
  proto::WorkerEvent event;
  proto::ProcessExited& exited = *event.mutable_exited();
  exited.set_pid(Value(pid));
  exited.set_reached(static_cast<std::uint32_t>(segment_->state(pid)));
  exited.set_superstep(Value(segment_->superstep(pid)));
  if (WIFEXITED(wait_status)) exited.set_exit_status(WEXITSTATUS(wait_status));
  if (WIFSIGNALED(wait_status)) exited.set_signal(WTERMSIG(wait_status));
  Report(std::move(event));
}

void HostedJob::OnGone() {
  host_.reset();
  stage_ = Stage::kDone;
  if (!running_.empty() && !not_started_ && !ending_) {
    ReportBroken("its processes were killed, with bsp-host");
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

void HostedJob::ReportBroken(const std::string& reason) {
  spdlog::warn("event=job_broken job={} epoch={} reason=\"{}\"", Value(job_), Value(epoch_),
               reason);
  proto::WorkerEvent event;
  event.mutable_broken()->set_reason(reason);
  Report(std::move(event));
}

// ---- Orders -------------------------------------------------------------------------------------

void HostedJob::Signal(int signal) {
  if (host_) host_->Signal(signal);
}

void HostedJob::OnInput(const proto::Input& input) {
  if (!input_) return;
  if (!input.data().empty()) input_->Write(input.data());
  if (input.end()) input_->Close();
}

void HostedJob::OnOutputKept(const std::vector<std::size_t>& pieces) {
  std::int64_t credit = 0;
  for (const std::size_t bytes : pieces) credit += OutputCharge(bytes);
  if (host_) host_->Grant(static_cast<std::uint64_t>(credit));
}

void HostedJob::Abandon() {
  silent_ = true;
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
