// What must hold of all that leaves the simulated coordinator or is written by it.
#include <string.h>

#include <algorithm>
#include <utility>

#include "coordinator/core/checkpoints/checkpoint_catalogue.h"
#include "coordinator/core/jobs/job_spec.h"
#include "coordinator/core/jobs/placement.h"
#include "tests/simulation/sim_coordinator.h"

namespace bspnow {
namespace {

SlotClaim ClaimOf(const JobRecord& record) {
  proto::JobSpec spec;
  spec.ParseFromString(record.spec);
  return RequestOf(spec).claim;
}

std::int32_t PriorityOf(const JobRecord& record) {
  proto::JobSpec spec;
  spec.ParseFromString(record.spec);
  return spec.priority();
}

}  // namespace

// ---- What must hold -----------------------------------------------------------------------------

void SimCoordinator::CheckNothingLeft(JobId job) const {
  std::vector<WorkerId> workers;
  for (const JobTable::NodeView& view : cluster_->table().nodes())
    workers.push_back(view.node->worker);
  if (is_left_(job, workers))
    oracle_.Fail("job " + std::to_string(Value(job)) + " has left its nodes, but is still there");
}

// First come, first served: a job that was placed has taken nothing from one before it that waits.
void SimCoordinator::CheckOrder(const JobRecord& placed) const {
  if (placed.epoch != Epoch{1} || placed.cancelled || !placed.losses.empty()) return;
  const JobTable& table = cluster_->table();
  const std::vector<JobTable::NodeView> views = table.nodes();
  std::vector<FreeNode> free;
  for (const JobTable::NodeView& view : views) {
    if (view.node->drained) continue;
    std::uint32_t slots = view.node->slots - view.slots_used;
    for (const NodeShare& share : placed.shares)
      if (share.worker == view.node->worker) slots += share.slots;
    free.push_back({.node = view.node, .slots = slots, .memory_bytes = 0});
  }
  const JobRecord* first = nullptr;
  for (const JobRecord* record : table.records()) {
    // What leaves its nodes holds their slots until it has left all of them.
    if (record->phase == JobPhase::kRecovering || record->phase == JobPhase::kSuspended ||
        record->phase == JobPhase::kEnding)
      return;
    // Without a reason: it is not durable yet. Or the journal did not take its start just now.
    if (record->phase != JobPhase::kWaiting || record->reason.empty() ||
        record->reason.starts_with("its start could not be stored"))
      continue;
    if (first == nullptr || PriorityOf(*record) > PriorityOf(*first)) first = record;
  }
  if (first == nullptr) return;
  const std::int32_t priority = PriorityOf(placed);
  const std::int32_t of_first = PriorityOf(*first);
  if (of_first < priority || (of_first == priority && placed.id < first->id)) return;
  const SlotClaim claim = ClaimOf(*first);
  if (Place(claim, claim.nprocs, free).has_value())
    oracle_.Fail("job " + std::to_string(Value(placed.id)) + " is placed where job " +
                 std::to_string(Value(first->id)) + ", which comes first, would fit");
}

// The orders that leave this coordinator, as long as it rules.
void SimCoordinator::Watch(const proto::Order& order) {
  if (oracle_.traces())
    oracle_.Trace("term " + std::to_string(term_) + " order " + order.ShortDebugString());
  if (order.has_copy_checkpoint()) oracle_.Count("copies");
  if (order.take_checkpoint().base() != 0) oracle_.Count("incremental ones");
  if (!order.has_start()) return;
  const proto::StartJob& start = order.start();
  const JobId job{start.job()};
  const Epoch epoch{start.epoch()};
  if (!started_.emplace(job, epoch).second) return;
  if (!superseded() || epoch > oracle_.EpochOf(job))
    oracle_.OnStartOrdered(job, epoch, start.spec());
  if (start.has_resume()) {
    oracle_.Count("recoveries");
  } else if (epoch != Epoch{1}) {
    oracle_.Count("restarts from the start");
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
  const auto shown = cluster_->Show(job);
  if (shown.ok() && shown->checkpoints().committed() != 0 &&
      shown->checkpoints().copies() < 1 + journal_.copies)
    oracle_.Count("lost copies renewed");
}

// A commit is one once it is on the disk, and so must be the output before it.
void SimCoordinator::WatchCatalogue(JobId job, const std::string& catalogue) {
  const auto newest = [](const std::string& text) {
    const auto decoded = DecodeCatalogue(text);
    return decoded->checkpoints.empty() ? bspnow::Checkpoint{} : decoded->checkpoints.back();
  };
  const auto found = journal_.checkpoints.find(job);
  const bspnow::Checkpoint before =
      found == journal_.checkpoints.end() ? bspnow::Checkpoint{} : newest(found->second);
  if (catalogue.empty()) return;
  const bspnow::Checkpoint now = newest(catalogue);
  if (now.number < before.number) {
    oracle_.Count("catalogues cut back");
    oracle_.OnWentBack(job, now.number);
  }
  if (now.number <= before.number) return;
  for (const CheckpointPart& part : now.parts)
    for (const SavedImage& image : part.images)
      if (image.output_bytes > journal_.logs[job].synced[{Value(image.pid), LogOrigin::kStdout}])
        oracle_.Fail("a checkpoint is committed before the output ahead of it is durable");
  oracle_.OnCommitted(job, now);
}

}  // namespace bspnow
