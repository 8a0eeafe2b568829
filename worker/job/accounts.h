// As whom the programs of a job run on this node: what --accounts says. They never run as root.
#ifndef WORKER_JOB_ACCOUNTS_H_
#define WORKER_JOB_ACCOUNTS_H_

#include <absl/status/statusor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "worker/host/account.h"

namespace bspnow::worker {

class Accounts {
 public:
  /// `mode`: "same", "fixed:NAME", "pool:A,B,...", "own", "own:everybody", or empty for what goes
  /// without saying: own, unless `self` is root. An error says what to choose; Unavailable:
  /// the system cannot say now who these are.
  static absl::StatusOr<Accounts> Of(const std::string& mode, uid_t self);

  /// The account for a job of `user`; the same again for a job that has one. Nothing: programs run
  /// as this process's user. PermissionDenied if this node runs nothing for `user`,
  /// ResourceExhausted if the pool is empty, Unavailable if it cannot be said now.
  absl::StatusOr<std::optional<Account>> Take(JobId job, const std::string& user);

  /// Take waits for a directory service, which may be slow: it is not for the loop then, and may
  /// come from any thread.
  bool asks_others() const { return mode_ == Mode::kSame; }
  void Return(JobId job) { taken_.erase(job); }

  /// As it is shown of the node.
  const std::string& text() const { return text_; }

  /// Each job has one that no other has at the same time.
  bool are_of_a_pool() const { return mode_ == Mode::kPool; }

  /// Those of a pool, or the fixed one; none if it depends on the user.
  const std::vector<Account>& known() const { return known_; }

 private:
  enum class Mode { kOwn, kOwnForEverybody, kSame, kFixed, kPool };
  Accounts(Mode mode, std::string text, std::vector<Account> known)
      : mode_(mode), text_(std::move(text)), known_(std::move(known)) {}

  Mode mode_;
  std::string text_;
  std::vector<Account> known_;
  std::string own_name_;
  std::map<JobId, std::size_t> taken_;  ///< Of a pool, by index.
};

/// InvalidArgument if a job of this account could leave files where the next one's shell or Python
/// runs them: at home, or where it can make a home that is not there.
absl::Status CheckForPool(const Account& account);

/// An account of this machine. PermissionDenied if there is none of this name, or it is root;
/// Unavailable if that cannot be said now. May wait for a directory service.
absl::StatusOr<Account> FindAccount(const std::string& name);

}  // namespace bspnow::worker

#endif  // WORKER_JOB_ACCOUNTS_H_
