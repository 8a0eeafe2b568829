// What is removed from the store, by whom, and until when an order to do so holds.
#include <absl/strings/str_cat.h>
#include <stdio.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "base/remove_tree.h"
#include "worker/checkpoint/image_name.h"
#include "worker/checkpoint/image_store.h"

namespace bspnow::worker {
namespace {

using Kind = StoredName::Kind;

/// Whether this is a file of the checkpoint, finished or not.
bool IsOf(const std::string& name, std::uint64_t checkpoint) {
  const std::optional<StoredName> unfinished = ParseUnfinishedName(name);
  const std::optional<StoredName> what = unfinished ? unfinished : ParseStoredName(name);
  return what && what->kind != Kind::kText && what->checkpoint == checkpoint;
}

bool IsTextInTheMaking(const std::string& name) {
  const std::optional<StoredName> unfinished = ParseUnfinishedName(name);
  return unfinished && unfinished->kind == Kind::kText && name.ends_with(kBeingWritten);
}

}  // namespace

void ImageStore::Discard(JobId job, std::uint64_t checkpoint) {
  for (const std::string& name : AnyNamesIn(DirectoryOf(job)))
    if (IsOf(name, checkpoint) || IsTextInTheMaking(name)) unlink(PathOf(job, name).c_str());
}

absl::StatusOr<std::vector<proto::StoredJob>> ImageStore::List() {
  {
    const std::lock_guard lock(removing_);
    last_list_ = ListNumber{static_cast<std::uint64_t>(last_list_) + 1};
  }
  return Stored();
}

ImageStore::ListNumber ImageStore::last_list() const {
  const std::lock_guard lock(removing_);
  return last_list_;
}

// One file at a time, so that a list waits for one removal at most.
bool ImageStore::RemoveOrdered(const std::string& path, ListNumber ordered_after) {
  const std::lock_guard lock(removing_);
  if (ordered_after != last_list_) return false;
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return true;
}

void ImageStore::Release(JobId job, std::uint64_t checkpoint, ListNumber ordered_after) {
  for (const std::string& name : AnyNamesIn(DirectoryOf(job)))
    if (IsOf(name, checkpoint) && !RemoveOrdered(PathOf(job, name), ordered_after)) return;
}

void ImageStore::Keep(JobId job, const std::vector<std::uint64_t>& checkpoints,
                      ListNumber ordered_after) {
  const std::set<std::uint64_t> kept(checkpoints.begin(), checkpoints.end());
  for (const std::string& name : AnyNamesIn(DirectoryOf(job))) {
    const std::optional<StoredName> unfinished = ParseUnfinishedName(name);
    const std::optional<StoredName> what = unfinished ? unfinished : ParseStoredName(name);
    if (!kept.empty()) {
      if (!what || what->kind == Kind::kText) continue;
      if (what->checkpoint > *kept.rbegin() || kept.contains(what->checkpoint)) continue;
    } else if (std::error_code ignored;
               !what || std::filesystem::is_directory(
                            std::filesystem::symlink_status(PathOf(job, name), ignored))) {
      RemoveTree(PathOf(job, name));  // A program's own, and any size.
      continue;
    }
    if (!RemoveOrdered(PathOf(job, name), ordered_after)) return;
  }
  if (!kept.empty()) return RemoveTexts(job, ordered_after);
  if (!RemoveOrdered(DirectoryOf(job), ordered_after)) return;
  const std::lock_guard lock(mutex_);
  std::erase_if(verified_texts_, [job](const auto& text) { return text.first == job; });
}

// Nothing is known to be idle while somebody writes an image, or if one cannot be read or may have
// been overlooked. A text that is needed may still lie aside: its worker has died in RemoveTexts.
std::set<std::string> ImageStore::IdleTexts(JobId job) {
  std::set<std::string> idle, needed;
  const absl::StatusOr<std::vector<std::string>> names = NamesIn(DirectoryOf(job));
  if (!names.ok()) return {};
  for (const std::string& name : *names) {
    if (ParseUnfinishedName(name)) return {};
    const std::string text = name.substr(0, name.find(kPutAside));
    const std::optional<StoredName> what = ParseStoredName(text);
    if (what && what->kind == Kind::kText) idle.insert(text);
    if (!what || what->kind != Kind::kImage) continue;
    const absl::StatusOr<ImageFacts> facts = FactsOf(job, name);
    if (!facts.ok()) return {};
    needed.insert(facts->texts.begin(), facts->texts.end());
  }
  for (const std::string& text : needed)
    if (idle.erase(text) != 0 && sharing() == Sharing::kShared)
      rename(PathOf(job, absl::StrCat(text, std::string(kPutAside))).c_str(),
             PathOf(job, text).c_str());
  return idle;
}

// A process that is writing an image relies on the texts that it found: while one is writing, no
// text is removed. If a process begins only now it may miss a text; its checkpoint is then given
// up. A node that sends an image here looks for the image's texts when the image is here.
//
// Where others share the directory one of their processes may have found a text before it is
// removed, and have written its image since the look. So texts are put aside first, and those that
// are needed then are put back: whoever begins later finds them missing before its image counts.
void ImageStore::RemoveTexts(JobId job, ListNumber ordered_after) {
  const std::lock_guard none_begins(texts_);
  const std::set<std::string> idle = IdleTexts(job);
  const bool shared = sharing() == Sharing::kShared;
  const auto aside = [&](const std::string& text) {
    return PathOf(job, shared ? absl::StrCat(text, std::string(kPutAside)) : text);
  };
  for (const std::string& text : idle)
    if (shared) rename(PathOf(job, text).c_str(), aside(text).c_str());
  const std::set<std::string> still_idle = shared && !idle.empty() ? IdleTexts(job) : idle;
  for (const std::string& text : idle) {
    if (still_idle.contains(text) && RemoveOrdered(aside(text), ordered_after)) {
      const std::lock_guard lock(mutex_);
      verified_texts_.erase({job, text});
    } else if (shared) {
      rename(aside(text).c_str(), PathOf(job, text).c_str());
    }
  }
}

}  // namespace bspnow::worker
