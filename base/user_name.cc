#include "base/user_name.h"

#include <errno.h>
#include <pwd.h>

#include <cstddef>

namespace bspnow {
namespace {

constexpr std::size_t kEntryBytesMax = 16 << 10;

}  // namespace

// Those by which services do; getpwuid_r(3).
bool SaysNoSuchAccount(int error) {
  return error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM;
}

std::optional<std::string> UserName(uid_t user) {
  passwd entry{};
  passwd* found = nullptr;
  char text[kEntryBytesMax];
  const int error = getpwuid_r(user, &entry, text, sizeof text, &found);
  if (found != nullptr) return found->pw_name;
  if (!SaysNoSuchAccount(error)) return std::nullopt;
  return "uid-" + std::to_string(user);
}

}  // namespace bspnow
