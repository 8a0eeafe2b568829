#include "worker/checkpoint_keeper.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/unique_fd.h"
#include "worker/images/cpu_features.h"
#include "worker/images/image_file.h"
#include "worker/images/image_name.h"

namespace bspnow {
namespace {

// Of all images of the checkpoint here; they were all made by one machine.
absl::StatusOr<SettledImages> FactsOf(const ImageStore& store, JobId job,
                                      const std::vector<std::string>& names) {
  SettledImages settled;
  bool first = true;
  for (const std::string& name : names) {
    const std::optional<StoredName> parsed = ParseStoredName(name);
    if (!parsed || parsed->kind != StoredName::Kind::kImage) continue;
    const absl::StatusOr<UniqueFd> file = store.OpenToRead(job, name);
    if (!file.ok()) return file.status();
    const absl::StatusOr<ImageFacts> facts = ReadImageFacts(file->get(), name);
    if (!facts.ok()) return facts.status();
    const bool of_areas = facts->kind == ImageKind::kAreas;
    if (std::exchange(first, false)) {
      settled.superstep = facts->superstep;
      settled.of_areas = of_areas;
      if (!of_areas) {
        settled.cpu_features = MissingCpuFeatures({.names = facts->cpu_features, .xcr0 = 0}, {});
      }
    } else if (of_areas != settled.of_areas || facts->superstep != settled.superstep) {
      return absl::FailedPreconditionError(
          "some processes registered areas for checkpoints, and others none");
    }
  }
  return settled;
}

// The pids whose images of one checkpoint lie here.
std::vector<std::uint32_t> PidsIn(const ImageStore& store, JobId job, std::uint64_t checkpoint) {
  std::vector<std::uint32_t> pids;
  for (const std::string& name : store.Names(job)) {
    const std::optional<StoredName> parsed = ParseStoredName(name);
    if (parsed && parsed->kind == StoredName::Kind::kImage && parsed->checkpoint == checkpoint) {
      pids.push_back(parsed->pid);
    }
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

}  // namespace

void CheckpointKeeper::CheckRoom(JobId job, std::uint64_t bytes,
                                 std::function<void(absl::Status)> checked) {
  Run(job, [this, bytes, checked = std::move(checked)]() -> Done {
    return [checked, room = store_.CheckRoom(bytes)] { checked(room); };
  });
}

void CheckpointKeeper::Settle(JobId job, std::uint64_t checkpoint, std::vector<std::string> names,
                              Settled settled) {
  Run(job, [this, job, checkpoint, names = std::move(names), settled = std::move(settled)] {
    absl::StatusOr<SettledImages> result = SettledImages{};
    if (absl::Status s = store_.Settle(job, checkpoint, names); !s.ok()) {
      result = std::move(s);
    } else {
      result = FactsOf(store_, job, names);
      if (!result.ok()) store_.Discard(job, checkpoint);
    }
    return [settled, result] { settled(result); };
  });
}

void CheckpointKeeper::Discard(JobId job, std::uint64_t checkpoint,
                               std::function<void()> discarded) {
  const auto kept = kept_.find(job);
  const bool keep = kept != kept_.end() && kept->second.contains(checkpoint);
  Run(job, [this, job, checkpoint, keep, discarded = std::move(discarded)] {
    if (!keep) store_.Discard(job, checkpoint);
    return discarded;
  });
}

void CheckpointKeeper::Keep(const proto::KeepCheckpoints& order) {
  const JobId job{order.job()};
  const std::vector<std::uint64_t> kept(order.checkpoints().begin(), order.checkpoints().end());
  if (kept.empty()) {
    kept_.erase(job);
  } else {
    kept_[job] = {kept.begin(), kept.end()};
  }
  Run(job, [this, job, kept]() -> Done {
    store_.Keep(job, kept);
    return [] {};
  });
}

void CheckpointKeeper::Copy(const proto::CopyCheckpoint& order, std::vector<std::uint32_t> pids) {
  const JobId job{order.job()};
  Run(job, [this, job, order, pids = std::move(pids)]() mutable {
    if (pids.empty()) pids = PidsIn(store_, job, order.checkpoint());
    absl::Status copied = absl::NotFoundError("no image of this checkpoint lies here");
    if (!pids.empty()) {
      copied = transfer_.Copy({.job = job,
                               .chain = {order.chain().begin(), order.chain().end()},
                               .pids = pids,
                               .files_pid = pids.front(),
                               .to_node = order.to_node(),
                               .to_address = order.to_address()});
    }
    proto::WorkerEvent event;
    event.set_job(order.job());
    event.mutable_checkpoint_copied()->set_checkpoint(order.checkpoint());
    event.mutable_checkpoint_copied()->set_to_node(order.to_node());
    event.mutable_checkpoint_copied()->set_failure(std::string(copied.message()));
    return [this, event] { report_(event); };
  });
}

void CheckpointKeeper::Run(JobId job, Work work) {
  std::deque<Work>& waiting = waiting_[job];
  waiting.push_back(std::move(work));
  if (waiting.size() == 1) Begin(job);
}

void CheckpointKeeper::Begin(JobId job) {
  const auto work = std::make_shared<Work>(std::move(waiting_.at(job).front()));
  threads_.Run([this, job, work] {
    loop_.Post([this, job, done = (*work)()] {
      std::deque<Work>& waiting = waiting_.at(job);
      waiting.pop_front();
      if (waiting.empty()) {
        waiting_.erase(job);
      } else {
        Begin(job);
      }
      done();
    });
  });
}

}  // namespace bspnow
