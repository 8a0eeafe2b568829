#include "worker/checkpoint/image_transfer.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/failpoint.h"
#include "worker/checkpoint/image_file.h"
#include "worker/checkpoint/image_name.h"

namespace bspnow::worker {

// ---- Copies -------------------------------------------------------------------------------------

// The other node removes texts that none of its images needs. So a text that it has counts only
// once it has the images.
absl::Status ImageTransfer::Copy(const ImageCopy& copy) {
  if (absl::Status fault = FailpointStatus("worker.copy.begin"); !fault.ok()) return fault;
  const absl::StatusOr<Needed> needed = NeededFor(copy);
  if (!needed.ok()) return needed.status();
  for (const std::set<std::string>* names : {&needed->of_checkpoints, &needed->texts})
    if (absl::Status put = PutMissing(copy, *names); !put.ok()) return put;
  return FailpointStatus("worker.copy.done");
}

absl::Status ImageTransfer::PutMissing(const ImageCopy& copy, const std::set<std::string>& names) {
  const absl::StatusOr<std::vector<std::string>> there =
      stub_.List(copy.to_address, store_, copy.job);
  if (!there.ok()) return there.status();
  for (const std::string& name : names) {
    if (std::find(there->begin(), there->end(), name) != there->end()) continue;
    absl::Status put = stub_.Put(copy.to_address, store_, copy.job, name);
    if (!put.ok())
      return absl::Status(put.code(), absl::StrCat(put.message(), " (node ", copy.to_node, ")"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ImageTransfer::Needed> ImageTransfer::NeededFor(const ImageCopy& copy) const {
  Needed needed;
  if (copy.chain.empty()) return absl::InvalidArgumentError("a copy of no checkpoint");
  for (const std::uint32_t pid : copy.pids) {
    for (std::uint64_t checkpoint = copy.chain.back(); checkpoint != 0;) {
      const std::string image = ImageName(checkpoint, Pid{pid});
      const absl::StatusOr<ImageFacts> facts = store_.FactsOf(copy.job, image);
      if (!facts.ok()) return facts.status();
      needed.of_checkpoints.insert(image);
      needed.texts.insert(facts->texts.begin(), facts->texts.end());
      checkpoint = facts->base;
    }
  }
  for (const std::uint64_t checkpoint : copy.chain)
    if (const std::string files = FilesName(checkpoint, copy.files_pid);
        store_.Has(copy.job, files))
      needed.of_checkpoints.insert(files);
  return needed;
}

// ---- What a node needs to go on -----------------------------------------------------------------

namespace {

bool IsUnreachable(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsCancelled(status);
}

/// Files of one job, from here or from elsewhere; each is looked for once.
class Collector {
 public:
  Collector(ImageStore& store, ImagesStub& stub, JobId job, const proto::Resume& resume,
            const RestoreCalls& restore)
      : store_(store), stub_(stub), job_(job), resume_(resume), restore_(restore) {}

  CollectedImages Collect(const std::vector<std::uint32_t>& pids) {
    std::map<std::uint32_t, absl::Status> files;
    for (const std::uint32_t pid : pids)
      collected_.whole_files.Update(files[pid] = CollectFiles(pid));
    for (const auto& [pid, brought] : files) {
      const absl::Status whole = brought.ok() ? CollectImages(pid) : brought;
      if (!whole.ok()) AddFailure(pid, whole);
    }
    return std::move(collected_);
  }

  // What cannot be written here, or fetched just now, says nothing about the images.
  void AddFailure(std::uint32_t pid, const absl::Status& why) {
    if (absl::IsDataLoss(why) || absl::IsNotFound(why)) collected_.missing.push_back(pid);
    absl::StrAppend(&collected_.reason, collected_.reason.empty() ? "" : "; ", "pid ", pid, ": ",
                    std::string(why.message()));
  }

 private:
  absl::StatusOr<const proto::ImageOfPid*> ImageOf(std::uint32_t pid) const {
    for (const proto::ImageOfPid& image : resume_.images())
      if (image.pid() == pid) return &image;
    return absl::NotFoundError("the checkpoint has no image of it");
  }

  absl::Status CollectFiles(std::uint32_t pid) {
    const absl::StatusOr<const proto::ImageOfPid*> of_pid = ImageOf(pid);
    if (!of_pid.ok()) return of_pid.status();
    const std::uint32_t files_pid = (*of_pid)->files_pid();
    const std::string files = FilesName(resume_.checkpoint(), files_pid);
    if (absl::Status here = Obtain(files, **of_pid, restore_.files); !here.ok()) return here;
    collected_.files[files_pid] = store_.PathOf(job_, files);
    return absl::OkStatus();
  }

  absl::Status CollectImages(std::uint32_t pid) {
    const absl::StatusOr<const proto::ImageOfPid*> of_pid = ImageOf(pid);
    if (!of_pid.ok()) return of_pid.status();
    std::vector<std::string> paths;
    // A process may have written a full image where an incremental one was asked for: the image
    // itself names its base.
    for (std::uint64_t checkpoint = resume_.checkpoint(); checkpoint != 0;) {
      if (std::find(resume_.chain().begin(), resume_.chain().end(), checkpoint) ==
          resume_.chain().end())
        return absl::DataLossError(
            absl::StrCat("it builds on checkpoint ", checkpoint, ", which was not committed"));
      const std::string name = ImageName(checkpoint, Pid{pid});
      const absl::StatusOr<ImageFacts> facts = ObtainImage(name, **of_pid);
      if (!facts.ok()) return facts.status();
      paths.insert(paths.begin(), store_.PathOf(job_, name));
      checkpoint = facts->base;
    }
    collected_.images[pid] = std::move(paths);
    return absl::OkStatus();
  }

  /// An image, and the texts that it needs.
  absl::StatusOr<ImageFacts> ObtainImage(const std::string& name, const proto::ImageOfPid& of_pid) {
    if (absl::Status here = Obtain(name, of_pid, restore_.images); !here.ok()) return here;
    absl::StatusOr<ImageFacts> facts = store_.FactsOf(job_, name);
    if (!facts.ok()) return facts.status();
    for (const std::string& text : facts->texts)
      if (absl::Status here = Obtain(text, of_pid, restore_.images); !here.ok()) return here;
    return facts;
  }

  /// Makes sure that the file is here and verified, from the store or from a holder.
  absl::Status Obtain(const std::string& name, const proto::ImageOfPid& of_pid, OpenCalls& calls) {
    if (obtained_.contains(name)) return absl::OkStatus();
    if (calls.stopping()) return absl::CancelledError("the restore was broken off");
    absl::Status found = store_.Verify(job_, name);
    if (absl::IsNotFound(found))
      found = absl::NotFoundError(absl::StrCat(name, " is not on this node"));
    const bool damaged = !found.ok() && !absl::IsNotFound(found);
    absl::StatusCode worst = found.code();
    std::string failures(found.message());
    for (const std::string& holder : of_pid.holders()) {
      if (found.ok()) break;
      if (unreachable_.contains(holder)) {
        worst = absl::StatusCode::kUnavailable;
        continue;
      }
      found = stub_.Get(holder, store_, job_, name, calls);
      if (IsUnreachable(found)) unreachable_.insert(holder);
      if (found.ok() && damaged)
        collected_.notes.push_back(absl::StrCat(failures, "; taken from ", holder));
      if (!absl::IsDataLoss(found) && !absl::IsNotFound(found)) worst = found.code();
      absl::StrAppend(&failures, "; ", std::string(found.message()));
    }
    if (!found.ok()) return absl::Status(worst, failures);
    obtained_.insert(name);
    return absl::OkStatus();
  }

  ImageStore& store_;
  ImagesStub& stub_;
  const JobId job_;
  const proto::Resume& resume_;
  const RestoreCalls restore_;
  CollectedImages collected_;
  std::set<std::string> obtained_;
  std::set<std::string> unreachable_;  ///< Holders; each is waited for once.
};

}  // namespace

CollectedImages ImageTransfer::Collect(JobId job, const proto::Resume& resume,
                                       const std::vector<std::uint32_t>& pids,
                                       const RestoreCalls& restore) {
  absl::Status fault = FailpointStatus("worker.restore.begin");
  Collector collector(store_, stub_, job, resume, restore);
  CollectedImages collected = collector.Collect(pids);
  for (const char* const point : {"worker.restore.collected", "worker.restore.verified"})
    if (fault.ok()) fault = FailpointStatus(point);
  if (fault.ok()) return collected;
  collected.reason = std::string(fault.message());
  return collected;
}

}  // namespace bspnow::worker
