// From the order to start a job to its running processes.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/failpoint.h"
#include "worker/hosted_job.h"
#include "worker/images/cpu_features.h"
#include "worker/spawn.h"

namespace bspnow {
namespace {

constexpr int kFailureStatus = 1;

std::vector<Pid> PidsOf(const proto::Host& host) {
  std::vector<Pid> pids;
  for (const std::uint32_t pid : host.pids()) pids.push_back(Pid{pid});
  return pids;
}

std::vector<std::string> GivenEnvironment(const proto::JobSpec& spec) {
  const std::vector<std::string> given(spec.environment().begin(), spec.environment().end());
  if (spec.replace_environment()) return given;
  std::vector<std::string> environment = EnvironmentWith(given);
  std::erase_if(environment, [](const std::string& variable) {
    return absl::StartsWith(variable, "NOTIFY_SOCKET=");  // systemd's, to this daemon alone.
  });
  return environment;
}

// Behind what the user has told glibc: of two values for one tunable it takes the last.
void Tune(const std::string& tunables, std::vector<std::string>& environment) {
  static constexpr char kName[] = "GLIBC_TUNABLES=";
  const auto given =
      std::find_if(environment.begin(), environment.end(),
                   [](const std::string& variable) { return absl::StartsWith(variable, kName); });
  if (given == environment.end()) {
    environment.push_back(absl::StrCat(kName, tunables));
  } else {
    absl::StrAppend(&*given, ":", tunables);
  }
}

std::vector<std::string> EnvironmentOf(const proto::StartJob& start) {
  std::vector<std::string> environment = GivenEnvironment(start.spec());
  // Symbols that are resolved later change pages that belong to the program's file.
  environment.push_back("LD_BIND_NOW=1");
  const std::string tunables =
      TunablesFor({start.cpu_features().begin(), start.cpu_features().end()}, PresentCpuFeatures());
  if (!tunables.empty()) Tune(tunables, environment);
  return environment;
}

}  // namespace

void HostedJob::Start() {
  if (plan_.start.reads_input() && HasPidZero()) {
    input_ = std::make_unique<InputPipe>(context_.loop, [this](std::uint64_t bytes) {
      proto::WorkerEvent event;
      event.mutable_input_taken()->set_bytes(bytes);
      Report(std::move(event));
    });
  }
  context_.threads.Run([this] {
    const auto prepared = std::make_shared<Prepared>(Prepare());
    context_.loop.Post([this, prepared] { OnPrepared(std::move(*prepared)); });
  });
}

// On one of the threads.
HostedJob::Prepared HostedJob::Prepare() const {
  const std::string path =
      absl::StrCat(context_.jobs_directory, "/", JobDirectoryName(job_, epoch_));
  Prepared prepared{.directory = JobDirectory::Create(path, plan_.start.spec(), context_.cache)};
  if (!started_pids().empty() && resumes() && prepared.directory.ok()) {
    prepared.restore = PrepareRestore(
        {.job = job_,
         .resume = plan_.start.resume(),
         .pids = started_pids(),
         .directory = prepared.directory->path(),
         .cpu_features = {plan_.start.cpu_features().begin(), plan_.start.cpu_features().end()}},
        context_.transfer, context_.images);
  }
  return prepared;
}

void HostedJob::OnPrepared(Prepared prepared) {
  stage_ = Stage::kDone;
  absl::Status status = prepared.directory.status();
  if (status.ok()) directory_.emplace(std::move(*prepared.directory));
  if (ending_) return Clear();
  if (!prepared.restore.failure.empty()) return ReportRestoreFailed(prepared.restore);
  if (status.ok()) status = StartProcesses(std::move(prepared.restore.processes));
  if (status.ok() && resumes()) status = FailpointStatus("worker.restore.started");
  if (!status.ok()) ReportNotStarted(kFailureStatus, std::string(status.message()));
}

absl::Status HostedJob::StartProcesses(std::vector<proto::HostedProcess> processes) {
  if (absl::Status s = MakeSegment(); !s.ok()) return s;
  if (started_pids().empty()) {
    HoldWithoutProcesses();
    return absl::OkStatus();
  }
  const proto::HostPlan plan = PlanForHost(std::move(processes));
  UniqueFd input;
  if (input_) input = input_->TakeReadEnd();
  absl::StatusOr<StartedHost> started =
      StartHost(HostProgram{.path = context_.host_program,
                            .name = JobDirectoryName(job_, epoch_),
                            .limits = context_.limits},
                plan,
                PlanDescriptors{
                    .segment = segment_->fd(), .doorbell = doorbell_.get(), .input = input.get()});
  if (!started.ok()) return started.status();
  for (const proto::HostedProcess& process : plan.processes()) running_.insert(Pid{process.pid()});
  host_ = std::make_unique<HostLink>(
      context_.loop, std::move(*started),
      [this](proto::WorkerEvent event) { OnHostEvent(std::move(event)); }, [this] { OnGone(); });
  stage_ = Stage::kRunning;
  checkpoints_.LookForRoom();
  return absl::OkStatus();
}

// All that were here had left before the checkpoint. The node stays one of the job's, as it was, to
// its end.
void HostedJob::HoldWithoutProcesses() {
  for (const std::uint32_t pid : pids()) begun_.insert(Pid{pid});
  proto::WorkerEvent event;
  event.mutable_resumed();
  Report(std::move(event));
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
  segment_->SetLease(context_.lease_until_ns());
  JobPlan exchange{
      .job = job_, .epoch = epoch_, .hosts = {}, .segment = segment_.get(), .doorbell = -1};
  if (resumes()) {
    const proto::Resume& resume = plan_.start.resume();
    if (resumes_images()) exchange.participants = resume.participants();
    segment_->Resume(resume.superstep() - 1, exchange.participants);
  }
  std::vector<std::vector<Pid>> pids;
  for (const proto::Host& host : plan_.start.hosts()) {
    pids.push_back(PidsOf(host));
    exchange.hosts.push_back(JobHost{.worker = WorkerId{host.worker()},
                                     .data_address = host.data_address(),
                                     .node = host.node(),
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

proto::HostPlan HostedJob::PlanForHost(std::vector<proto::HostedProcess> processes) const {
  const proto::JobSpec& spec = plan_.start.spec();
  proto::HostPlan plan;
  plan.set_program(resumes_images() ? context_.restore_program : directory_->program_path());
  plan.mutable_arguments()->CopyFrom(spec.arguments());
  if (plan.arguments().empty()) plan.add_arguments(spec.program().name());
  for (std::string& variable : EnvironmentOf(plan_.start)) {
    plan.add_environment(std::move(variable));
  }
  plan.set_directory(spec.directory());
  std::error_code error;
  if (plan.directory().empty() ||
      (spec.directory_optional() && !std::filesystem::is_directory(plan.directory(), error))) {
    plan.set_directory(directory_->path());
  }
  if (processes.empty()) {
    for (const std::uint32_t pid : started_pids()) processes.emplace_back().set_pid(pid);
  }
  plan.mutable_processes()->Assign(processes.begin(), processes.end());
  plan.set_processors(context_.processors);
  plan.set_memory_bytes(spec.memory_bytes());
  plan.set_segment_bytes(segment_->bytes());
  plan.set_interactive(spec.interactive());
  plan.set_job_directory(directory_->path());
  for (const GivenFile& file : directory_->given()) {
    proto::KnownFile& given = *plan.add_given();
    given.set_name(file.name);
    given.set_bytes(file.bytes);
    given.set_changed_ns(file.changed_ns);
  }
  plan.set_image_directory(context_.images.DirectoryOf(job_));
  return plan;
}

}  // namespace bspnow
