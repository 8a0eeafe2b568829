#include "net/login/login.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <optional>

#include "base/unique_fd.h"
#include "net/login/unix_address.h"
#include "net/socket.h"

namespace bspnow {
namespace {

constexpr time_t kAnswerS = 5;
constexpr char kDirectoryOfRoot[] = "/run/bspnow";

std::string Variable(const char* name) {
  const char* const value = getenv(name);
  return value == nullptr ? "" : value;
}

std::string DirectoryInTmp() { return absl::StrCat("/tmp/bspnow-", geteuid()); }

/// Also where this process, of a timer for instance, has not been told of the user's sessions.
std::string RuntimeDirectory() {
  const std::string runtime = Variable("XDG_RUNTIME_DIR");
  return (runtime.empty() ? absl::StrCat("/run/user/", geteuid()) : runtime) + "/bspnow";
}

std::string DirectoryOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

enum class Owner { kTrusted, kOther };  // Trusted: root, and this user.

/// A directory that nobody but its owner may write to, and whose that is; nothing if it is none.
std::optional<Owner> OwnerOf(const std::string& directory) {
  struct stat found {};
  if (lstat(directory.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) ||
      (found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return std::nullopt;
  return found.st_uid == geteuid() || found.st_uid == 0 ? Owner::kTrusted : Owner::kOther;
}

/// Where anybody may make directories, one of this name can be a trap. In /run only root makes
/// them, so /run/bspnow may be that of a coordinator with a user of its own.
bool IsSafe(const std::string& directory) {
  const std::optional<Owner> owner = OwnerOf(directory);
  return owner == Owner::kTrusted ||
         (owner == Owner::kOther && OwnerOf(DirectoryOf(directory)) == Owner::kTrusted);
}

std::string SocketIn(const std::string& directory, std::uint16_t port) {
  return absl::StrCat(directory, "/login-", port, ".sock");
}

absl::Status Failed(const std::string& what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", strerror(errno)));
}

// The coordinator asks for nothing: the kernel has told it who this is.
absl::StatusOr<std::string> LogIn(const std::string& path) {
  const absl::StatusOr<UnixAddress> address = UnixAddress::Of(path);
  if (!address.ok()) return address.status();
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return Failed("making a socket");
  const timeval wait{.tv_sec = kAnswerS, .tv_usec = 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);  // For connect, too.
  if (connect(fd.get(), address->get(), address->size()) != 0)
    return Failed(absl::StrCat("login socket ", path));
  char token[kTokenBytesMax];
  std::size_t size = 0;
  while (size < sizeof token) {
    const ssize_t n = recv(fd.get(), token + size, sizeof token - size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed(absl::StrCat("login socket ", path));
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
  }
  if (size == 0)
    return absl::UnavailableError(absl::StrCat("login socket ", path, " gave no token"));
  return std::string(absl::StripAsciiWhitespace({token, size}));
}

absl::StatusOr<std::string> ReadTokenFile(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  struct stat found {};
  if (!fd.valid() || fstat(fd.get(), &found) != 0)
    return absl::NotFoundError(absl::StrCat("token file ", path, ": ", strerror(errno)));
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return absl::PermissionDeniedError(absl::StrCat(
        "token file ", path, " can be read by others, who could pass for you; chmod 600 it"));
  }
  char token[kTokenBytesMax];
  const ssize_t n = read(fd.get(), token, sizeof token);
  const std::string text(
      absl::StripAsciiWhitespace({token, n < 0 ? 0 : static_cast<std::size_t>(n)}));
  if (text.empty())
    return absl::DataLossError(absl::StrCat("token file ", path, " holds no token"));
  return text;
}

}  // namespace

LoginSettings LoginSettingsOfEnvironment() {
  return {.login_socket = Variable("BSP_LOGIN_SOCKET"), .token_file = Variable("BSP_TOKEN_FILE")};
}

std::vector<std::string> LoginSocketsOf(std::uint16_t port) {
  if (geteuid() == 0) return {SocketIn(kDirectoryOfRoot, port)};
  std::vector<std::string> sockets;
  if (!Variable("XDG_RUNTIME_DIR").empty()) sockets.push_back(SocketIn(RuntimeDirectory(), port));
  sockets.push_back(SocketIn(DirectoryInTmp(), port));
  return sockets;
}

absl::Status MakeLoginDirectory(const std::string& socket) {
  const std::string directory = DirectoryOf(socket);
  const mode_t mode = geteuid() == 0 ? S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH : S_IRWXU;
  if (mkdir(directory.c_str(), mode) != 0 && errno != EEXIST)
    return absl::ErrnoToStatus(errno, absl::StrCat("making the directory ", directory,
                                                   " for the login socket (--login-socket)"));
  if (IsSafe(directory)) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("the directory ", directory, " for the login socket belongs to somebody else, ",
                   "or others may write to it; remove it, or give --login-socket"));
}

absl::StatusOr<std::string> TokenSource::Token() const {
  if (!settings_.token_file.empty()) return ReadTokenFile(settings_.token_file);
  if (!settings_.login_socket.empty()) return LogIn(settings_.login_socket);
  if (settings_.unnamed == LoginSettings::Unnamed::kLeft)
    return absl::UnauthenticatedError("no token is named");
  const absl::StatusOr<HostPort> host_port = ParseHostPort(coordinator_);
  if (!host_port.ok()) return host_port.status();
  const absl::StatusOr<SocketAddress> address = Resolve(*host_port);
  std::string tried;
  absl::Status refused;
  if (address.ok() && address->IsLoopback()) {
    for (const std::string& directory :
         {std::string(kDirectoryOfRoot), RuntimeDirectory(), DirectoryInTmp()}) {
      const std::string socket = SocketIn(directory, host_port->port);
      absl::StrAppend(&tried, tried.empty() ? "" : ", ", socket);
      if (access(socket.c_str(), F_OK) != 0 || !IsSafe(directory)) continue;
      absl::StatusOr<std::string> token = LogIn(socket);
      if (token.ok()) return token;
      if (refused.ok()) refused = token.status();
    }
  }
  if (!refused.ok()) return refused;
  const std::string usual = Variable("HOME") + "/.config/bspnow/token";
  if (access(usual.c_str(), F_OK) == 0) return ReadTokenFile(usual);
  return absl::UnauthenticatedError(absl::StrCat(
      "nothing proves to the coordinator ", coordinator_, " who you are: there is no ", tried,
      tried.empty() ? "" : " and no ", usual,
      "; on its own machine its login socket does (BSP_LOGIN_SOCKET), elsewhere a certificate "
      "(--tls) or a token (BSP_TOKEN_FILE, made by `bsp-coordinator --new-token`)"));
}

}  // namespace bspnow
