#include "worker/core/checkpoint_keeper.h"

#include <string>
#include <utility>

namespace bspnow::worker {

void CheckpointKeeper::CheckRoom(JobId job, std::uint64_t bytes,
                                 std::function<void(const absl::Status&)> checked) {
  Queue(job, [this, bytes, checked = std::move(checked)](auto next) {
    disk_.CheckRoom(bytes, [checked, next](const absl::Status& room) {
      next();
      checked(room);
    });
  });
}

void CheckpointKeeper::Settle(
    JobId job, const proto::CheckpointStored& written,
    std::function<void(const absl::StatusOr<proto::CheckpointStored>&)> settled) {
  Queue(job, [this, job, written, settled = std::move(settled)](auto next) {
    disk_.Settle(job, written,
                 [settled, next](const absl::StatusOr<proto::CheckpointStored>& stored) {
                   next();
                   settled(stored);
                 });
  });
}

absl::StatusOr<std::vector<proto::StoredJob>> CheckpointKeeper::List() {
  registration_ += 1;
  return disk_.List();
}

bool CheckpointKeeper::IsKept(JobId job, std::uint64_t checkpoint) const {
  const auto kept = kept_.find(job);
  return kept != kept_.end() && kept->second.contains(checkpoint);
}

void CheckpointKeeper::Discard(JobId job, std::uint64_t checkpoint,
                               std::function<void()> discarded) {
  if (IsKept(job, checkpoint)) {
    return Queue(job, [discarded = std::move(discarded)](auto next) {
      const std::function<void()> done = discarded;  // This function goes with `next`.
      next();
      done();
    });
  }
  Queue(job, [this, job, checkpoint, discarded = std::move(discarded)](auto next) {
    disk_.Discard(job, checkpoint, [discarded, next] {
      next();
      discarded();
    });
  });
}

void CheckpointKeeper::Release(JobId job, std::uint64_t checkpoint) {
  if (IsKept(job, checkpoint)) return;
  QueueOrdered(job, [this, job, checkpoint](auto next) { disk_.Release(job, checkpoint, next); });
}

void CheckpointKeeper::Keep(const proto::KeepCheckpoints& order) {
  const JobId job{order.job()};
  const std::vector<std::uint64_t> kept(order.checkpoints().begin(), order.checkpoints().end());
  if (kept.empty()) {
    kept_.erase(job);
  } else {
    kept_[job] = {kept.begin(), kept.end()};
  }
  QueueOrdered(job, [this, job, kept](auto next) { disk_.Keep(job, kept, next); });
}

void CheckpointKeeper::Copy(const proto::CopyCheckpoint& order, std::vector<std::uint32_t> pids) {
  Queue(JobId{order.job()}, [this, order, pids = std::move(pids)](auto next) {
    disk_.Copy(order, pids, [this, order, next](const absl::Status& copied) {
      proto::WorkerEvent event;
      event.set_job(order.job());
      event.mutable_checkpoint_copied()->set_checkpoint(order.checkpoint());
      event.mutable_checkpoint_copied()->set_to_node(order.to_node());
      event.mutable_checkpoint_copied()->set_failure(std::string(copied.message()));
      next();
      report_(std::move(event));
    });
  });
}

void CheckpointKeeper::QueueOrdered(JobId job, Work removal) {
  Queue(job, [this, ordered = registration_, removal = std::move(removal)](auto next) {
    if (ordered == registration_) return removal(std::move(next));
    const auto skip = std::move(next);  // This function goes with it.
    skip();
  });
}

void CheckpointKeeper::Queue(JobId job, Work work) {
  std::deque<Work>& waiting = waiting_[job];
  waiting.push_back(std::move(work));
  if (waiting.size() == 1) BeginNext(job);
}

void CheckpointKeeper::BeginNext(JobId job) {
  waiting_.at(job).front()([this, job] {
    std::deque<Work>& waiting = waiting_.at(job);
    waiting.pop_front();
    if (waiting.empty()) {
      waiting_.erase(job);
    } else {
      BeginNext(job);
    }
  });
}

}  // namespace bspnow::worker
