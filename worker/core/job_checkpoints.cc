#include "worker/core/job_checkpoints.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/link_feature.h"

namespace bspnow::worker {

void JobCheckpoints::LookForRoom() {
  const std::weak_ptr<int> alive = alive_;
  keeper_.CheckRoom(job_, expected_bytes_, [this, alive](const absl::Status& room) {
    if (alive.expired() || room.message() == no_room_) return;
    no_room_ = std::string(room.message());
    set_room_(no_room_);
  });
}

void JobCheckpoints::GiveUp(std::uint64_t checkpoint) {
  given_up_ = std::max(given_up_, checkpoint);
  if (checkpoint <= finished_) keeper_.Release(job_, checkpoint);
}

void JobCheckpoints::OnFailed(const proto::CheckpointFailed& failed) {
  finished_ = std::max(finished_, failed.checkpoint());
  Discard(failed.checkpoint(), failed.reason());
}

void JobCheckpoints::OnWritten(const proto::CheckpointStored& written) {
  const std::uint64_t checkpoint = written.checkpoint();
  finished_ = std::max(finished_, checkpoint);
  std::uint64_t bytes = 0;
  for (const proto::StoredImage& image : written.images()) bytes += image.file_bytes();
  largest_bytes_ = std::max(largest_bytes_, bytes);
  if (checkpoint <= given_up_) return Discard(checkpoint, "it was given up");
  keeper_.Settle(job_, written,
                 [this, alive = std::weak_ptr<int>(alive_), checkpoint, job = job_,
                  &keeper = keeper_](const absl::StatusOr<proto::CheckpointStored>& stored) {
                   if (alive.expired())
                     return keeper.Discard(job, checkpoint, [] {});  // Nobody asks.
                   if (stored.ok()) return OnSettled(*stored);
                   ReportFailed(checkpoint, std::string(stored.status().message()));
                 });
}

void JobCheckpoints::OnSettled(const proto::CheckpointStored& stored) {
  expected_bytes_ = 0;
  LookForRoom();
  proto::WorkerEvent event;
  proto::CheckpointStored& reported = *event.mutable_checkpoint_stored();
  reported = stored;
  reported.clear_cpu_features();
  for (const std::string& feature : stored.cpu_features()) {
    if (MayUse(feature)) reported.add_cpu_features(feature);
  }
  report_(std::move(event));
}

// The libbsp of a program is in it, whatever that may use of the processor.
bool JobCheckpoints::MayUse(const std::string& cpu_feature) const {
  return allowed_.empty() || cpu_feature.starts_with(kLinkFeature) ||
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

}  // namespace bspnow::worker
