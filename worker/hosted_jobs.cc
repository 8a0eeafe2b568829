#include "worker/hosted_jobs.h"

#include <absl/strings/str_cat.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace bspnow {
namespace {

// Of the 128 TiB of an x86-64 process, for the segments of all jobs. None takes more than a part of
// what is left, so that there is always some for one more.
constexpr std::uint64_t kAddressSpaceBytesInAll = std::uint64_t{96} << 40;
constexpr std::uint64_t kAddressSpaceParts = 16;

proto::WorkerEvent EventOf(std::uint64_t job, std::uint64_t epoch) {
  proto::WorkerEvent event;
  event.set_job(job);
  event.set_epoch(epoch);
  return event;
}

// Each process has exactly one host, and each host some processes, in ascending order.
bool IsWhole(const proto::StartJob& start) {
  const std::uint32_t nprocs = start.spec().nprocs();
  if (nprocs == 0 || nprocs > kProcessesMax) return false;
  if (start.has_resume()) {
    const std::uint32_t participants = start.resume().participants();
    if (participants == 0 || participants > nprocs || start.resume().superstep() == 0) return false;
  }
  std::set<std::uint32_t> seen;
  for (const proto::Host& host : start.hosts()) {
    if (host.pids().empty() || !std::is_sorted(host.pids().begin(), host.pids().end()))
      return false;
    for (const std::uint32_t pid : host.pids()) {
      if (pid >= nprocs || !seen.insert(pid).second) return false;
    }
  }
  return seen.size() == nprocs;
}

}  // namespace

HostedJobs::HostedJobs(HostingContext context)
    : context_(std::move(context)),
      keeper_(context_.loop, context_.threads, context_.images, context_.transfer,
              context_.report) {
  context_.keeper = &keeper_;
  context_.lease_until_ns = [this] { return lease_until_ns_; };
  context_.address_space_bytes = [this] { return AddressSpaceLeft() / kAddressSpaceParts; };
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(context_.jobs_directory, error)) {
    RemoveTree(entry.path().string());
  }
}

HostedJob* HostedJobs::Find(std::uint64_t job, std::uint64_t epoch) {
  const auto found = jobs_.find({JobId{job}, Epoch{epoch}});
  return found == jobs_.end() ? nullptr : found->second.get();
}

void HostedJobs::OnOrder(const proto::Order& order) {
  if (order.has_start()) return OnStart(order.start());
  if (order.has_end()) return OnEnd(order.end());
  if (order.has_take_checkpoint()) return OnTakeCheckpoint(order.take_checkpoint());
  if (order.has_copy_checkpoint()) return OnCopyCheckpoint(order.copy_checkpoint());
  if (order.has_keep_checkpoints()) return keeper_.Keep(order.keep_checkpoints());
  if (order.has_let_go()) return OnLetGo(order.let_go());
  if (order.has_signal()) {
    const proto::SignalProcesses& signal = order.signal();
    if (HostedJob* const job = Find(signal.job(), signal.epoch())) job->Signal(signal.signal());
  }
  if (order.has_input()) {
    const proto::Input& input = order.input();
    if (HostedJob* const job = Find(input.job(), input.epoch())) job->OnInput(input);
  }
}

void HostedJobs::OnEnd(const proto::EndJob& end) {
  if (HostedJob* const job = Find(end.job(), end.epoch())) {
    return job->End(end.keep_files() ? HostedJob::Files::kKeep : HostedJob::Files::kDrop);
  }
  proto::WorkerEvent event = EventOf(end.job(), end.epoch());
  event.mutable_cleared();
  context_.report(std::move(event));
}

void HostedJobs::OnTakeCheckpoint(const proto::TakeCheckpoint& order) {
  if (HostedJob* const job = Find(order.job(), order.epoch())) job->TakeCheckpoint(order);
}

// If the job runs here these are its own images; else whatever this node has of it.
void HostedJobs::OnCopyCheckpoint(const proto::CopyCheckpoint& order) {
  std::vector<std::uint32_t> pids;
  for (const auto& [key, job] : jobs_) {
    if (key.first == JobId{order.job()} && !job->abandoned()) pids = job->PidsTakingPart();
  }
  keeper_.Copy(order, std::move(pids));
}

void HostedJobs::OnImagesReceived(JobId job, std::uint64_t checkpoint) {
  proto::WorkerEvent event;
  event.set_job(Value(job));
  event.mutable_checkpoint_copied()->set_checkpoint(checkpoint);
  context_.report(std::move(event));
}

void HostedJobs::OnLetGo(const proto::LetGo& order) {
  if (HostedJob* const job = Find(order.job(), order.epoch())) {
    return job->LetGo(order.checkpoint());
  }
  keeper_.Discard(JobId{order.job()}, order.checkpoint(), [] {});
}

void HostedJobs::OnStart(const proto::StartJob& start) {
  if (Find(start.job(), start.epoch()) != nullptr || empty_) return;
  int node = 0;
  while (node < start.hosts_size() && WorkerId{start.hosts(node).worker()} != self_) ++node;
  if (node == start.hosts_size() || !IsWhole(start)) {
    proto::WorkerEvent event = EventOf(start.job(), start.epoch());
    event.mutable_not_started()->set_reason("the order to start it makes no sense");
    event.mutable_not_started()->set_exit_status(1);
    context_.report(std::move(event));
    return;
  }
  spdlog::info("event=job_starts job={} epoch={} program={} processes={}", start.job(),
               start.epoch(), start.spec().program().name(), start.hosts(node).pids_size());
  const Key key{JobId{start.job()}, Epoch{start.epoch()}};
  auto job = std::make_unique<HostedJob>(
      context_, HostedJobPlan{.start = start, .node = static_cast<std::uint32_t>(node)},
      [this, key] { OnCleared(key); });
  job->Start();
  jobs_[key] = std::move(job);
}

std::uint64_t HostedJobs::AddressSpaceLeft() const {
  std::uint64_t taken = 0;
  for (const auto& [key, job] : jobs_) taken += job->segment_bytes();
  return kAddressSpaceBytesInAll - std::min(taken, kAddressSpaceBytesInAll);
}

// Called by the job, which therefore must live a little longer.
void HostedJobs::OnCleared(const Key& key) {
  context_.loop.Post([this, key] {
    spdlog::info("event=job_cleared job={} epoch={}", Value(key.first), Value(key.second));
    jobs_.erase(key);
    KillStrays();
    if (jobs_.empty() && empty_) empty_();
  });
}

// Orphans come to us if a bsp-host was killed: then nobody else knows of them.
void HostedJobs::KillStrays() {
  std::set<pid_t> hosts;
  for (const auto& [key, job] : jobs_) hosts.insert(job->host_os_pid());
  std::ifstream file(absl::StrCat("/proc/self/task/", getpid(), "/children"));
  for (pid_t child; file >> child;) {
    if (hosts.contains(child)) continue;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

void HostedJobs::OnOutputKept(JobId job, Epoch epoch, std::uint64_t credit_bytes) {
  if (HostedJob* const found = Find(Value(job), Value(epoch))) found->OnOutputKept(credit_bytes);
}

void HostedJobs::OnBroken(JobId job, Epoch epoch, ExchangeFault fault, const std::string& reason) {
  if (HostedJob* const found = Find(Value(job), Value(epoch))) {
    found->ReportBroken(fault, reason);
  }
}

void HostedJobs::AbandonAllBut(const std::set<JobId>& kept) {
  for (const auto& [key, job] : jobs_) {
    if (!kept.contains(key.first)) job->Abandon();
  }
}

std::vector<proto::HeldJob> HostedJobs::Held() const {
  std::vector<proto::HeldJob> held;
  for (const auto& [key, job] : jobs_) {
    if (!job->abandoned()) held.push_back(job->Held());
  }
  return held;
}

void HostedJobs::SetLease(std::uint64_t until_ns) {
  lease_until_ns_ = until_ns;
  for (const auto& [key, job] : jobs_) {
    if (!job->abandoned()) job->SetLease(until_ns);
  }
}

void HostedJobs::EndAll(const std::string& reason, std::function<void()> empty) {
  empty_ = std::move(empty);
  for (const auto& [key, job] : jobs_) {
    job->ReportBroken(ExchangeFault::kEnvironment, reason);
    job->End(HostedJob::Files::kDrop);
  }
  if (jobs_.empty()) empty_();
}

std::uint32_t HostedJobs::processes() const {
  std::uint32_t processes = 0;
  for (const auto& [key, job] : jobs_) processes += job->running();
  return processes;
}

}  // namespace bspnow
