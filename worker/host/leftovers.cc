#include "worker/host/leftovers.h"

#include <absl/strings/str_cat.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/directory.h"
#include "base/remove_tree.h"
#include "base/unique_fd.h"

namespace bspnow::worker {
namespace {

namespace fs = std::filesystem;

constexpr int kDyingWaits = 100;
constexpr int kDyingWaitMs = 10;

// Below the first level. Whatever of others lies in the way, a job's account is free again soon.
constexpr std::size_t kEntriesMax = 20'000;

constexpr char kItself[] = ".";
constexpr char kUsers[] = "Uid:";

// A process whose user cannot be told has died meanwhile. By lines, of which the first has the name
// that the process has given itself: "Uid: 1", say.
bool IsOf(const fs::path& process, uid_t user) {
  std::ifstream file(process / "status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kUsers)) continue;
    std::istringstream users(line.substr(sizeof kUsers - 1));
    for (uid_t id; users >> id;)
      if (id == user) return true;
    return false;
  }
  return false;
}

bool HasProcesses(uid_t user) {
  std::error_code error;
  for (fs::directory_iterator at("/proc", error); !error && at != fs::end(at); at.increment(error))
    if (isdigit(at->path().filename().native().front()) != 0 && IsOf(at->path(), user)) return true;
  return false;
}

/// Of one table of /proc/sysvipc: the numbers of what the user owns, or has made and given away.
/// Its columns bear their names.
std::vector<int> NumbersIn(const std::string& table, const std::string& number, uid_t user) {
  std::ifstream file(absl::StrCat("/proc/sysvipc/", table));
  std::vector<std::string> columns;
  std::vector<int> numbers;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::vector<std::string> row;
    for (std::string word; words >> word;) row.push_back(word);
    if (columns.empty()) columns = row;
    const auto cell = [&](const std::string& name) -> std::string {
      const auto column = std::find(columns.begin(), columns.end(), name) - columns.begin();
      return static_cast<std::size_t>(column) < row.size() ? row[static_cast<std::size_t>(column)]
                                                           : std::string();
    };
    const std::string name = absl::StrCat(user);
    if (row != columns && (cell("uid") == name || cell("cuid") == name))
      numbers.push_back(stoi(cell(number)));
  }
  return numbers;
}

/// While it lives, this thread is that user. What somebody else has of System V is removed by root
/// only with CAP_SYS_ADMIN, which is nearly everything, and which the daemon need not have.
class EffectiveUser {
 public:
  explicit EffectiveUser(uid_t user) : before_(geteuid()) { BSP_CHECK(Become(user)); }
  EffectiveUser(const EffectiveUser&) = delete;
  EffectiveUser& operator=(const EffectiveUser&) = delete;
  ~EffectiveUser() { BSP_CHECK(Become(before_)); }

 private:
  // Of this thread alone: glibc's function changes all threads of the process.
  static bool Become(uid_t user) { return syscall(SYS_setresuid, -1, user, -1) == 0; }

  const uid_t before_;
};

absl::Status RemoveSystemV(uid_t user) {
  const std::vector<int> memory = NumbersIn("shm", "shmid", user);
  const std::vector<int> semaphores = NumbersIn("sem", "semid", user);
  const std::vector<int> queues = NumbersIn("msg", "msqid", user);
  if (memory.empty() && semaphores.empty() && queues.empty()) return absl::OkStatus();
  const EffectiveUser as(user);
  absl::Status removed;
  const auto take = [&removed](int result, const char* what, int number) {
    if (result == 0 || errno == EINVAL || errno == EIDRM) return;  // Or gone meanwhile.
    removed.Update(absl::ErrnoToStatus(errno, absl::StrCat("removing ", what, " ", number)));
  };
  for (const int each : memory) take(shmctl(each, IPC_RMID, nullptr), "shared memory", each);
  for (const int each : semaphores) take(semctl(each, 0, IPC_RMID), "semaphores", each);
  for (const int each : queues) take(msgctl(each, IPC_RMID, nullptr), "a queue", each);
  return removed;
}

/// One below `common`, by no link and no mount: who owns what is on the way may put a link there.
/// Where the kernel has no such call (Linux before 5.6), none but `common` itself.
Directory OpenBelow(int common, const std::string& path) {
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV | RESOLVE_BENEATH;
  UniqueFd file(path == kItself ? openat(common, kItself, static_cast<int>(how.flags))
                                : static_cast<int>(syscall(SYS_openat2, common, path.c_str(), &how,
                                                           sizeof how)));
  return DirectoryOf(std::move(file));
}

/// What is the user's in a directory of others, and in theirs below it: /tmp/.X11-unix, say. Level
/// by level: no tree of somebody else's hides what lies beside it. Where the account may not write
/// no program has left anything, and what is the account's was given to it: a job's images.
void RemoveIn(const std::string& common, uid_t user) {
  const UniqueFd top(open(common.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::deque<std::string> paths = {kItself};
  std::size_t stay = 0;
  for (bool first = true; top.valid() && !paths.empty(); first = false, paths.pop_front()) {
    const Directory directory = OpenBelow(top.get(), paths.front());
    if (!directory) continue;
    const int fd = dirfd(directory.get());
    const bool is_left_here = first || faccessat(fd, kItself, W_OK, AT_EACCESS) == 0;
    const dirent* entry = nullptr;
    while (stay < kEntriesMax && (entry = readdir(directory.get())) != nullptr) {
      const std::string name = entry->d_name;
      struct stat status {};
      if (name == kItself || name == ".." ||
          fstatat(fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
        continue;
      const bool is_users = status.st_uid == user;
      if (is_users && is_left_here && RemoveTree(name, kRemovalLastsAtMost, fd)) continue;
      if (!first) stay += 1;
      if (!is_users && S_ISDIR(status.st_mode))
        paths.push_back(absl::StrCat(paths.front(), "/", name));
    }
  }
}

}  // namespace

std::vector<std::string> CommonDirectories() {
  return {"/tmp", "/var/tmp", "/run/lock", "/dev/shm", "/dev/mqueue"};
}

absl::Status RemoveLeftovers(const Account& account, const std::vector<std::string>& directories) {
  for (int wait = 0; HasProcesses(account.user); ++wait) {
    if (wait == kDyingWaits) return absl::FailedPreconditionError("a process of it lives");
    poll(nullptr, 0, kDyingWaitMs);
  }
  absl::Status removed = RemoveSystemV(account.user);
  const FilesAs as(&account);  // Whatever its links say.
  for (const std::string& directory : directories) RemoveIn(directory, account.user);
  return removed;
}

}  // namespace bspnow::worker
