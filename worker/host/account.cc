#include "worker/host/account.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/check.h"
#include "base/directory_listing.h"
#include "base/remove_tree.h"
#include "base/unique_fd.h"

namespace bspnow::worker {
namespace {

namespace fs = std::filesystem;

// Of this thread alone: glibc's function changes all threads of the process.
bool SetGroups(const std::vector<gid_t>& groups) {
  return syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

std::vector<gid_t> Groups() {
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(getgroups(0, nullptr), 0)));
  BSP_CHECK(getgroups(static_cast<int>(groups.size()), groups.data()) >= 0);
  return groups;
}

}  // namespace

namespace {

// Under some security bits (capabilities(7)) they would outlive the change of user.
bool DropCapabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const __user_cap_data_struct none[2] = {};
  return syscall(SYS_capset, &header, none) == 0;
}

bool IsAll(const Account& account) {
  uid_t users[3];
  gid_t groups[3];
  if (getresuid(&users[0], &users[1], &users[2]) != 0 ||
      getresgid(&groups[0], &groups[1], &groups[2]) != 0)
    return false;
  return std::all_of(users, users + 3, [&](uid_t user) { return user == account.user; }) &&
         std::all_of(groups, groups + 3, [&](gid_t group) { return group == account.group; });
}

}  // namespace

// An invalid user changes nothing, and so tells what it is (setfsuid(2)).
FilesAs::FilesAs(const Account* account) : changed_(account != nullptr) {
  if (!changed_) return;
  groups_ = Groups();
  BSP_CHECK(SetGroups(account->groups));
  group_ = static_cast<gid_t>(setfsgid(account->group));
  user_ = static_cast<uid_t>(setfsuid(account->user));
  BSP_CHECK(static_cast<uid_t>(setfsuid(static_cast<uid_t>(-1))) == account->user);
  BSP_CHECK(static_cast<gid_t>(setfsgid(static_cast<gid_t>(-1))) == account->group);
}

FilesAs::~FilesAs() {
  if (!changed_) return;
  setfsuid(user_);
  setfsgid(group_);
  BSP_CHECK(SetGroups(groups_));
}

bool Become(const Account& account) {
  if (syscall(SYS_setgroups, account.groups.size(), account.groups.data()) != 0 ||
      syscall(SYS_setresgid, account.group, account.group, account.group) != 0 ||
      syscall(SYS_setresuid, account.user, account.user, account.user) != 0 ||
      !DropCapabilities() || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return false;
  if (account.user != 0 && IsAll(account) && syscall(SYS_setresuid, -1, 0, -1) != 0) return true;
  errno = EPERM;
  return false;
}

absl::Status GiveTree(const std::string& path, const Account& account) {
  const auto give = [&](const std::string& each) {
    if (lchown(each.c_str(), account.user, account.group) == 0) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, absl::StrCat("giving ", each, " to ", account.name));
  };
  std::error_code error;
  for (fs::recursive_directory_iterator at(path, error); !error && at != fs::end(at);
       at.increment(error)) {
    if (absl::Status given = give(at->path().string()); !given.ok()) return given;
  }
  if (error) return absl::InternalError(absl::StrCat("reading ", path, ": ", error.message()));
  return give(path);
}

namespace {

// In a directory that is ours by now: nobody else changes what its names mean.
absl::Status TakeFile(const std::string& path, uid_t from) {
  struct stat status {};
  const bool his = lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
                   status.st_nlink == 1 && status.st_uid == from;
  if (his && lchown(path.c_str(), geteuid(), getegid()) == 0 &&
      chmod(path.c_str(), S_IRUSR | S_IWUSR) == 0)
    return absl::OkStatus();
  return RemoveTree(path) ? absl::OkStatus()
                          : absl::InternalError(absl::StrCat("removing ", path, " failed"));
}

}  // namespace

absl::Status TakeBack(const std::string& path) {
  const UniqueFd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat before {};
  if (!directory.valid() || fstat(directory.get(), &before) != 0 || before.st_uid == geteuid())
    return absl::OkStatus();
  if (fchown(directory.get(), geteuid(), getegid()) != 0 || fchmod(directory.get(), S_IRWXU) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("taking back ", path));
  const DirectoryListing listing = ListDirectory(path);
  absl::Status taken;
  for (const std::string& name : listing.names)
    taken.Update(TakeFile(absl::StrCat(path, "/", name), before.st_uid));
  if (listing.error) taken.Update(absl::InternalError(absl::StrCat("reading ", path)));
  return taken;
}

std::optional<Account> OwnerOf(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || status.st_uid == geteuid()) return std::nullopt;
  return Account{.name = absl::StrCat("uid-", status.st_uid),
                 .user = status.st_uid,
                 .group = status.st_gid,
                 .groups = {},
                 .home = {}};
}

}  // namespace bspnow::worker
