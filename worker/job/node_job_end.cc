// What becomes of a job on its node when its processes have gone: profile, files, directory.
#include <absl/strings/str_cat.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/clock.h"
#include "base/units.h"
#include "files/file_name.h"
#include "worker/exchange/node_profile.h"
#include "worker/host/leftovers.h"
#include "worker/job/node_job.h"

namespace bspnow::worker {
namespace {

constexpr std::size_t kLostNamedMax = 8;
constexpr std::size_t kLostNameBytesMax = 300;
// For the coordinator, or for room on its disk. It waits for an hour (kClearWithFilesNs).
constexpr std::uint64_t kFilesPatienceNs = 3'000 * kNsPerS;
constexpr std::uint64_t kProfilePatienceNs = 60 * kNsPerS;
constexpr std::uint64_t kFilesPauseMs = 250;  // At first, doubled each time, as all are sent again,
constexpr std::uint64_t kFilesPauseMsMax = 30'000;  // up to this.

std::vector<LeftFile> Fitting(std::vector<LeftFile> files, std::uint64_t bytes_max,
                              std::map<std::string, std::string>& left_out) {
  std::vector<LeftFile> fitting;
  files::FileSizes sizes;
  std::uint64_t bytes = 0;
  for (LeftFile& file : files) {
    if (file.name.size() > files::kSentNameBytesMax) {
      left_out["file " + file.name] =
          absl::StrCat("its name has ", file.name.size(), " bytes, and those of ",
                       files::kSentNameBytesMax, " are kept");
      continue;
    }
    files::FileSizes after = sizes;  // The coordinator does not hear of what is left out.
    const std::uint64_t takes = after.Next(file.name, file.bytes);
    if (takes > bytes_max - bytes) {
      left_out["file " + file.name] =
          absl::StrCat("it takes ", takes, " bytes, and of a job ", bytes_max,
                       " are kept in all (--files-bytes of the worker)");
      continue;
    }
    sizes = after;
    bytes += takes;
    fitting.push_back(std::move(file));
  }
  return fitting;
}

std::string Shortened(const std::string& name) {
  return name.size() <= kLostNameBytesMax ? name : name.substr(0, kLostNameBytesMax) + "...";
}

/// The coordinator is away, has no room, or takes this worker's proof no more: it can be renewed.
bool MayBecomeWell(const absl::Status& sent) {
  return absl::IsUnavailable(sent) || absl::IsUnauthenticated(sent);
}

}  // namespace

void NodeJob::Clear(Left kept) {
  StopExchange();
  std::shared_ptr<NodeSegment> segment = std::exchange(segment_, nullptr);
  input_.reset();
  parts_.threads.brief.Run([this, kept, segment]() mutable {
    const auto profile = std::make_shared<const std::string>(
        kept != Left::kNothing && segment ? ProfileText(*segment) : std::string());
    segment.reset();
    parts_.loop.Post([this, kept, profile] {
      KeepProfileUntil(profile, kept, NowNs() + kProfilePatienceNs, kFilesPauseMs);
    });
  });
}

// Between two attempts no thread is held, here and below: others have to start, and a node that is
// slow to clear them away is given up.
void NodeJob::KeepProfileUntil(std::shared_ptr<const std::string> profile, Left kept,
                               std::uint64_t until_ns, std::uint64_t pause_ms) {
  parts_.threads.brief.Run([this, profile, kept, until_ns, pause_ms] {
    absl::Status stored;
    if (!profile->empty()) stored = parts_.store_profile(id_, job_.node(), *profile);
    const bool again = MayBecomeWell(stored) && NowNs() < until_ns;
    if (!again && !stored.ok())
      spdlog::warn("event=profile_not_kept job={} reason=\"{}\"", Value(id_),
                   std::string(stored.message()));
    parts_.loop.Post([this, profile, kept, until_ns, pause_ms, again] {
      if (again) {
        keep_timer_ = parts_.loop.AddTimer(pause_ms, [this, profile, kept, until_ns, pause_ms] {
          keep_timer_ = kNoTimer;
          KeepProfileUntil(profile, kept, until_ns, 2 * pause_ms);
        });
      } else if (kept == Left::kFilesAndProfile && directory_) {
        KeepFilesUntil(NowNs() + kFilesPatienceNs, kFilesPauseMs);
      } else {
        RemoveDirectory("");
      }
    });
  });
}

void NodeJob::KeepFilesUntil(std::uint64_t until_ns, std::uint64_t pause_ms) {
  parts_.threads.transfers.Run([this, until_ns, pause_ms] {
    const KeptFiles kept = KeepFiles();
    const bool again = MayBecomeWell(kept.sent) && NowNs() < until_ns;
    parts_.loop.Post([this, until_ns, pause_ms, again, lost = kept.Lost()] {
      if (!again) return RemoveDirectory(lost);
      keep_timer_ = parts_.loop.AddTimer(pause_ms, [this, until_ns, pause_ms] {
        keep_timer_ = kNoTimer;
        KeepFilesUntil(until_ns, std::min(2 * pause_ms, kFilesPauseMsMax));
      });
    });
  });
}

void NodeJob::RemoveDirectory(const std::string& files_lost) {
  if (!files_lost.empty())
    spdlog::warn("event=files_not_kept job={} reason=\"{}\"", Value(id_), files_lost);
  const auto directory =
      std::make_shared<std::optional<JobDirectory>>(std::exchange(directory_, std::nullopt));
  parts_.threads.brief.Run([this, directory, files_lost] {
    directory->reset();
    if (account_) ClearAccount();
    parts_.loop.Post([this, files_lost] {
      parts_.accounts.Return(id_);
      hosting_.OnDirectoryGone(*this);
      job_.OnCleared(files_lost);
    });
  });
}

// On one of the threads. The next job of a pool's account is somebody else's.
void NodeJob::ClearAccount() const {
  parts_.images.TakeBackDirectory(id_);
  if (!parts_.accounts.are_of_a_pool()) return;
  const absl::Status cleared = RemoveLeftovers(*account_, CommonDirectories());
  if (cleared.ok()) return;
  spdlog::warn("event=account_not_cleared job={} account={} reason=\"{}\"", Value(id_),
               account_->name, std::string(cleared.message()));
}

// On one of the threads. Empty: nothing was recorded.
std::string NodeJob::ProfileText(const NodeSegment& segment) const {
  proto::Profile profile = ProfileOf(segment, pids_);
  for (proto::ProcessProfile& of : *profile.mutable_of())
    of.set_node(job_.start().hosts(static_cast<int>(job_.node())).node());
  return profile.SerializeAsString();
}

// On one of the threads; the directory stays until then.
NodeJob::KeptFiles NodeJob::KeepFiles() const {
  const Account* const account = account_ ? &*account_ : nullptr;
  KeptFiles kept;
  std::vector<LeftFile> files;
  {
    const FilesAs as(account);
    absl::StatusOr<files::FilesFound> left = directory_->LeftFiles();
    if (!left.ok()) {  // For want of descriptors, say; there may be some later.
      kept.sent = absl::UnavailableError(left.status().message());
      return kept;
    }
    files = std::move(left->files);
    const proto::Host& here = job_.start().hosts(static_cast<int>(job_.node()));
    if (here.pids(0) == 0)
      kept.left_out = std::move(left->left_out);
    else
      files = CoresOf(std::move(files), here.node());
    files = Fitting(std::move(files), parts_.files_bytes_max, kept.left_out);
  }
  if (files.empty()) return kept;
  const auto leave_out = [&kept](const LeftFile& file, const absl::Status& why) {
    kept.left_out["file " + file.name] = std::string(why.message());
  };
  const auto open = [account, &leave_out](const LeftFile& file) {
    const FilesAs as(account);
    auto opened = files::OutgoingFile::Open(file.path, file.name);
    if (!opened.ok()) leave_out(file, opened.status());
    return opened;
  };
  kept.sent = parts_.store_files(id_, files, {.open = open, .unread = leave_out});
  return kept;
}

std::string NodeJob::KeptFiles::Lost() const {
  if (!sent.ok()) return std::string(sent.message());
  std::string text;
  std::size_t named = 0;
  for (const auto& [what, why] : left_out)
    if (++named <= kLostNamedMax)
      absl::StrAppend(&text, text.empty() ? "" : "; ", Shortened(what), ": ", why);
  if (named > kLostNamedMax) absl::StrAppend(&text, "; and ", named - kLostNamedMax, " more");
  return text;
}

}  // namespace bspnow::worker
