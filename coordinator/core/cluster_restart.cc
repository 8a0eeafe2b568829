// What becomes of jobs and their images when coordinators and nodes come and go. See "A coordinator
// that comes back" in docs/design.md.
#include <spdlog/spdlog.h>

#include <utility>

#include "base/units.h"
#include "coordinator/core/checkpoints/checkpoint_catalogue.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/cluster_view.h"

namespace bspnow::coordinator {

void Cluster::RestoreCheckpoints(const StoredState& stored) {
  for (const JobRecord& record : stored.jobs) {
    const JobId id = IdOf(record);
    const auto found = stored.checkpoints.find(id);
    const bool has_any = found != stored.checkpoints.end();
    if (HasEnded(record)) {
      if (has_any) ports_.journal.WriteCheckpoints(id, "", [](const absl::Status&) {});
      continue;
    }
    const proto::JobSpec& spec = record.job().spec();
    LiveJob& job = AddJob(id, spec, spec.reconnect_ms() * kNsPerMs);
    job.restored = true;
    job.counted_loss_ns = table_.jobs().at(id).lost_ns;
    job.printed.Restore(record.job().output_bytes());
    auto catalogue = DecodeCatalogue(has_any ? found->second : "");
    if (!catalogue.ok()) {
      spdlog::error("event=checkpoints_lost job={} error=\"{}\"", Value(id),
                    catalogue.status().ToString());
      catalogue = CheckpointCatalogue{};
    }
    job.history = std::move(catalogue->history);
    job.checkpoints.Restore(*std::move(catalogue));
    const coordinator::Checkpoint* last = job.checkpoints.last();
    if (last == nullptr) continue;
    job.policy.Restore(job.history.spent_ns, job.history.run_ns, last->cost);
    job.counters.checkpoints_spent_from = job.policy.spent_ns();
    table_.SetCpuFeatures(id, last->cpu_features);
  }
}

// One that releases itself tells all of its epoch again. Of any other it is what the journal was
// told last, with its last checkpoint or since.
proto::JobTotals Cluster::LastTotals(const JobRecord& record) {
  const LiveJob& job = *FindLive(IdOf(record));
  if (ReleasesItself(record)) return job.history.epoch_totals;
  const proto::JobTotals saved = TotalsAt(job.checkpoints.last());
  const proto::JobTotals& told = record.job().totals();
  if (record.totals_epoch() != record.job().epoch()) return saved;
  return told.supersteps() > saved.supersteps() ? told : saved;
}

// All hosts of a job are back; it goes on where it was.
void Cluster::OnReturned(JobId id) {
  LiveJob* job = FindLive(id);
  const JobRecord* record = table_.Find(id);
  if (job == nullptr || record == nullptr) return;
  job->epoch = EpochOf(*record);
  job->policy.OnStarted(NowNs(), job->superstep());
  if (table_.Runs(id, job->epoch)) {
    if (job->attachment) job->attachment->OnStarted();
    Perform(SendInput(id, *job));
  } else {  // The last coordinator ordered its start, and nobody may wait for that for ever.
    const coordinator::Checkpoint* from = job->checkpoints.last();
    table_.OnLaunched(id, job->epoch, from == nullptr ? 0 : from->file_bytes(), Now());
  }
  // Which processes wait after an image died with the last coordinator.
  std::vector<CheckpointOrders::ReleaseHeld> release_held;
  for (const std::string& node : NodesOf(*record))
    release_held.push_back({node, job->checkpoints.last_number()});
  SendReleases(id, EpochOf(*record), release_held);
}

// The coordinator was stopped, or its machine suspended. Nobody could be heard, so nobody is blamed
// for that time: neither nodes nor clients.
void Cluster::OnPaused(std::uint64_t ns) {
  spdlog::warn("event=paused seconds={:.1f}", 1e-9 * static_cast<double>(ns));
  table_.OnPaused(ns, Now());
  for (const auto& [id, job] : LiveJobs()) job->OnPaused(ns, NowNs());
  SetDeadline();
}

// A node says at its registration what lies there.
void Cluster::OnStoredJobs(Node& node) {
  std::map<JobId, std::set<std::uint64_t>> numbers_of;
  for (const proto::StoredJob& stored : node.registration.stored())
    numbers_of[JobId{stored.job()}].insert(stored.checkpoints().begin(),
                                           stored.checkpoints().end());
  std::vector<JobId> starting;
  for (const auto& [id, job] : LiveJobs()) {
    const auto found = numbers_of.find(id);
    // A directory without images, since others hold them now, goes with the job, too.
    if (found != numbers_of.end()) job->checkpoints.OnDirectoryAt({node.name});
    const CheckpointOrders orders = job->checkpoints.OnNodeStores(
        node.name, found == numbers_of.end() ? std::set<std::uint64_t>() : found->second);
    SendKeeps(id, orders.keeps);
    SendReleases(id, EpochOf(*table_.Find(id)), orders.release_held);
    if (job->starting) starting.push_back(id);
  }
  std::vector<JobId> unknown;
  for (const auto& [id, numbers] : numbers_of) {
    table_.OnJobSeen(id);
    if (table_.IsUnknown(id)) {
      unknown.push_back(id);
    } else if (FindLive(id) == nullptr) {
      SendKeeps(id, {{.node = node.name, .checkpoints = {}}});
    }
  }
  KeepUnknown(node, std::move(unknown));
  const LiveNodes live = StayingNodes();
  for (const auto& [id, job] : LiveJobs()) job->CountCopies(live);
  for (const JobId id : starting) Prepare(id);
}

void Cluster::OnHolderLost(const std::string& node) {
  std::vector<JobId> jobs;
  const LiveNodes live = StayingNodes();
  for (const auto& [id, job] : LiveJobs()) {
    job->CountCopies(live);
    if (job->checkpoints.under_way()) jobs.push_back(id);
  }
  for (const JobId id : jobs)
    if (LiveJob* job = FindLive(id))
      Perform(PerformCheckpoint(id, job->checkpoints.OnNodeLost(node, StayingNodes())));
}

}  // namespace bspnow::coordinator
