#include "worker/job_checkpoints.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "worker/images/image_file.h"
#include "worker/images/image_name.h"

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
  given_up_ = std::max(given_up_, checkpoint);
  if (checkpoint <= finished_) keeper_.Discard(job_, checkpoint, [] {});
}

void JobCheckpoints::OnFailed(const proto::CheckpointFailed& failed) {
  finished_ = std::max(finished_, failed.checkpoint());
  Discard(failed.checkpoint(), failed.reason());
}

void JobCheckpoints::OnWritten(proto::CheckpointStored stored, const NodeSegment& segment) {
  const std::uint64_t checkpoint = stored.checkpoint();
  finished_ = std::max(finished_, checkpoint);
  std::vector<std::string> names;
  std::uint64_t bytes = 0;
  for (proto::StoredImage& image : *stored.mutable_images()) {
    image.set_pause_ns(segment.image_pause_ns(Pid{image.pid()}));
    bytes += image.file_bytes();
    names.push_back(ImageName(checkpoint, Pid{image.pid()}));
  }
  largest_bytes_ = std::max(largest_bytes_, bytes);
  if (checkpoint <= given_up_) return Discard(checkpoint, "it was given up");
  stored.set_participants(segment.participants());
  names.push_back(FilesName(checkpoint, stored.images(0).pid()));
  keeper_.Settle(job_, checkpoint, std::move(names),
                 [this, alive = std::weak_ptr<int>(alive_), stored = std::move(stored), job = job_,
                  &keeper = keeper_](const absl::StatusOr<SettledImages>& settled) {
                   if (!alive.expired()) return OnSettled(stored, settled);
                   keeper.Discard(job, stored.checkpoint(), [] {});  // Nobody asks.
                 });
}

void JobCheckpoints::OnSettled(proto::CheckpointStored stored,
                               const absl::StatusOr<SettledImages>& settled) {
  if (!settled.ok()) {
    return ReportFailed(stored.checkpoint(), std::string(settled.status().message()));
  }
  expected_bytes_ = 0;
  LookForRoom();
  stored.set_superstep(settled->superstep);
  stored.set_of_areas(settled->of_areas);
  for (const std::string& feature : settled->cpu_features) {
    if (MayUse(feature)) stored.add_cpu_features(feature);
  }
  proto::WorkerEvent event;
  *event.mutable_checkpoint_stored() = std::move(stored);
  report_(std::move(event));
}

bool JobCheckpoints::MayUse(const std::string& cpu_feature) const {
  return allowed_.empty() ||
         std::find(allowed_.begin(), allowed_.end(), cpu_feature) != allowed_.end();
}

void JobCheckpoints::OnHostGone(std::uint64_t ordered) {
  if (ordered > finished_) keeper_.Discard(job_, ordered, [] {});
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
