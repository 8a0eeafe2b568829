#include "worker/core/hosted_jobs.h"

#include <absl/strings/str_cat.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/exit_status.h"
#include "base/units.h"
#include "net/stream_key.h"
#include "runtime/link/link.h"

namespace bspnow::worker {
namespace {

// Between two looks (see EndOrphans), of which there is one a second; anything less is load.
constexpr std::uint64_t kPausedNs = 3 * kNsPerS;

proto::WorkerEvent EventOf(std::uint64_t job, std::uint64_t epoch) {
  proto::WorkerEvent event;
  event.set_job(job);
  event.set_epoch(epoch);
  return event;
}

// Each process has exactly one host, and each host some processes, in ascending order. Several
// hosts have a key in common.
bool IsWhole(const proto::StartJob& start) {
  const std::uint32_t nprocs = start.spec().nprocs();
  if (nprocs == 0 || nprocs > kProcessesMax) return false;
  if (start.hosts_size() > 1 && !StreamKey::FromBytes(start.key())) return false;
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

absl::Status HostedJobs::Describe(proto::RegisterRequest& request) {
  absl::StatusOr<std::vector<proto::StoredJob>> listed = keeper_.List();
  if (!listed.ok()) return listed.status();
  for (proto::StoredJob& stored : *listed) *request.add_stored() = std::move(stored);
  std::vector<proto::HeldJob> held = Held();
  request.set_unfinished(held.size() != jobs_.size() || keeper_.busy());
  for (proto::HeldJob& job : held) *request.add_held() = std::move(job);
  started_.Describe(request);
  return absl::OkStatus();
}

void HostedJobs::OnRegistered(const proto::RegisterReply& reply) {
  std::set<JobId> kept;
  for (const std::uint64_t job : reply.keep_jobs()) kept.insert(JobId{job});
  AbandonAllBut(kept);
  self_ = WorkerId{reply.worker()};
  lease_ns_ = reply.lease_ms() * kNsPerMs;
  heartbeat_ms_ = reply.heartbeat_ms();
  idle_heartbeat_ms_ = reply.idle_heartbeat_ms() == 0 ? heartbeat_ms_ : reply.idle_heartbeat_ms();
  for (const auto& [key, job] : jobs_) {
    if (!job->abandoned()) job->SayAgain();
  }
}

void HostedJobs::OnLeaseRenewed(std::uint64_t sent_ns) {
  lease_from_ns_ = sent_ns;
  if (sent_ns >= resumed_ns_) paused_ns_ = 0;  // Else it is older than the pause.
  context_.lease_until_ns = sent_ns + lease_ns_;
  for (const auto& [key, job] : jobs_) {
    if (!job->abandoned()) job->SetLease(context_.lease_until_ns);
  }
}

// A lease holds for some heartbeats; one that was asked for seldom is given as much time beyond the
// next one.
bool HostedJobs::HearsCoordinator(std::uint64_t now_ns) const {
  return now_ns < context_.lease_until_ns + (heartbeat_ms() - heartbeat_ms_) * kNsPerMs;
}

// With a report: the coordinator may still hear this worker, though its answers get lost. Who had
// no job has seldom asked, and was given one by the coordinator. Who was stopped himself, or his
// machine, has heard nobody meanwhile: the coordinator may have been, too, or wait to be read.
void HostedJobs::EndOrphans(std::uint64_t now_ns) {
  const std::uint64_t since_ns = now_ns - std::exchange(looked_ns_, now_ns);
  if (since_ns > kPausedNs && since_ns != now_ns) {
    paused_ns_ += since_ns;
    resumed_ns_ = now_ns;
  }
  if (jobs_.empty()) {
    idle_ns_ = now_ns;
    paused_ns_ = 0;
  }
  const std::uint64_t from_ns = std::max(lease_from_ns_, idle_ns_) + paused_ns_;
  if (now_ns <= from_ns + orphan_timeout_ns_) return;
  const std::uint64_t alone_s = (now_ns - lease_from_ns_ - paused_ns_) / kNsPerS;
  for (const auto& [key, job] : jobs_)
    job->EndUnasked(absl::StrCat("no coordinator has renewed its lease for ", alone_s, " s"));
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
  if (order.has_release_held()) return OnReleaseHeld(order.release_held());
  if (order.has_look_again()) {
    const proto::LookAgain& again = order.look_again();
    if (HostedJob* const job = Find(again.job(), again.epoch())) job->LookAgain(again.look());
  }
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
  if (HostedJob* const job = Find(end.job(), end.epoch()); job != nullptr && !job->abandoned()) {
    return job->End(end.keep_files()     ? JobHost::Left::kFilesAndProfile
                    : end.keep_profile() ? JobHost::Left::kProfile
                                         : JobHost::Left::kNothing);
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

void HostedJobs::OnReleaseHeld(const proto::ReleaseHeld& order) {
  if (HostedJob* const job = Find(order.job(), order.epoch())) {
    return job->ReleaseHeld(order.checkpoint());
  }
  keeper_.Release(JobId{order.job()}, order.checkpoint());
}

void HostedJobs::RefuseStart(const proto::StartJob& start, const std::string& reason) {
  proto::WorkerEvent event = EventOf(start.job(), start.epoch());
  event.mutable_not_started()->set_reason(reason);
  event.mutable_not_started()->set_exit_status(kFailureStatus);
  context_.report(std::move(event));
}

void HostedJobs::OnStart(const proto::StartJob& start) {
  const HostedJob* const known = Find(start.job(), start.epoch());
  // The coordinator's journal is an older copy, and gives the number of the epoch again.
  if (known != nullptr && known->abandoned())
    return RefuseStart(start, "an epoch of this number is still being cleared away there");
  if (known != nullptr || empty_) return;
  int node = 0;
  while (node < start.hosts_size() && WorkerId{start.hosts(node).worker()} != self_) ++node;
  if (node == start.hosts_size() || !IsWhole(start))
    return RefuseStart(start, "the order to start it makes no sense");
  spdlog::info("event=job_starts job={} epoch={} program={} processes={}", start.job(),
               start.epoch(), start.spec().program().name(), start.hosts(node).pids_size());
  const Key key{JobId{start.job()}, Epoch{start.epoch()}};
  started_.OnStart(key.first, key.second);
  auto job = std::make_unique<HostedJob>(context_, start, static_cast<std::uint32_t>(node),
                                         [this, key] { OnCleared(key); });
  job->Start();
  jobs_[key] = std::move(job);
  if (jobs_.size() == 1) context_.hosting.RenewLease(heartbeat_ms());
}

void HostedJobs::OnCleared(const Key& key) {
  spdlog::info("event=job_cleared job={} epoch={}", Value(key.first), Value(key.second));
  jobs_.erase(key);
  if (!jobs_.empty()) return;
  context_.hosting.RenewLease(heartbeat_ms());
  if (empty_) empty_();
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

void HostedJobs::EndAll(const std::string& reason, std::function<void()> empty) {
  empty_ = std::move(empty);
  for (const auto& [key, job] : jobs_) job->EndUnasked(reason);
  if (jobs_.empty()) empty_();
}

std::uint32_t HostedJobs::processes() const {
  std::uint32_t processes = 0;
  for (const auto& [key, job] : jobs_) processes += job->running();
  return processes;
}

}  // namespace bspnow::worker
