// What must hold of all that leaves the simulated coordinator or is written by it.
#include <string.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "coordinator/core/checkpoints/checkpoint_catalogue.h"
#include "coordinator/core/jobs/job_record.h"
#include "coordinator/core/jobs/placement.h"
#include "tests/simulation/sim_coordinator.h"

namespace bspnow {
namespace {

using coordinator::CheckpointPart;
using coordinator::DecodeCatalogue;
using coordinator::FreeNode;
using coordinator::SavedImage;
using coordinator::SlotClaim;
using coordinator::SlotClaimOf;
using coordinator::WorkerOf;

// With number 0 if there is none.
Checkpoint NewestOf(const std::string& catalogue) {
  const auto decoded = DecodeCatalogue(catalogue);
  return decoded->checkpoints.empty() ? Checkpoint{} : decoded->checkpoints.back();
}

}  // namespace

// ---- What must hold -----------------------------------------------------------------------------

void SimCoordinator::CheckNothingLeft(JobId job) const {
  std::vector<WorkerId> workers;
  for (const JobTable::NodeView& view : cluster_->table().nodes())
    if (view.node->attached) workers.push_back(view.node->worker);
  if (nodes_.has_any(job, workers))
    oracle_.Fail("job " + std::to_string(Value(job)) + " has left its nodes, but is still there");
}

// No two nodes of a job are known not to reach each other.
void SimCoordinator::CheckReach(const JobRecord& placed) const {
  for (const JobTable::NodeView& view : cluster_->table().nodes()) {
    const auto hosts = [&placed](WorkerId worker) {
      return std::any_of(placed.hosts().begin(), placed.hosts().end(),
                         [worker](const auto& host) { return WorkerOf(host) == worker; });
    };
    if (!hosts(view.node->worker)) continue;
    for (const auto& [worker, reason] : view.node->unreachable)
      if (hosts(worker))
        oracle_.Fail("job " + std::to_string(placed.job().job()) + " is placed on " +
                     view.node->name + ", which cannot reach another of its nodes");
  }
}

// First come, first served: a job that was placed has taken nothing from one before it that waits.
void SimCoordinator::CheckAtOnce(const JobRecord& placed) const {
  const proto::ArrayElement& array = placed.job().array();
  if (array.at_once() == 0) return;
  std::uint32_t with_slots = 0;
  for (const JobRecord* record : cluster_->table().records())
    if (record->job().array().job() == array.job() && !record->hosts().empty() &&
        !HasEnded(*record))
      with_slots += 1;
  if (with_slots > array.at_once())
    oracle_.Fail(std::to_string(with_slots) + " elements of array " + std::to_string(array.job()) +
                 " have slots");
  oracle_.Count("elements of arrays placed");
}

// All jobs are of one user. What recovers does not ask, and may be placed just now, too. What was
// accepted when more were allowed runs alone.
void SimCoordinator::CheckQuota(const JobRecord& placed) const {
  if (user_slots_ == 0 || placed.job().epoch() != 1) return;
  std::uint32_t taken = 0;
  for (const JobRecord* record : cluster_->table().records())
    if (record->job().epoch() == 1 && !record->hosts().empty() && !HasEnded(*record))
      taken += record->job().spec().nprocs();
  const std::uint32_t own = placed.job().spec().nprocs();
  if (taken > std::max(user_slots_, own))
    oracle_.Fail("job " + std::to_string(placed.job().job()) +
                 " is placed beyond its user's quota");
  oracle_.Count(own > user_slots_ ? "jobs that are larger than their quota"
                                  : "jobs placed within a quota");
}

void SimCoordinator::CheckOrder(const JobRecord& placed) const {
  if (placed.job().epoch() != 1 || placed.cancelled() || !placed.job().losses().empty()) return;
  const JobTable& table = cluster_->table();
  // A job holds all its slots until it has left all its nodes.
  std::map<WorkerId, std::uint32_t> taken;
  for (const JobRecord* record : table.records()) {
    if (HasEnded(*record) || record->job().job() == placed.job().job()) continue;
    for (const proto::JobHost& host : record->hosts()) taken[WorkerOf(host)] += host.slots();
  }
  const std::vector<JobTable::NodeView> views = table.nodes();
  std::vector<FreeNode> free;
  for (const JobTable::NodeView& view : views) {
    if (!view.node->open() || !view.node->usable()) continue;
    if (view.node->rests_until_ns > loop_.now_ns()) continue;
    free.push_back({.node = view.node,
                    .slots = view.node->slots - taken[view.node->worker],
                    .accounts = 0,
                    .memory_bytes = 0});
  }
  const proto::Job* first = nullptr;
  for (const JobRecord* record : table.records()) {
    const proto::Job& job = record->job();
    if (job.state() == proto::RECOVERING) return;  // It goes first, unless it waits for holders.
    // Without a reason: it is not durable yet. Or the journal did not take its start just now.
    if (job.state() != proto::WAITING || job.reason().empty() ||
        !table.jobs().at(IdOf(*record)).awaits.empty() || job.reason().starts_with("at most") ||
        job.reason().starts_with("its start could not be stored"))
      continue;
    if (first == nullptr || job.spec().priority() > first->spec().priority()) first = &job;
  }
  if (first == nullptr) return;
  const std::int32_t priority = placed.job().spec().priority();
  const std::int32_t of_first = first->spec().priority();
  if (of_first < priority || (of_first == priority && placed.job().job() < first->job())) return;
  SlotClaim claim = SlotClaimOf(first->spec());
  for (const auto& [node, refused] : table.jobs().at(JobId{first->job()}).refused_by)
    claim.avoids.insert(node);
  if (Place(claim, claim.nprocs, free).has_value())
    oracle_.Fail("job " + std::to_string(placed.job().job()) + " is placed where job " +
                 std::to_string(first->job()) + ", which comes first, would fit");
}

// The orders that leave this coordinator, as long as it rules.
void SimCoordinator::Watch(const proto::Order& order) {
  if (oracle_.traces())
    oracle_.Trace("term " + std::to_string(term_) + " order " + order.ShortDebugString());
  CheckKnown(order);
  if (order.has_copy_checkpoint()) oracle_.Count("copies");
  if (order.take_checkpoint().base() != 0) oracle_.Count("incremental ones");
  if (order.has_take_checkpoint())
    copies_.OnAsked(JobId{order.take_checkpoint().job()}, order.take_checkpoint().checkpoint(),
                    loop_.now_ns());
  if (order.has_input() && rules())
    oracle_.OnInputOrdered(JobId{order.input().job()}, Epoch{order.input().epoch()});
  if (!order.has_start()) return;
  const proto::StartJob& start = order.start();
  const JobId job{start.job()};
  const Epoch epoch{start.epoch()};
  if (!started_.emplace(job, epoch).second) return;
  if (!superseded()) CheckStart(start);
  if (!superseded() || epoch > oracle_.EpochOf(job))
    oracle_.OnStartOrdered(job, epoch, start.spec(), loop_.now_ns());
  if (start.has_resume()) {
    oracle_.Count("recoveries");
  } else if (epoch != Epoch{1}) {
    oracle_.Count("restarts from the start");
  }
}

// Nobody can tell what they are worth whom the journal does not know.
void SimCoordinator::CheckKnown(const proto::Order& order) const {
  if (!order.has_keep_checkpoints() && !order.has_release_held()) return;
  const std::uint64_t job =
      order.has_keep_checkpoints() ? order.keep_checkpoints().job() : order.release_held().job();
  if (cluster_ && cluster_->table().Find(JobId{job}) == nullptr)
    oracle_.Fail("images of job " + std::to_string(job) + " are let go, which nobody knows");
}

// The journal's newest checkpoint is the one that the epoch begins with, and the log ends there: so
// it is the one to go back to whatever happens next.
void SimCoordinator::CheckStart(const proto::StartJob& start) const {
  const JobId job{start.job()};
  const JobRecord* record = cluster_->table().Find(job);
  if (record == nullptr || EpochOf(*record) != Epoch{start.epoch()} ||
      record->job().state() != proto::RUNNING)
    return;  // It was ordered before, and its end follows.
  oracle_.promises().OnStart(job);
  const auto stored = journal_.jobs.find(job);
  if (stored == journal_.jobs.end() || EpochOf(stored->second) < Epoch{start.epoch()})
    oracle_.Fail("job " + std::to_string(Value(job)) + " starts, and the journal does not know");
  if (nodes_.may_run(job))
    oracle_.Fail("job " + std::to_string(Value(job)) + " starts while an older epoch may go on");
  const bspnow::Checkpoint newest = StoredFor(job);
  if (newest.number != start.resume().checkpoint())
    oracle_.Fail("job " + std::to_string(Value(job)) + " starts from checkpoint " +
                 std::to_string(start.resume().checkpoint()) + ", but the journal has " +
                 std::to_string(newest.number));
  CheckLog(job, newest);
  if (start.epoch() == 1) CheckAfter(start);
}

// Whom it starts after has ended as it must have. (In a later epoch an older journal may not know.)
void SimCoordinator::CheckAfter(const proto::StartJob& start) const {
  for (const proto::AfterJob& after : start.spec().after()) {
    const JobRecord* record = cluster_->table().Find(JobId{after.job()});
    if (record == nullptr) continue;  // An older journal has forgotten it.
    if (!HasEnded(*record) || (!after.any() && record->job().state() != proto::SUCCEEDED))
      oracle_.Fail("job " + std::to_string(start.job()) + " starts before job " +
                   std::to_string(after.job()) + " has ended as it must");
    oracle_.Count("starts after another job");
  }
}

void SimCoordinator::CheckLog(JobId job, const bspnow::Checkpoint& from) const {
  std::map<std::uint32_t, std::uint64_t> printed;
  for (const CheckpointPart& part : from.parts)
    for (const SavedImage& image : part.images) printed[Value(image.pid)] = image.output_bytes;
  for (const auto& [stream, text] : journal_.logs[job].texts) {
    if (from.participants != 0 && stream.pid >= from.participants) continue;
    if (text.size() != printed[stream.pid])
      oracle_.Fail("job " + std::to_string(Value(job)) + " starts before its log is cut back");
  }
}

void SimCoordinator::WatchRelease(WorkerId worker, const FrameHeader& header,
                                  std::span<const std::byte> payload) {
  ReleaseBody body;
  memcpy(&body, payload.data(), sizeof body);
  const JobId job{header.job};
  const Epoch epoch{header.epoch};
  const std::pair<Epoch, std::uint64_t> barrier{epoch, body.barrier};
  auto& newest = released_[{worker, job}];
  if (newest == barrier) oracle_.Count("repeated releases");
  newest = std::max(newest, barrier);
  if (!started_.contains({job, epoch})) oracle_.Count("barriers of adopted jobs");
  if (body.checkpoint == 0) return;
  if (body.base != 0) oracle_.Count("incremental ones");
  copies_.OnAsked(job, body.checkpoint, loop_.now_ns());
  if (directed_.emplace(job, body.checkpoint).second && rules())
    oracle_.OnDirected(job, epoch, body.barrier);
  const auto shown = cluster_->Show(job);
  if (shown.ok() && shown->checkpoints().committed() != 0 &&
      shown->checkpoints().copies() < 1 + journal_.copies)
    oracle_.Count("lost copies renewed");
}

// Whoever is said to hold a checkpoint has its images, damaged or not.
void SimCoordinator::CheckHolders(JobId job, const bspnow::Checkpoint& committed) const {
  const auto record = journal_.jobs.find(job);
  if (record == journal_.jobs.end() || HasEnded(record->second) || journal_.fails) return;
  for (const CheckpointPart& part : committed.parts)
    for (const std::string& holder : part.holders)
      for (const SavedImage& image : part.images)
        if (!nodes_.store(holder).put_back &&
            nodes_.store(holder).Find(job, committed.number, Value(image.pid)) == nullptr)
          oracle_.Fail("checkpoint " + std::to_string(committed.number) + " of job " +
                       std::to_string(Value(job)) + " is committed, but " + holder +
                       " does not hold it");
}

// All its images are on disks of nodes that are up, and well.
bool SimCoordinator::IsSound(JobId job, const bspnow::Checkpoint& checkpoint) const {
  std::set<std::string> up;  // Nobody waits for the others for ever.
  for (const JobTable::NodeView& view : cluster_->table().nodes()) up.insert(view.node->name);
  const auto is_well = [&](const std::string& holder, const SavedImage& image) {
    return up.contains(holder) && !nodes_.store(holder).of_two &&
           nodes_.store(holder).HasChain(job, checkpoint.number, Value(image.pid));
  };
  return std::all_of(
      checkpoint.parts.begin(), checkpoint.parts.end(), [&](const CheckpointPart& part) {
        return std::all_of(part.images.begin(), part.images.end(), [&](const SavedImage& image) {
          return std::any_of(part.holders.begin(), part.holders.end(),
                             [&](const std::string& holder) { return is_well(holder, image); });
        });
      });
}

// A worker keeps what it has sent no longer.
void SimCoordinator::CheckAcknowledged(WorkerId worker, std::uint64_t sequence) const {
  const auto unlogged = unlogged_.find(worker);
  if (unlogged == unlogged_.end() || unlogged->second.empty()) return;
  if (unlogged->second.begin()->first <= sequence)
    oracle_.Fail("output is acknowledged that is not in its log");
}

// A worker reports an end after the output, and may forget the job once the coordinator has stored
// the end.
void SimCoordinator::CheckOutputBefore(const JobRecord& ended) const {
  for (const JobTable::NodeView& view : cluster_->table().nodes()) {
    const auto unlogged = unlogged_.find(view.node->worker);
    if (unlogged == unlogged_.end()) continue;
    for (const auto& [sequence, job] : unlogged->second)
      if (job == IdOf(ended))
        oracle_.Fail("job " + std::to_string(Value(job)) + " ends before its output is in the log");
  }
}

void SimCoordinator::CheckCopies(JobId job, const std::string& catalogue) const {
  if (catalogue.empty()) return;
  const bspnow::Checkpoint now = NewestOf(catalogue);
  if (now.number <= StoredFor(job).number) return;
  const std::string missed = copies_.Missed(job, now, journal_.copies);
  if (!missed.empty())
    oracle_.Fail("checkpoint " + std::to_string(now.number) + " of job " +
                 std::to_string(Value(job)) + " lacks a copy, and " + missed + " could have it");
}

// Nobody goes back further than he must.
void SimCoordinator::CheckGivenUp(JobId job, const std::string& catalogue) const {
  const auto found = journal_.checkpoints.find(job);
  if (catalogue.empty() || found == journal_.checkpoints.end()) return;
  const bspnow::Checkpoint last = NewestOf(found->second);
  if (NewestOf(catalogue).number >= last.number || journal_.logs[job].damaged) return;
  if (IsSound(job, last)) oracle_.Fail("a sound checkpoint is given up");
}

// A commit is one once it is on the disk, and so must be the output before it.
void SimCoordinator::CheckCatalogue(JobId job, const std::string& catalogue) const {
  if (catalogue.empty()) return;
  const bspnow::Checkpoint now = NewestOf(catalogue);
  if (now.number <= StoredFor(job).number) return;
  for (const CheckpointPart& part : now.parts)
    for (const SavedImage& image : part.images)
      if (image.output_bytes > journal_.logs[job].synced[{Value(image.pid), LogOrigin::kStdout}])
        oracle_.Fail("a checkpoint is committed before the output ahead of it is durable");
  CheckHolders(job, now);
}

// Also of one whose write has failed: then its images may be gone.
void SimCoordinator::WatchCatalogue(JobId job, const std::string& catalogue) {
  if (catalogue.empty()) return;
  const bspnow::Checkpoint before = StoredFor(job);
  const bspnow::Checkpoint now = NewestOf(catalogue);
  if (now.number < before.number) {
    oracle_.Count("catalogues cut back");
    oracle_.OnWentBack(job, now.number);
  }
  if (now.number > before.number) oracle_.OnCommitted(job, now);
}

bspnow::Checkpoint SimCoordinator::StoredFor(JobId job) const {
  const auto found = journal_.checkpoints.find(job);
  return found == journal_.checkpoints.end() ? bspnow::Checkpoint{} : NewestOf(found->second);
}

}  // namespace bspnow
