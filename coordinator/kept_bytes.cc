#include "coordinator/kept_bytes.h"

#include <utility>

#include <absl/strings/str_cat.h>

namespace bspnow::coordinator {

absl::Status KeptBytes::Reserve(const std::string& user, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t kept = Of(user);
  if (most_ != 0 && (kept > most_ || bytes > most_ - kept)) return Full(user, bytes);
  coming_[user] += bytes;
  return absl::OkStatus();
}

void KeptBytes::Stored(const std::string& user, std::uint64_t bytes) {
  GiveBack(user, bytes);
  const std::scoped_lock lock(mutex_);
  stored_[user] += bytes;
}

void KeptBytes::GiveBack(const std::string& user, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto coming = coming_.find(user);
  if (coming == coming_.end()) return;  // An empty file, and all that was announced has come.
  coming->second -= bytes;
  if (coming->second == 0) coming_.erase(coming);
}

absl::Status KeptBytes::Check(const std::string& user) const {
  const std::scoped_lock lock(mutex_);
  return most_ != 0 && Of(user) >= most_ ? Full(user, 0) : absl::OkStatus();
}

void KeptBytes::SetStored(BytesByUser stored) {
  const std::scoped_lock lock(mutex_);
  stored_ = std::move(stored);
}

std::uint64_t KeptBytes::Of(const std::string& user) const {
  std::uint64_t bytes = 0;
  for (const BytesByUser* part : {&stored_, &coming_})
    if (const auto found = part->find(user); found != part->end()) bytes += found->second;
  return bytes;
}

absl::Status KeptBytes::Full(const std::string& user, std::uint64_t more) const {
  return absl::ResourceExhaustedError(absl::StrCat(
      "programs, output and files of user ", user, " take ", Of(user), " bytes here",
      more == 0 ? "" : absl::StrCat(", would take ", more, " more"), ", and may take ", most_,
      " (--user-bytes of the coordinator); those of jobs that ended go after an hour, "
      "programs that no job needs after a day"));
}

}  // namespace bspnow::coordinator
