#include "coordinator/access/login_server.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/clock.h"
#include "base/units.h"
#include "base/user_name.h"
#include "net/login/unix_address.h"

namespace bspnow::coordinator {
namespace {

/// A client asks for a token for each call.
constexpr std::uint64_t kTokenNs = 60 * kNsPerS;
constexpr std::uint64_t kPauseMs = 100;  // When there are no descriptors.
constexpr int kWaitingMax = 128;

/// Somebody takes connections there, be it that very many wait.
bool IsServed(const UnixAddress& address) {
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return fd.valid() && (connect(fd.get(), address.get(), address.size()) == 0 || errno == EAGAIN);
}

}  // namespace

Caller CallerOfUser(uid_t user) {
  const bool trusted = user == 0 || user == geteuid();
  return {.user = UserName(user), .scopes = trusted ? kAllScopes : kScopesOfUser};
}

absl::StatusOr<std::unique_ptr<LoginServer>> LoginServer::Listen(EventLoop& loop,
                                                                 const LoginTokens& tokens,
                                                                 const std::string& path) {
  const absl::StatusOr<UnixAddress> address = UnixAddress::Of(path);
  if (!address.ok()) return address.status();
  // Its users would get tokens of this one.
  if (IsServed(*address))
    return absl::FailedPreconditionError(absl::StrCat(
        "the login socket ", path, " is another coordinator's; give each its own --login-socket"));
  struct stat found {};
  if (lstat(path.c_str(), &found) == 0 && !S_ISSOCK(found.st_mode))
    return absl::FailedPreconditionError(absl::StrCat(
        "the login socket ", path, " is something else already; --login-socket names another"));
  UniqueFd listening(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  unlink(path.c_str());  // Of a coordinator that is gone: its port is this one's.
  if (!listening.valid() || bind(listening.get(), address->get(), address->size()) != 0 ||
      chmod(path.c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH) != 0 ||
      listen(listening.get(), kWaitingMax) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("listening at the login socket ", path,
                                                   " (--login-socket names another)"));
  return std::make_unique<LoginServer>(loop, tokens, path, std::move(listening));
}

LoginServer::LoginServer(EventLoop& loop, const LoginTokens& tokens, std::string path,
                         UniqueFd listening)
    : loop_(loop), tokens_(tokens), path_(std::move(path)), listening_(std::move(listening)) {
  loop_.OnReadable(listening_.get(), [this] { AcceptAll(); });
}

LoginServer::~LoginServer() {
  loop_.CancelTimer(pause_);
  loop_.Forget(listening_.get());
  unlink(path_.c_str());
}

// A token fits into any socket's buffer, so nobody is waited for.
void LoginServer::AcceptAll() {
  for (;;) {
    const UniqueFd client(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client.valid() && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!client.valid() && errno == EAGAIN) return;
    if (!client.valid()) {
      loop_.StopReading(listening_.get());
      pause_ = loop_.AddTimer(kPauseMs, [this] {
        pause_ = kNoTimer;
        loop_.OnReadable(listening_.get(), [this] { AcceptAll(); });
      });
      return;
    }
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(client.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) continue;
    const std::string token = tokens_.Make(CallerOfUser(peer.uid), NowNs() + kTokenNs) + "\n";
    [[maybe_unused]] const ssize_t sent =
        send(client.get(), token.data(), token.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

}  // namespace bspnow::coordinator
