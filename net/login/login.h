// How a client or a worker proves to a coordinator who it is: each call bears a token. It comes
// from a file, or from the coordinator's login socket, a Unix socket that the kernel tells about
// who connects to it (SO_PEERCRED, unix(7)).
#ifndef NET_LOGIN_LOGIN_H_
#define NET_LOGIN_LOGIN_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace bspnow {

inline constexpr std::size_t kTokenBytesMax = 512;

struct LoginSettings {
  std::string login_socket;  ///< Empty: where a coordinator on this machine has it.
  std::string token_file;    ///< Empty: none is named.
  /// None but what is named here: a certificate speaks that the user has named.
  enum class Unnamed : std::uint8_t { kUsed, kLeft } unnamed = Unnamed::kUsed;
};

/// What BSP_LOGIN_SOCKET and BSP_TOKEN_FILE say.
LoginSettings LoginSettingsOfEnvironment();

/// Where a coordinator of this process's user that listens on this port has its login socket:
/// /run/bspnow/login-PORT.sock of root's, else in the user's runtime directory, or, where there is
/// none or it has gone, as at the end of his last session, in /tmp/bspnow-UID.
std::vector<std::string> LoginSocketsOf(std::uint16_t port);

/// Makes the directory of a login socket if it is missing. An error if it is somebody else's.
absl::Status MakeLoginDirectory(const std::string& socket);

class TokenSource {
 public:
  /// `coordinator`: HOST:PORT.
  TokenSource(std::string coordinator, LoginSettings settings)
      : coordinator_(std::move(coordinator)), settings_(std::move(settings)) {}

  /// A token for a call that is made now: of the file or the socket that is named, else, unless
  /// they are to be left, of the login socket if
  /// the coordinator is on this machine, else of ~/.config/bspnow/token. An error says which were
  /// tried, and what to do. From any thread.
  absl::StatusOr<std::string> Token() const;

 private:
  const std::string coordinator_;
  const LoginSettings settings_;
};

}  // namespace bspnow

#endif  // NET_LOGIN_LOGIN_H_
