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

void SimWorker::OnTakeCheckpoint(JobId job, Epoch epoch, const ReleaseDirective& directive) {
  if (SimNode* node = Find(job, epoch)) node->TakeCheckpoint(directive);
}

void SimWorker::OnKeep(JobId job, const std::vector<std::uint64_t>& checkpoints) {
  if (checkpoints.empty()) {
    kept_.erase(job);
  } else {
    kept_[job] = {checkpoints.begin(), checkpoints.end()};
  }
  Run(job, [this, job, checkpoints] { surroundings_.store.Keep(job, checkpoints); });
}

void SimWorker::OnLetGo(JobId job, Epoch epoch, std::uint64_t checkpoint) {
  if (SimNode* node = Find(job, epoch)) return node->LetGo(checkpoint);
  Discard(job, checkpoint);
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

void SimWorker::OnCopy(JobId job, const CheckpointOrders::Copy& copy) {
  std::vector<std::uint32_t> pids;
  for (const auto& [key, node] : nodes_) {
    if (key.first == job) pids = node->PidsTakingPart();
  }
  Run(job, [this, job, copy, pids = std::move(pids)]() mutable {
    if (pids.empty()) pids = surroundings_.store.PidsOf(job, copy.checkpoint);
    std::string failure = pids.empty() ? "no image of this checkpoint lies here" : "";
    for (const std::uint32_t pid : pids) {
      if (failure.empty()) failure = CopyTo(job, copy, pid);
    }
    Report({.job = job,
            .epoch = Epoch{0},
            .output = false,
            .exited = {},
            .act = [job, copy, failure](SimCoordinator& coordinator, WorkerId worker) {
              coordinator.OnImagesCopied(worker, job, copy.checkpoint, copy.to_node, failure);
            }});
  });
}

std::string SimWorker::CopyTo(JobId job, const CheckpointOrders::Copy& copy, std::uint32_t pid) {
  SimWorker* partner = surroundings_.worker_named(copy.to_node);
  if (partner == nullptr || partner->paused() || cut_off() || loop_.Chance(3)) {
    oracle_.Count("failed copies");
    return "the other node does not answer";
  }
  if (!HasChain(surroundings_.store, job, copy.checkpoint, pid)) return "its own image is damaged";
  for (std::uint64_t number = copy.checkpoint; number != 0;) {
    const SimImage image = *surroundings_.store.Find(job, number, pid);
    if (partner->store().Find(job, number, pid) == nullptr) {
      partner->surroundings_.store.Put(job, number, pid, image);
    }
    number = image.base;
  }
  return "";
}

std::optional<SimImage> SimWorker::Collect(JobId job, const SimResume& resume,
                                           const SimImagePlan& plan) {
  if (HasChain(surroundings_.store, job, resume.checkpoint, plan.pid)) {
    return *surroundings_.store.Find(job, resume.checkpoint, plan.pid);
  }
  for (const std::string& name : plan.holders) {
    const SimWorker* holder = surroundings_.worker_named(name);
    if (holder == nullptr || holder == this || holder->paused() || cut_off()) continue;
    if (!HasChain(holder->store(), job, resume.checkpoint, plan.pid)) continue;
    oracle_.Count("images from another node");
    for (std::uint64_t number = resume.checkpoint; number != 0;) {
      const SimImage image = *holder->store().Find(job, number, plan.pid);
      surroundings_.store.Put(job, number, plan.pid, image);
      number = image.base;
    }
    return *surroundings_.store.Find(job, resume.checkpoint, plan.pid);
  }
  return std::nullopt;
}

}  // namespace bspnow
