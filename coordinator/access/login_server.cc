#include "coordinator/access/login_server.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <utility>

#include "base/clock.h"
#include "base/start_thread.h"
#include "base/units.h"
#include "base/user_name.h"
#include "net/login/login.h"
#include "net/login/unix_address.h"

namespace bspnow::coordinator {
namespace {

/// A client asks for a token for each call.
constexpr std::uint64_t kTokenNs = 60 * kNsPerS;
constexpr std::uint64_t kPauseMs = 100;  // When there are no descriptors.
constexpr int kWaitingMax = 128;
constexpr int kAcceptsAtOnce = 64;
constexpr std::uint64_t kLookMs = 1000;
constexpr int kReleaseMs = 200;

/// Somebody takes connections there, be it that very many wait.
bool IsServed(const UnixAddress& address) {
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return fd.valid() && (connect(fd.get(), address.get(), address.size()) == 0 || errno == EAGAIN);
}

}  // namespace

std::optional<Caller> CallerOfUser(uid_t user) {
  std::optional<std::string> name = UserName(user);
  if (!name) return std::nullopt;
  const bool trusted = user == 0 || user == geteuid();
  return Caller{.user = *std::move(name), .scopes = trusted ? kAllScopes : kScopesOfUser};
}

// ---- The socket ---------------------------------------------------------------------------------

bool LoginServer::Listening::IsInPlace() const {
  struct stat found {};
  return lstat(path.c_str(), &found) == 0 && found.st_dev == device && found.st_ino == inode;
}

absl::StatusOr<LoginServer::Listening> LoginServer::ListenAt(const std::string& path) const {
  if (directories_ == Directories::kAreMade)
    if (absl::Status made = MakeLoginDirectory(path); !made.ok()) return made;
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
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  unlink(path.c_str());  // Of a coordinator that is gone: its port is this one's.
  if (!fd.valid() || bind(fd.get(), address->get(), address->size()) != 0 ||
      chmod(path.c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH) != 0 ||
      lstat(path.c_str(), &found) != 0 || listen(fd.get(), kWaitingMax) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("listening at the login socket ", path,
                                                   " (--login-socket names another)"));
  return Listening{
      .path = path, .fd = std::move(fd), .device = found.st_dev, .inode = found.st_ino};
}

absl::StatusOr<std::unique_ptr<LoginServer>> LoginServer::Listen(
    std::shared_ptr<const LoginTokens> tokens, std::vector<std::string> paths,
    Directories directories) {
  auto server = std::make_unique<LoginServer>(std::move(tokens), std::move(paths), directories);
  absl::StatusOr<Listening> listening = server->ListenAt(server->path());
  if (!listening.ok()) return listening.status();
  server->Begin(*std::move(listening));
  server->Look();
  server->thread_ = StartThread([&loop = server->loop_] { loop.Run(); });
  if (!server->thread_)
    return absl::ResourceExhaustedError("the system has no thread for the login socket");
  return server;
}

LoginServer::~LoginServer() {
  stopping_ = true;
  loop_.Post([this] { loop_.Stop(); });
  if (thread_) thread_->join();
  Remove();
}

void LoginServer::Release(std::unique_ptr<LoginServer> server) {
  if (server == nullptr) return;
  server->stopping_ = true;
  const auto removed = std::make_shared<std::promise<void>>();
  server->loop_.Post([&server = *server, removed] {
    server.Remove();
    removed->set_value();
  });
  // What is left of it is in the way of nobody.
  removed->get_future().wait_for(std::chrono::milliseconds(kReleaseMs));
  static_cast<void>(server.release());
}

void LoginServer::Begin(Listening listening) {
  Remove();
  listening_ = std::move(listening);
  loop_.OnReadable(listening_->fd.get(), [this] { AcceptSome(); });
}

void LoginServer::Remove() {
  if (!listening_) return;
  if (listening_->IsInPlace()) unlink(listening_->path.c_str());
  loop_.Forget(listening_->fd.get());
  loop_.CancelTimer(std::exchange(pause_, kNoTimer));
  listening_.reset();
}

// At a later path it is only until the first one can be again.
void LoginServer::Look() {
  loop_.AddTimer(kLookMs, [this] { Look(); });
  const bool in_place = listening_ && listening_->IsInPlace();
  if (stopping_ || (in_place && listening_->path == path())) return;
  ListenAnew(in_place ? 1 : paths_.size());
}

void LoginServer::ListenAnew(std::size_t paths) {
  std::string fault;
  for (std::size_t i = 0; i < paths; ++i) {
    absl::StatusOr<Listening> listening = ListenAt(paths_[i]);
    if (listening.ok()) {
      spdlog::warn("event=login_socket_moved path={}", paths_[i]);
      fault_.clear();
      return Begin(*std::move(listening));
    }
    if (fault.empty()) fault = std::string(listening.status().message());
  }
  if (fault == fault_ || (listening_ && listening_->IsInPlace())) return;
  fault_ = fault;
  spdlog::error("event=login_socket_gone reason=\"{}\"", fault);
}

// ---- Who connects -------------------------------------------------------------------------------

void LoginServer::AcceptSome() {
  for (int accepted = 0; accepted < kAcceptsAtOnce; ++accepted) {
    const UniqueFd client(accept4(listening_->fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (stopping_) return;
    if (client.valid()) {
      Answer(client.get());
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      loop_.StopReading(listening_->fd.get());
      pause_ = loop_.AddTimer(kPauseMs, [this] {
        pause_ = kNoTimer;
        loop_.OnReadable(listening_->fd.get(), [this] { AcceptSome(); });
      });
      return;
    }
  }
}

// A token fits into any socket's buffer, so nobody is waited for.
void LoginServer::Answer(int client) const {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
  const std::optional<Caller> caller = CallerOfUser(peer.uid);
  if (!caller) return;  // He hears that there was no token, and may try again.
  const std::string token = tokens_->Make(*caller, NowNs() + kTokenNs) + "\n";
  [[maybe_unused]] const ssize_t sent =
      send(client, token.data(), token.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace bspnow::coordinator
