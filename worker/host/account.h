// The user of this machine as whom the programs of a job run, if its worker is root: neither
// programs nor what root does with their files for them may do more than that user.
#ifndef WORKER_HOST_ACCOUNT_H_
#define WORKER_HOST_ACCOUNT_H_

#include <absl/status/status.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace bspnow::worker {

struct Account {
  std::string name;
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;  ///< All of its groups.
  std::string home;
};

/// While it lives, this thread opens, makes and changes files with that account's rights alone; it
/// stays root in all else (credentials(7), setfsuid(2)). A link to somebody else's file, in a
/// directory that the user can write to, leads nowhere then.
class FilesAs {
 public:
  /// nullptr: as who we are.
  explicit FilesAs(const Account* account);
  FilesAs(const FilesAs&) = delete;
  FilesAs& operator=(const FilesAs&) = delete;
  ~FilesAs();

 private:
  const bool changed_;
  uid_t user_ = 0;
  gid_t group_ = 0;
  std::vector<gid_t> groups_;
};

/// Becomes that user for good, in a child that is about to execute its program. Only
/// async-signal-safe calls. False, with errno, if any right of root would be left.
bool Become(const Account& account);

/// Gives the account a directory with all that is in it, the directory itself last. Nobody but us
/// may have been there: who has could put a link in the way, to a file of root's.
absl::Status GiveTree(const std::string& path, const Account& account);

/// Takes a directory of files back, the directory first. What its user has put there that is not a
/// file of his own is removed: we would read it, or give it away, as ours. Nothing happens to one
/// that is ours already, or is not there.
absl::Status TakeBack(const std::string& path);

/// Whose a directory is, if it is not ours: new files there must be his, too (FilesAs).
std::optional<Account> OwnerOf(const std::string& path);

}  // namespace bspnow::worker

#endif  // WORKER_HOST_ACCOUNT_H_
