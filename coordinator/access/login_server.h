// The login socket: whoever connects to this Unix socket gets a token that says who he is, which
// the kernel has told (SO_PEERCRED, unix(7)), and the connection is closed.
#ifndef COORDINATOR_ACCESS_LOGIN_SERVER_H_
#define COORDINATOR_ACCESS_LOGIN_SERVER_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include <absl/status/statusor.h>
#include "base/unique_fd.h"
#include "coordinator/access/login_tokens.h"
#include "net/event_loop.h"

namespace bspnow::coordinator {

class LoginServer {
 public:
  /// Listens at `path`, in place of one that is there. Both outlive the server.
  static absl::StatusOr<std::unique_ptr<LoginServer>> Listen(EventLoop& loop,
                                                             const LoginTokens& tokens,
                                                             const std::string& path);
  /// For Listen.
  LoginServer(EventLoop& loop, const LoginTokens& tokens, std::string path, UniqueFd listening);
  ~LoginServer();

  const std::string& path() const { return path_; }

 private:
  void AcceptAll();

  EventLoop& loop_;
  const LoginTokens& tokens_;
  const std::string path_;
  const UniqueFd listening_;
  TimerId pause_ = kNoTimer;
};

/// Who that user of this machine is: root and whoever runs this coordinator may do everything.
Caller CallerOfUser(uid_t user);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_ACCESS_LOGIN_SERVER_H_
