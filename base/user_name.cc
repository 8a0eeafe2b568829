#include "base/user_name.h"

#include <errno.h>
#include <pwd.h>

#include <cstddef>

namespace bspnow {
namespace {

constexpr std::size_t kEntryBytesMax = 16 << 10;

}  // namespace

std::optional<std::string> UserName(uid_t user) {
  passwd entry{};
  passwd* found = nullptr;
  char text[kEntryBytesMax];
  const int error = getpwuid_r(user, &entry, text, sizeof text, &found);
  if (found != nullptr) return found->pw_name;
  // Those by which services say that there is none; getpwuid_r(3).
  const bool none =
      error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM;
  if (!none) return std::nullopt;
  return "uid-" + std::to_string(user);
}

}  // namespace bspnow
