#include "coordinator/core/cluster_figures.h"

#include <algorithm>

#include "base/units.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/cluster_view.h"

namespace bspnow::coordinator {
namespace {

bool HasRun(const Job& entry) { return entry.shown().started_unix_ms() != 0; }

std::uint64_t NsSince(std::int64_t unix_ms, std::int64_t now_unix_ms) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(now_unix_ms - unix_ms, 0)) * kNsPerMs;
}

NodeFigures FiguresOfNode(const Node& node, std::uint64_t now_ns) {
  return {.name = node.name.empty() ? node.registration.node().name() : node.name,
          .up = node.up(),
          .rests = node.up() && node.rests_until_ns > now_ns,
          .lease_age_ns = node.up() ? node.lease.AgeNs(now_ns) : 0};
}

}  // namespace

void Cluster::CountQueued(const proto::Job& started) {
  queue_figures_.wait_ns->Record(NsSince(started.submitted_unix_ms(), Now().unix_ms), 1);
}

JobFigures Cluster::FiguresOf(const Job& entry) const {
  const proto::Job& kept = entry.shown();
  JobFigures figures{};
  proto::Job& shown = figures.shown;
  shown.set_job(kept.job());
  shown.set_state(kept.state());
  shown.mutable_spec()->set_name(kept.spec().name());
  shown.mutable_spec()->set_user(kept.spec().user());
  *shown.mutable_totals() = kept.totals();
  *shown.mutable_checkpoints() = kept.checkpoints();
  if (entry.live == nullptr) return figures;
  const LiveJob& live = *entry.live;
  figures.counters = live.counters;
  figures.checkpoint_ns = live.policy.spent_ns() - live.counters.checkpoints_spent_from;
  *shown.mutable_checkpoints() = StatusOf(live, ImageNodes());
  if (live.running) {
    figures.counters.Add(*live.running->stats);
    *shown.mutable_totals() = live.running->stats->totals();
    NameNodesOfStragglers(kept, *shown.mutable_totals());
    AddBarrierWaits(*live.running, NowNs(), shown);
    KeepUnusualWaits(shown);
  }
  if (kept.state() == proto::RUNNING && !kept.spec().checkpoints().off()) {
    const std::int64_t committed_ms = shown.checkpoints().committed_unix_ms();
    figures.unsaved_ns = entry.EpochRunMs(NowNs()) * kNsPerMs;
    if (committed_ms != 0)  // And the epoch may have gone on from there long after.
      figures.unsaved_ns = std::min(*figures.unsaved_ns, NsSince(committed_ms, Now().unix_ms));
  }
  return figures;
}

void Cluster::KeepFigures(JobId job) {
  const LiveJob* live = FindLive(job);
  if (live != nullptr && live->running) table_.SetFigures(job, Message(*table_.Find(job)));
}

// Within a barrier, but only while a checkpoint's totals are to come. Where the coordinator
// releases, images are taken at the release that orders them: once the first totals are there, a
// barrier does not pay for more.
void Cluster::OnTotals(JobId id) {
  LiveJob* const job = FindLive(id);
  if (job == nullptr || !job->running) return;
  if (job->checkpoints.HasAllTotals() && !ReleasesItself(*table_.Find(id))) return;
  job->running->totals_wanted = job->checkpoints.OnTotals(job->running->stats->totals());
}

void Cluster::KeepEnded(JobId id) {
  const Job& entry = table_.jobs().at(id);
  queue_figures_.ended[StateText(entry.state())] += 1;
  if (!HasRun(entry)) return;
  const std::uint64_t now_ns = NowNs();
  ended_figures_.push_back({.ended_ns = now_ns, .figures = FiguresOf(entry)});
  while (ended_figures_.size() > kEndedShownMax ||
         now_ns - ended_figures_.front().ended_ns > kEndedShownNs)
    ended_figures_.pop_front();
}

ClusterFigures Cluster::Figures() const {
  const Moment now = Now();
  ClusterFigures figures;
  for (const proto::JobState state :
       {proto::WAITING, proto::RUNNING, proto::RECOVERING, proto::SUSPENDED, proto::ENDING,
        proto::SUCCEEDED, proto::FAILED, proto::CANCELLED})
    figures.jobs[StateText(state)] = 0;
  for (const auto& [state, count] : table_.CountByState()) figures.jobs[StateText(state)] = count;
  for (const auto& [id, entry] : table_.jobs()) {
    if (entry.live == nullptr) continue;
    if (HasRun(entry)) figures.of_jobs.push_back(FiguresOf(entry));
    if (entry.state() == proto::WAITING)
      figures.oldest_wait_ns =
          std::max(figures.oldest_wait_ns, NsSince(entry.shown().submitted_unix_ms(), now.unix_ms));
  }
  for (const EndedJob& ended : ended_figures_)
    if (now.now_ns - ended.ended_ns <= kEndedShownNs) figures.of_jobs.push_back(ended.figures);
  figures.workers = {{"up", 0}, {"drained", 0}, {"lost", 0}};
  for (const auto& [name, node] : nodes_.all()) {
    if (node.lost() || node.up()) figures.nodes.push_back(FiguresOfNode(node, now.now_ns));
    figures.workers["lost"] += node.lost() ? 1 : 0;
  }
  for (const JobTable::NodeView& view : table_.nodes()) {
    ++figures.workers[view.node->open() ? "up" : "drained"];
    figures.slots_used += view.slots_used;
    if (view.node->open() && view.node->slots > view.slots_used)
      figures.slots_free += view.node->slots - view.slots_used;
    figures.connections += view.node->lease.connected() ? 1 : 0;
  }
  for (const auto& [worker, node] : nodes_.up()) figures.control_streams += node->sink ? 1 : 0;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Refusal::kCount); ++i)
    figures.refused[RefusalName(Refusal{i})] = barriers_.refused(Refusal{i});
  figures.barriers = barriers_.released();
  figures.checkpoints = checkpoint_figures_;
  figures.queue = queue_figures_;
  figures.supersteps = superstep_histograms_;
  figures.output_bytes = output_bytes_of_all_;
  figures.term = term_;
  return figures;
}

}  // namespace bspnow::coordinator
