// What a worker of the simulation does with images: one thing after the other for each job, as
// CheckpointKeeper does.
#include <algorithm>
#include <utility>

#include "tests/simulation/sim_worker.h"

namespace bspnow {

void SimWorker::Run(JobId job, std::function<void()> work) {
  work_[job].push_back(std::move(work));
  if (work_[job].size() == 1) BeginWork(job);
}

void SimWorker::BeginWork(JobId job) {
  const std::uint64_t delay_ns =
      loop_.Below(loop_.Chance(5) ? 2 * kSecond : 20 * kMillisecond);  // A slow disk, or network.
  loop_.On(daemon_, delay_ns, [this, job] {
    if (dead()) return;
    work_[job].front()();
    work_[job].pop_front();
    if (!work_[job].empty()) BeginWork(job);
  });
}

void SimWorker::Settle(JobId job, std::uint64_t number, std::map<std::uint32_t, SimImage> images,
                       std::function<void(const std::string&)> settled) {
  Run(job, [this, job, number, images = std::move(images), settled = std::move(settled)] {
    if (loop_.Chance(3)) {
      oracle_.Count("failed image writes");
      surroundings_.store.Discard(job, number);
      return settled("input/output error");
    }
    for (SimImage image_here{}; const auto& [pid, image] : images) {
      image_here = image;
      image_here.lying_sync = loop_.Chance(3);
      surroundings_.store.Put(job, number, pid, image_here);
    }
    settled("");
  });
}

void SimWorker::Discard(JobId job, std::uint64_t number) {
  const auto kept = kept_.find(job);
  if (kept != kept_.end() && kept->second.contains(number)) return;
  Run(job, [this, job, number] { surroundings_.store.Discard(job, number); });
}

void SimWorker::OnTakeCheckpoint(const proto::TakeCheckpoint& take) {
  if (SimNode* node = Find(JobId{take.job()}, Epoch{take.epoch()}))
    node->TakeCheckpoint(
        {.checkpoint = take.checkpoint(), .base = take.base(), .hold = take.hold() ? 1u : 0u});
}

void SimWorker::OnKeep(const proto::KeepCheckpoints& keep) {
  const JobId job{keep.job()};
  const std::vector<std::uint64_t> checkpoints(keep.checkpoints().begin(),
                                               keep.checkpoints().end());
  if (checkpoints.empty()) {
    kept_.erase(job);
  } else {
    kept_[job] = {checkpoints.begin(), checkpoints.end()};
  }
  Run(job, [this, job, checkpoints] { surroundings_.store.Keep(job, checkpoints); });
}

void SimWorker::OnReleaseHeld(const proto::ReleaseHeld& release_held) {
  const JobId job{release_held.job()};
  if (SimNode* node = Find(job, Epoch{release_held.epoch()}))
    return node->ReleaseHeld(release_held.checkpoint());
  Discard(job, release_held.checkpoint());
}

// ---- Copies -------------------------------------------------------------------------------------

// What is read is verified: it and all that it builds upon.
bool SimWorker::HasChain(const SimStore& store, JobId job, std::uint64_t number,
                         std::uint32_t pid) {
  for (std::uint64_t each = number; each != 0;) {
    const SimImage* image = store.Find(job, each, pid);
    if (image == nullptr) return false;
    if (image->damaged) {
      oracle_.Count("damaged images found");
      return false;
    }
    each = image->base;
  }
  return true;
}

void SimWorker::OnCopy(const proto::CopyCheckpoint& copy) {
  const JobId job{copy.job()};
  std::vector<std::uint32_t> pids;
  for (const auto& [key, node] : nodes_)
    if (key.first == job) pids = node->PidsTakingPart();
  Run(job, [this, job, copy, pids = std::move(pids)]() mutable {
    if (pids.empty()) pids = surroundings_.store.PidsOf(job, copy.checkpoint());
    std::string failure = pids.empty() ? "no image of this checkpoint lies here" : "";
    for (const std::uint32_t pid : pids)
      if (failure.empty()) failure = CopyTo(copy, pid);
    proto::WorkerEvent event;
    event.set_job(copy.job());
    proto::CheckpointCopied& copied = *event.mutable_checkpoint_copied();
    copied.set_checkpoint(copy.checkpoint());
    copied.set_to_node(copy.to_node());
    copied.set_failure(failure);
    Report(std::move(event));
  });
}

std::string SimWorker::CopyTo(const proto::CopyCheckpoint& copy, std::uint32_t pid) {
  const JobId job{copy.job()};
  SimWorker* partner = surroundings_.worker_named(copy.to_address());
  if (partner == nullptr || partner->paused() || cut_off() || loop_.Chance(3)) {
    oracle_.Count("failed copies");
    return "the other node does not answer";
  }
  if (!HasChain(surroundings_.store, job, copy.checkpoint(), pid))
    return "its own image is damaged";
  for (std::uint64_t number = copy.checkpoint(); number != 0;) {
    const SimImage image = *surroundings_.store.Find(job, number, pid);
    if (partner->store().Find(job, number, pid) == nullptr)
      partner->surroundings_.store.Put(job, number, pid, image);
    number = image.base;
  }
  return "";
}

std::optional<SimImage> SimWorker::Collect(JobId job, const proto::Resume& resume,
                                           const proto::ImageOfPid& plan) {
  const std::uint64_t checkpoint = resume.checkpoint();
  if (HasChain(surroundings_.store, job, checkpoint, plan.pid()))
    return *surroundings_.store.Find(job, checkpoint, plan.pid());
  for (const std::string& name : plan.holders()) {
    const SimWorker* holder = surroundings_.worker_named(name);
    if (holder == nullptr || holder == this || holder->paused() || cut_off()) continue;
    if (!HasChain(holder->store(), job, checkpoint, plan.pid())) continue;
    oracle_.Count("images from another node");
    for (std::uint64_t number = checkpoint; number != 0;) {
      const SimImage image = *holder->store().Find(job, number, plan.pid());
      surroundings_.store.Put(job, number, plan.pid(), image);
      number = image.base;
    }
    return *surroundings_.store.Find(job, checkpoint, plan.pid());
  }
  return std::nullopt;
}

}  // namespace bspnow
