// The jobs of the barrier server, and what it tells of them and of itself.
#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "coordinator/rpc/barrier_server.h"

namespace bspnow {

void BarrierServer::AddJob(JobId job, Epoch epoch, BarrierJob plan) {
  const auto stats = std::make_shared<SuperstepStats>(
      SuperstepStats::Start{.totals = plan.totals, .repeats = plan.participants != 0 ? 1u : 0u});
  if (plan.participants != 0) stats->SetProcesses(plan.participants);
  jobs_.insert_or_assign(
      job, RunningJob{.epoch = epoch,
                      .barrier = Barrier(BarrierPlan{.nprocs = plan.nprocs,
                                                     .hosts = std::move(plan.hosts),
                                                     .participants = plan.participants,
                                                     .origin = plan.origin}),
                      .stats = stats,
                      .first_superstep = plan.first_superstep,
                      .superstep = plan.first_superstep,
                      .adopted = plan.origin == EpochOrigin::kAdopted});
}

void BarrierServer::SetFirstSuperstep(JobId job, Epoch epoch, Superstep first) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.epoch != epoch) return;
  RunningJob& running = found->second;
  if (first <= running.first_superstep) return;
  running.first_superstep = first;
  running.superstep = std::max(running.superstep, first);
  running.barrier.OnResumed();
  SuperstepStats::Start start{.totals = {}, .repeats = 1};
  start.totals.supersteps = Value(first) + 1;
  running.stats = std::make_shared<SuperstepStats>(start);
}

std::uint32_t BarrierServer::ParticipantsOf(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? 0 : found->second.barrier.processes();
}

Superstep BarrierServer::SuperstepOf(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? Superstep{0} : found->second.superstep;
}

std::shared_ptr<const SuperstepStats> BarrierServer::StatsOf(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : found->second.stats;
}

std::uint64_t BarrierServer::refused(Refusal refusal) const {
  return refused_[static_cast<std::size_t>(refusal)];
}

std::uint64_t BarrierServer::faults(FrameFault fault) const {
  return faults_[static_cast<std::size_t>(fault)];
}

std::uint64_t BarrierServer::bytes_read() const {
  std::uint64_t bytes = closed_bytes_read_;
  for (const auto& [id, connection] : connections_) bytes += connection.stream->bytes_read();
  return bytes;
}

std::uint64_t BarrierServer::bytes_written() const {
  std::uint64_t bytes = closed_bytes_written_;
  for (const auto& [id, connection] : connections_) bytes += connection.stream->bytes_written();
  return bytes;
}

}  // namespace bspnow
