// The login socket: whoever connects to this Unix socket gets a token that says who he is, which
// the kernel has told (SO_PEERCRED, unix(7)), and the connection is closed. It has a thread of its
// own: a directory service that names users may hang, and local programs may connect for ever; both
// keep others from logging in, and the coordinator from nothing.
#ifndef COORDINATOR_ACCESS_LOGIN_SERVER_H_
#define COORDINATOR_ACCESS_LOGIN_SERVER_H_

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>
#include "base/unique_fd.h"
#include "coordinator/access/login_tokens.h"
#include "net/event_loop.h"

namespace bspnow::coordinator {

class LoginServer {
 public:
  /// Whether the directories of the paths are there, or are made.
  enum class Directories { kAreThere, kAreMade };

  /// Listens at the first of `paths`, in place of one that is there. Where that goes, as the
  /// runtime directory of a user does who logs out, it listens anew, at the first path that can be.
  static absl::StatusOr<std::unique_ptr<LoginServer>> Listen(
      std::shared_ptr<const LoginTokens> tokens, std::vector<std::string> paths,
      Directories directories);
  /// For Listen.
  LoginServer(std::shared_ptr<const LoginTokens> tokens, std::vector<std::string> paths,
              Directories directories)
      : tokens_(std::move(tokens)), paths_(std::move(paths)), directories_(directories) {}
  ~LoginServer();

  /// The first one.
  const std::string& path() const { return paths_.front(); }

  /// Before the process ends: removes the socket, and waits for nobody. A thread that a directory
  /// service holds up goes with the process.
  static void Release(std::unique_ptr<LoginServer> server);

 private:
  /// A socket, and what is at its path while nobody has removed it.
  struct Listening {
    std::string path;
    UniqueFd fd;
    dev_t device;
    ino_t inode;

    bool IsInPlace() const;
  };

  absl::StatusOr<Listening> ListenAt(const std::string& path) const;
  void Begin(Listening listening);
  void Remove();
  void Look();
  void ListenAnew(std::size_t paths);
  void AcceptSome();
  void Answer(int client) const;

  const std::shared_ptr<const LoginTokens> tokens_;
  const std::vector<std::string> paths_;
  const Directories directories_;
  std::atomic<bool> stopping_ = false;
  EventLoop loop_;
  std::optional<Listening> listening_;
  TimerId pause_ = kNoTimer;
  std::string fault_;  ///< Why there is none: the same one is noted once.
  std::optional<std::jthread> thread_;
};

/// Who that user of this machine is: root and whoever runs this coordinator may do everything.
/// Nothing if that cannot be said now.
std::optional<Caller> CallerOfUser(uid_t user);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_ACCESS_LOGIN_SERVER_H_
