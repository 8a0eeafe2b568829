// What must hold of all that leaves the simulated coordinator or is written by it.
#include <string.h>

#include <algorithm>
#include <utility>

#include "coordinator/core/checkpoints/checkpoint_catalogue.h"
#include "coordinator/core/jobs/job_record.h"
#include "coordinator/core/jobs/placement.h"
#include "tests/simulation/sim_coordinator.h"

namespace bspnow {
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
  if (placed.job().epoch() != 1 || placed.cancelled() || !placed.job().losses().empty()) return;
  const JobTable& table = cluster_->table();
  const std::vector<JobTable::NodeView> views = table.nodes();
  std::vector<FreeNode> free;
  for (const JobTable::NodeView& view : views) {
    if (view.node->drained) continue;
    std::uint32_t slots = view.node->slots - view.slots_used;
    for (const proto::JobHost& host : placed.hosts())
      if (WorkerOf(host) == view.node->worker) slots += host.slots();
    free.push_back({.node = view.node, .slots = slots, .memory_bytes = 0});
  }
  const proto::Job* first = nullptr;
  for (const JobRecord* record : table.records()) {
    // What leaves its nodes holds their slots until it has left all of them.
    const proto::Job& job = record->job();
    if (job.state() == proto::RECOVERING || job.state() == proto::SUSPENDED ||
        job.state() == proto::ENDING)
      return;
    // Without a reason: it is not durable yet. Or the journal did not take its start just now.
    if (job.state() != proto::WAITING || job.reason().empty() ||
        job.reason().starts_with("its start could not be stored"))
      continue;
    if (first == nullptr || job.spec().priority() > first->spec().priority()) first = &job;
  }
  if (first == nullptr) return;
  const std::int32_t priority = placed.job().spec().priority();
  const std::int32_t of_first = first->spec().priority();
  if (of_first < priority || (of_first == priority && placed.job().job() < first->job())) return;
  const SlotClaim claim = SlotClaimOf(first->spec());
  if (Place(claim, claim.nprocs, free).has_value())
    oracle_.Fail("job " + std::to_string(placed.job().job()) + " is placed where job " +
                 std::to_string(first->job()) + ", which comes first, would fit");
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
