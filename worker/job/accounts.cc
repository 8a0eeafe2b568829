#include "worker/job/accounts.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/user_name.h"
#include "worker/host/leftovers.h"

namespace bspnow::worker {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEntryBytesMax = 16 << 10;
constexpr int kGroupsMax = 1024;
constexpr char kChoices[] =
    "choose with --accounts: same (the account of the submitting user's name), fixed:NAME, or "
    "pool:A,B,... (one for each job)";

bool MayWrite(const Account& account, const struct stat& directory) {
  const auto& groups = account.groups;
  const bool in_group = std::find(groups.begin(), groups.end(), directory.st_gid) != groups.end();
  return directory.st_uid == account.user || (directory.st_mode & S_IWOTH) != 0 ||
         (in_group && (directory.st_mode & S_IWGRP) != 0);
}

bool WritesAtHome(const Account& account) {
  fs::path path = account.home;
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) return S_ISDIR(status.st_mode) && MayWrite(account, status);
  while (stat(path.c_str(), &status) != 0) {
    if (!path.has_relative_path()) return false;
    path = path.parent_path();
  }
  const std::vector<std::string> cleaned = CommonDirectories();
  return S_ISDIR(status.st_mode) && MayWrite(account, status) &&
         std::find(cleaned.begin(), cleaned.end(), path.native()) == cleaned.end();
}

absl::StatusOr<std::vector<Account>> FindAll(const std::string& names) {
  std::vector<Account> accounts;
  std::set<uid_t> seen;
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(names, ','))) {
    absl::StatusOr<Account> account = FindAccount(name);
    if (!account.ok()) return account.status();
    if (!seen.insert(account->user).second) {
      return absl::InvalidArgumentError(absl::StrCat("--accounts names ", name, " twice"));
    }
    accounts.push_back(*std::move(account));
  }
  return accounts;
}

}  // namespace

absl::Status CheckForPool(const Account& account) {
  if (!WritesAtHome(account)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the account \"", account.name, "\" may write to its home directory ", account.home,
      ", or make it, and a job of --accounts=pool would leave files there for the next one: "
      "usermod --home /nonexistent ",
      account.name));
}

absl::StatusOr<Account> FindAccount(const std::string& name) {
  passwd entry{};
  passwd* found = nullptr;
  char text[kEntryBytesMax];
  const int error = getpwnam_r(name.c_str(), &entry, text, sizeof text, &found);
  if (found == nullptr && !SaysNoSuchAccount(error)) {
    return absl::UnavailableError(
        absl::StrCat("the worker's machine cannot say now whether it has an account \"", name,
                     "\": ", strerror(error)));
  }
  if (found == nullptr) {
    return absl::PermissionDeniedError(absl::StrCat(
        "there is no account \"", name, "\" on the worker's machine (useradd there makes one)"));
  }
  if (found->pw_uid == 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("the account \"", name, "\" is root's, and no program of a job runs as root"));
  }
  Account account{.name = name,
                  .user = found->pw_uid,
                  .group = found->pw_gid,
                  .groups = std::vector<gid_t>(kGroupsMax),
                  .home = found->pw_dir};
  int count = kGroupsMax;
  getgrouplist(name.c_str(), account.group, account.groups.data(), &count);
  account.groups.resize(static_cast<std::size_t>(std::min(count, kGroupsMax)));
  return account;
}

absl::StatusOr<Accounts> Accounts::Of(const std::string& mode, uid_t self) {
  const std::vector<std::string> parts = absl::StrSplit(mode, absl::MaxSplits(':', 1));
  const bool own = mode.empty() || mode == "own" || mode == "own:everybody";
  if (self == 0 && own) {
    return absl::InvalidArgumentError(
        absl::StrCat("this worker runs as root, and no program of a job does; ", kChoices));
  }
  if (own) {
    const Mode whose = mode == "own:everybody" ? Mode::kOwnForEverybody : Mode::kOwn;
    Accounts accounts(whose, mode.empty() ? "own" : mode, {});
    const std::optional<std::string> name = UserName(self);
    if (!name) return absl::UnavailableError("the system cannot say now whose worker this is");
    accounts.own_name_ = *name;
    return accounts;
  }
  if (self != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--accounts ", mode, ": only a worker that root starts can run programs as another user; ",
        "own:everybody runs everybody's as this one"));
  }
  if (mode == "same") return Accounts(Mode::kSame, mode, {});
  if (parts.size() == 2 && (parts[0] == "fixed" || parts[0] == "pool")) {
    absl::StatusOr<std::vector<Account>> known = FindAll(parts[1]);
    if (absl::IsPermissionDenied(known.status()))
      return absl::InvalidArgumentError(known.status().message());
    if (!known.ok()) return known.status();
    for (const Account& account : *known)
      if (absl::Status s = CheckForPool(account); parts[0] == "pool" && !s.ok()) return s;
    if (parts[0] == "pool" || known->size() == 1)
      return Accounts(parts[0] == "pool" ? Mode::kPool : Mode::kFixed, mode, *std::move(known));
  }
  return absl::InvalidArgumentError(absl::StrCat("--accounts ", mode, ": no such way; ", kChoices));
}

absl::StatusOr<std::optional<Account>> Accounts::Take(JobId job, const std::string& user) {
  switch (mode_) {
    case Mode::kOwnForEverybody:
      return std::nullopt;
    case Mode::kOwn:
      if (user == own_name_) return std::nullopt;
      return absl::PermissionDeniedError(
          absl::StrCat("this worker runs as ", own_name_, ", and only that user's jobs (not ", user,
                       "'s); --accounts=own:everybody lets it run all"));
    case Mode::kFixed:
      return known_.front();
    case Mode::kSame: {
      absl::StatusOr<Account> account = FindAccount(user);
      if (!account.ok()) return account.status();
      return *std::move(account);
    }
    case Mode::kPool:
      break;
  }
  if (const auto taken = taken_.find(job); taken != taken_.end()) return known_[taken->second];
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const bool used = std::any_of(taken_.begin(), taken_.end(),
                                  [i](const auto& each) { return each.second == i; });
    if (used) continue;
    taken_[job] = i;
    return known_[i];
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("all ", known_.size(), " accounts of --accounts=pool are in use"));
}

}  // namespace bspnow::worker
