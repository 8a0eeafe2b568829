#include "tests/simulation/sim_disk.h"

#include <absl/strings/str_cat.h>

namespace bspnow {

// A slow disk, or network, now and then. CheckpointKeeper lets the next thing wait for this one.
void SimDisk::Run(std::function<void()> work) {
  std::uint64_t delay_ns =
      parts_.loop.Below(parts_.loop.Chance(5) ? 2 * kSecond : 20 * kMillisecond);
  if (slow()) delay_ns += parts_.loop.Below(slow_until_ns_ - parts_.loop.now_ns());
  parts_.loop.On(parts_.daemon, delay_ns, [this, work = std::move(work)] {
    if (!dead_) work();
  });
}

// Its images have one byte each.
absl::Status SimDisk::FindRoom(const SimStore& store, std::size_t images) {
  if (store.HasRoomFor(images)) return absl::OkStatus();
  parts_.oracle.Count("disks that images have filled");
  return absl::ResourceExhaustedError("the disk is full");
}

void SimDisk::CheckRoom(std::uint64_t bytes, std::function<void(const absl::Status&)> done) {
  const auto check = [this, bytes, done = std::move(done)] {
    if (dead_) return;
    if (!parts_.loop.Chance(3))
      return done(FindRoom(parts_.store, std::max<std::uint64_t>(bytes, 1)));
    parts_.oracle.Count("disks without room");
    done(absl::ResourceExhaustedError("somebody else has filled the disk"));
  };
  parts_.loop.On(parts_.daemon, parts_.loop.Below(kMillisecond), check);
}

void SimDisk::Settle(JobId job, const proto::CheckpointStored& written,
                     std::function<void(const absl::StatusOr<proto::CheckpointStored>&)> done) {
  Run([this, job, written, done = std::move(done)] { done(SettleNow(job, written)); });
}

absl::StatusOr<proto::CheckpointStored> SimDisk::SettleNow(JobId job,
                                                           proto::CheckpointStored stored) {
  const auto written = written_.extract({job, stored.checkpoint()});
  if (written.empty()) {
    parts_.oracle.Fail("a checkpoint is to be made durable that nobody has written");
    return absl::NotFoundError("not written");
  }
  if (parts_.loop.Chance(3)) {
    parts_.oracle.Count("failed image writes");
    parts_.store.Discard(job, stored.checkpoint());
    return absl::DataLossError("input/output error");
  }
  if (absl::Status room = FindRoom(parts_.store, written.mapped().size()); !room.ok()) {
    parts_.store.Discard(job, stored.checkpoint());
    return room;
  }
  for (auto& [pid, image] : written.mapped()) {
    image.lying_sync = parts_.loop.Chance(3);
    parts_.store.Put(job, stored.checkpoint(), pid, image);
    stored.set_superstep(image.superstep);
  }
  return stored;
}

void SimDisk::Discard(JobId job, std::uint64_t checkpoint, std::function<void()> done) {
  Run([this, job, checkpoint, done = std::move(done)] {
    written_.erase({job, checkpoint});
    parts_.store.Discard(job, checkpoint);
    done();
  });
}

absl::StatusOr<std::vector<proto::StoredJob>> SimDisk::List() {
  lists_ += 1;
  std::vector<proto::StoredJob> jobs;
  for (const auto& [job, numbers] : parts_.store.Stored()) {
    proto::StoredJob& stored = jobs.emplace_back();
    stored.set_job(Value(job));
    stored.mutable_checkpoints()->Assign(numbers.begin(), numbers.end());
  }
  return jobs;
}

void SimDisk::RunOrdered(std::function<void()> removal, std::function<void()> done) {
  Run([this, list = lists_, removal = std::move(removal), done = std::move(done)] {
    if (list == lists_) {
      removal();
    } else {
      parts_.oracle.Count("removals that a registration ended");
    }
    done();
  });
}

void SimDisk::Release(JobId job, std::uint64_t checkpoint, std::function<void()> done) {
  RunOrdered([this, job, checkpoint] { parts_.store.Discard(job, checkpoint); }, std::move(done));
}

void SimDisk::Keep(JobId job, const std::vector<std::uint64_t>& checkpoints,
                   std::function<void()> done) {
  const auto keep = [this, job, checkpoints] {
    if (!parts_.is_ordered(job, checkpoints))
      parts_.oracle.Fail("images are let go that only an earlier coordinator did not want");
    parts_.store.Keep(job, checkpoints);
  };
  RunOrdered(keep, std::move(done));
}

// ---- Copies -------------------------------------------------------------------------------------

// What is read is verified: it and all that it builds upon.
bool SimDisk::HasSoundChain(const SimStore& store, JobId job, std::uint64_t number,
                            std::uint32_t pid) {
  if (store.HasChain(job, number, pid)) return true;
  if (store.Find(job, number, pid) != nullptr) parts_.oracle.Count("damaged images found");
  return false;
}

absl::Status SimDisk::CopyChain(const SimStore& from, SimStore& to, JobId job, std::uint64_t number,
                                std::uint32_t pid) {
  while (number != 0) {
    const SimImage image = *from.Find(job, number, pid);
    if (to.Find(job, number, pid) == nullptr) {
      if (absl::Status room = FindRoom(to, 1); !room.ok()) return room;
      to.Put(job, number, pid, image);
    }
    number = image.base;
  }
  return absl::OkStatus();
}

void SimDisk::Copy(const proto::CopyCheckpoint& order, const std::vector<std::uint32_t>& pids,
                   std::function<void(const absl::Status&)> done) {
  Run([this, order, pids, done = std::move(done)] { done(CopyNow(order, pids)); });
}

absl::Status SimDisk::CopyNow(const proto::CopyCheckpoint& order, std::vector<std::uint32_t> pids) {
  const JobId job{order.job()};
  if (pids.empty()) pids = parts_.store.PidsOf(job, order.checkpoint());
  if (pids.empty()) return absl::NotFoundError("no image of this checkpoint lies here");
  SimPartner* const partner = parts_.reach(order.to_address());
  if (partner == nullptr || parts_.loop.Chance(3)) {
    parts_.oracle.Count("failed copies");
    return absl::UnavailableError("the other node does not answer");
  }
  if (partner->store().known.cluster != parts_.store.known.cluster)
    return absl::FailedPreconditionError("the other node is of another cluster");
  const bool ends_short = parts_.loop.Chance(3);
  if (ends_short) pids.resize(parts_.loop.Below(pids.size()));  // So many come as a whole.
  for (const std::uint32_t pid : pids) {
    if (!HasSoundChain(parts_.store, job, order.checkpoint(), pid)) {
      return absl::DataLossError(absl::StrCat("the image of pid ", pid, " is damaged"));
    }
    absl::Status copied = CopyChain(parts_.store, partner->store(), job, order.checkpoint(), pid);
    if (!copied.ok()) return copied;
  }
  if (ends_short) {
    parts_.oracle.Count("copies that end short");
    return absl::UnavailableError("the connection broke");
  }
  partner->OnImagesReceived(job, order.checkpoint());
  return absl::OkStatus();
}

absl::StatusOr<SimImage> SimDisk::Collect(JobId job, const proto::Resume& resume,
                                          const proto::ImageOfPid& plan) {
  const std::uint64_t checkpoint = resume.checkpoint();
  if (!HasSoundChain(parts_.store, job, checkpoint, plan.pid())) {
    SimPartner* holder = nullptr;
    bool all_asked = true;
    for (const std::string& name : plan.holders()) {
      SimPartner* const node = parts_.reach(name);
      all_asked = all_asked && node != nullptr;
      if (node == nullptr || &node->store() == &parts_.store) continue;
      if (node->store().known.cluster != parts_.store.known.cluster) continue;
      if (parts_.loop.Chance(3)) {
        parts_.oracle.Count("images that end short");
        all_asked = false;
        continue;
      }
      if (HasSoundChain(node->store(), job, checkpoint, plan.pid())) holder = node;
    }
    if (holder == nullptr)
      return all_asked ? absl::DataLossError("no undamaged image is to be had")
                       : absl::UnavailableError("a holder does not answer");
    parts_.oracle.Count("images from another node");
    // A damaged copy of its own is replaced.
    for (std::uint64_t number = checkpoint; number != 0;) {
      const SimImage image = *holder->store().Find(job, number, plan.pid());
      parts_.store.Put(job, number, plan.pid(), image);
      number = image.base;
    }
  }
  return *parts_.store.Find(job, checkpoint, plan.pid());
}

}  // namespace bspnow
