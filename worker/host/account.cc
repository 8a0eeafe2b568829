#include "worker/host/account.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "base/check.h"

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
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return false;
  uid_t users[3];
  if (getresuid(&users[0], &users[1], &users[2]) != 0) return false;
  for (const uid_t user : users) {
    if (user == account.user && user != 0) continue;
    errno = EPERM;
    return false;
  }
  return true;
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

}  // namespace bspnow::worker
