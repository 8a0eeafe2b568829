#include "worker/job_checkpoints.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace bspnow {

void JobCheckpoints::LookForRoom() {
  const std::weak_ptr<int> alive = alive_;
  keeper_.CheckRoom(job_, expected_bytes_, [this, alive](const absl::Status& room) {
    if (alive.expired() || room.message() == no_room_) return;
    no_room_ = std::string(room.message());
    set_room_(no_room_);
  });
}

void JobCheckpoints::Take(const proto::TakeCheckpoint& order, NodeSegment& segment) {
  segment.OrderImage({.checkpoint = order.checkpoint(),
                      .base = order.base(),
                      .after = order.hold() ? ImagePlan::After::kHold : ImagePlan::After::kGoOn});
  segment.RaiseWanted();
}

void JobCheckpoints::GiveUp(std::uint64_t checkpoint) {
  const auto found = under_way_.find(checkpoint);
  if (found == under_way_.end()) {
    keeper_.Discard(job_, checkpoint, [] {});
  } else {
    found->second.GiveUp("it was given up");
  }
}

void JobCheckpoints::OnReport(const HostReport& report, const NodeSegment& segment) {
  const std::uint64_t checkpoint = report.number;
  if (checkpoint <= finished_) return;
  CheckpointCollection& collection = under_way_[checkpoint];
  collection.OnReport(report);
  if (collection.complete()) Finish(checkpoint, segment);
}

void JobCheckpoints::Finish(std::uint64_t checkpoint, const NodeSegment& segment) {
  const CheckpointCollection collection = std::move(under_way_.extract(checkpoint).mapped());
  finished_ = std::max(finished_, checkpoint);
  std::uint64_t bytes = 0;
  for (const auto& [pid, image] : collection.images()) bytes += image.file_bytes;
  largest_bytes_ = std::max(largest_bytes_, bytes);
  if (!collection.failure().empty()) return Discard(checkpoint, collection.failure());
  proto::WorkerEvent event;
  proto::CheckpointStored& stored = *event.mutable_checkpoint_stored();
  stored.set_checkpoint(checkpoint);
  stored.set_participants(segment.participants());
  for (const auto& [pid, image] : collection.images()) {
    proto::StoredImage& of_pid = *stored.add_images();
    of_pid.set_pid(Value(pid));
    of_pid.set_file_bytes(image.file_bytes);
    of_pid.set_output_bytes(image.output_bytes);
    of_pid.set_error_bytes(image.error_bytes);
    of_pid.set_pause_ns(segment.image_pause_ns(pid));
    of_pid.set_cpu_ns(image.cpu_ns);
  }
  const std::weak_ptr<int> alive = alive_;
  keeper_.Settle(job_, checkpoint, collection.Names(checkpoint),
                 [this, alive, checkpoint, event, job = job_,
                  &keeper = keeper_](const absl::StatusOr<SettledImages>& settled) {
                   if (alive.expired())
                     return keeper.Discard(job, checkpoint, [] {});  // Nobody asks.
                   if (!settled.ok()) {
                     return ReportFailed(checkpoint, std::string(settled.status().message()));
                   }
                   expected_bytes_ = 0;
                   LookForRoom();
                   proto::WorkerEvent complete = event;
                   proto::CheckpointStored& of_node = *complete.mutable_checkpoint_stored();
                   of_node.set_superstep(settled->superstep);
                   of_node.set_of_areas(settled->of_areas);
                   for (const std::string& feature : settled->cpu_features) {
                     if (MayUse(feature)) of_node.add_cpu_features(feature);
                   }
                   report_(std::move(complete));
                 });
}

bool JobCheckpoints::MayUse(const std::string& cpu_feature) const {
  return allowed_.empty() ||
         std::find(allowed_.begin(), allowed_.end(), cpu_feature) != allowed_.end();
}

void JobCheckpoints::OnHostGone() {
  for (const auto& [checkpoint, collection] : std::exchange(under_way_, {})) {
    keeper_.Discard(job_, checkpoint, [] {});
  }
}

void JobCheckpoints::Discard(std::uint64_t checkpoint, const std::string& reason) {
  const std::weak_ptr<int> alive = alive_;
  keeper_.Discard(job_, checkpoint, [this, alive, checkpoint, reason] {
    if (!alive.expired()) ReportFailed(checkpoint, reason);
  });
}

void JobCheckpoints::ReportFailed(std::uint64_t checkpoint, const std::string& reason) {
  spdlog::warn("event=checkpoint_failed job={} checkpoint={} reason=\"{}\"", Value(job_),
               checkpoint, reason);
  expected_bytes_ = largest_bytes_;
  LookForRoom();
  proto::WorkerEvent event;
  event.mutable_checkpoint_failed()->set_checkpoint(checkpoint);
  event.mutable_checkpoint_failed()->set_reason(reason);
  report_(std::move(event));
}

}  // namespace bspnow
