#include "worker/checkpoint/stored_checkpoints.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/link_feature.h"
#include "base/unique_fd.h"
#include "runtime/link/link.h"
#include "worker/checkpoint/cpu_features.h"
#include "worker/checkpoint/image_file.h"
#include "worker/checkpoint/image_name.h"

namespace bspnow::worker {
namespace {

// Of all images; they were all made by one machine.
absl::Status ReadFacts(const ImageStore& store, JobId job, const std::vector<std::string>& images,
                       proto::CheckpointStored& stored) {
  for (const std::string& name : images) {
    const absl::StatusOr<UniqueFd> file = store.OpenToRead(job, name);
    if (!file.ok()) return file.status();
    const absl::StatusOr<ImageFacts> facts = ReadImageFacts(file->get(), name);
    if (!facts.ok()) return facts.status();
    const bool of_areas = facts->kind == ImageKind::kAreas;
    if (name == images.front()) {
      stored.set_superstep(facts->superstep);
      stored.set_of_areas(of_areas);
      // Its processes ran here until now. Areas want the program that they are of, too.
      stored.add_cpu_features(LinkFeature(kLinkVersion));
      if (of_areas) continue;
      for (const std::string& feature :
           MissingCpuFeatures({.names = facts->cpu_features, .xcr0 = 0}, {})) {
        stored.add_cpu_features(feature);
      }
    } else if (of_areas != stored.of_areas() || facts->superstep != stored.superstep()) {
      return absl::FailedPreconditionError(
          "some processes registered areas for checkpoints, and others none");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<proto::CheckpointStored> SettleIn(ImageStore& store, JobId job,
                                                 proto::CheckpointStored stored) {
  std::vector<std::string> names;
  for (const proto::StoredImage& image : stored.images()) {
    names.push_back(ImageName(stored.checkpoint(), Pid{image.pid()}));
  }
  const std::vector<std::string> images = names;
  names.push_back(FilesName(stored.checkpoint(), stored.images(0).pid()));
  if (absl::Status s = store.Settle(job, stored.checkpoint(), names); !s.ok()) return s;
  if (absl::Status s = ReadFacts(store, job, images, stored); !s.ok()) {
    store.Discard(job, stored.checkpoint());
    return s;
  }
  return stored;
}

// The pids whose images of one checkpoint lie here.
absl::StatusOr<std::vector<std::uint32_t>> PidsIn(const ImageStore& store, JobId job,
                                                  std::uint64_t checkpoint) {
  std::vector<std::uint32_t> pids;
  const absl::StatusOr<std::vector<std::string>> names = store.Names(job);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    const std::optional<StoredName> parsed = ParseStoredName(name);
    if (parsed && parsed->kind == StoredName::Kind::kImage && parsed->checkpoint == checkpoint) {
      pids.push_back(parsed->pid);
    }
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

}  // namespace

void StoredCheckpoints::CheckRoom(std::uint64_t bytes,
                                  std::function<void(const absl::Status&)> done) {
  threads_.brief.Run([this, bytes, done = std::move(done)] {
    loop_.Post([done, room = store_.CheckRoom(bytes)] { done(room); });
  });
}

void StoredCheckpoints::Settle(
    JobId job, const proto::CheckpointStored& written,
    std::function<void(const absl::StatusOr<proto::CheckpointStored>&)> done) {
  threads_.transfers.Run([this, job, written, done = std::move(done)] {
    loop_.Post([done, settled = SettleIn(store_, job, written)] { done(settled); });
  });
}

void StoredCheckpoints::Discard(JobId job, std::uint64_t checkpoint, std::function<void()> done) {
  threads_.brief.Run([this, job, checkpoint, done = std::move(done)] {
    store_.Discard(job, checkpoint);
    loop_.Post(done);
  });
}

void StoredCheckpoints::Release(JobId job, std::uint64_t checkpoint, std::function<void()> done) {
  threads_.brief.Run([this, job, checkpoint, list = store_.last_list(), done = std::move(done)] {
    store_.Release(job, checkpoint, list);
    loop_.Post(done);
  });
}

void StoredCheckpoints::Keep(JobId job, const std::vector<std::uint64_t>& checkpoints,
                             std::function<void()> done) {
  threads_.brief.Run([this, job, checkpoints, list = store_.last_list(), done = std::move(done)] {
    store_.Keep(job, checkpoints, list);
    loop_.Post(done);
  });
}

void StoredCheckpoints::Copy(const proto::CopyCheckpoint& order,
                             const std::vector<std::uint32_t>& pids,
                             std::function<void(const absl::Status&)> done) {
  threads_.transfers.Run([this, order, asked = pids, done = std::move(done)] {
    const JobId job{order.job()};
    absl::StatusOr<std::vector<std::uint32_t>> pids = asked;
    if (asked.empty()) pids = PidsIn(store_, job, order.checkpoint());
    absl::Status copied = pids.status();
    if (pids.ok() && pids->empty())
      copied = absl::NotFoundError("no image of this checkpoint lies here");
    if (copied.ok()) {
      copied = transfer_.Copy({.job = job,
                               .chain = {order.chain().begin(), order.chain().end()},
                               .pids = *pids,
                               .files_pid = pids->front(),
                               .to_node = order.to_node(),
                               .to_address = order.to_address()});
    }
    loop_.Post([done, copied] { done(copied); });
  });
}

}  // namespace bspnow::worker
