#include "worker/host/leftovers.h"

#include <absl/strings/str_cat.h>
#include <ctype.h>
#include <poll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/remove_tree.h"

namespace bspnow::worker {
namespace {

namespace fs = std::filesystem;

constexpr int kDyingWaits = 100;
constexpr int kDyingWaitMs = 10;

// Whatever lies in the way, a job's account is free again soon.
constexpr std::size_t kEntriesMax = 20'000;

// A process whose user cannot be told has died meanwhile.
bool IsOf(const fs::path& process, uid_t user) {
  std::ifstream file(process / "status");
  for (std::string word; file >> word;) {
    if (word != "Uid:") continue;
    for (uid_t id; file >> id;)
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

/// Of one table of /proc/sysvipc: the numbers of what the user owns. Its columns bear their names.
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
    if (row != columns && cell("uid") == absl::StrCat(user)) numbers.push_back(stoi(cell(number)));
  }
  return numbers;
}

void RemoveSystemV(uid_t user) {
  for (const int shm : NumbersIn("shm", "shmid", user)) shmctl(shm, IPC_RMID, nullptr);
  for (const int sem : NumbersIn("sem", "semid", user)) semctl(sem, 0, IPC_RMID);
  for (const int msg : NumbersIn("msg", "msqid", user)) msgctl(msg, IPC_RMID, nullptr);
}

/// What is the user's in a directory of others, and in theirs below it: /tmp/.X11-unix, say. Level
/// by level: no tree of somebody else's hides what lies beside it.
void RemoveIn(const std::string& common, uid_t user) {
  std::deque<fs::path> directories = {common};
  std::size_t entries = 0;
  for (bool first = true; !directories.empty(); first = false, directories.pop_front()) {
    std::error_code error;
    for (fs::directory_iterator at(directories.front(), error);
         !error && at != fs::end(at) && (first || entries < kEntriesMax); at.increment(error)) {
      entries += 1;
      struct stat status {};
      if (lstat(at->path().c_str(), &status) != 0) continue;
      if (status.st_uid == user) {
        RemoveTree(at->path());
      } else if (S_ISDIR(status.st_mode)) {
        directories.push_back(at->path());
      }
    }
  }
}

}  // namespace

std::vector<std::string> CommonDirectories() {
  return {"/tmp", "/var/tmp", "/run/lock", "/dev/shm", "/dev/mqueue"};
}

bool RemoveLeftovers(const Account& account, const std::vector<std::string>& directories) {
  for (int wait = 0; HasProcesses(account.user); ++wait) {
    if (wait == kDyingWaits) return false;
    poll(nullptr, 0, kDyingWaitMs);
  }
  RemoveSystemV(account.user);
  const FilesAs as(&account);  // Whatever its links say.
  for (const std::string& directory : directories) RemoveIn(directory, account.user);
  return true;
}

}  // namespace bspnow::worker
