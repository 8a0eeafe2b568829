#include "base/user_name.h"

#include <pwd.h>

#include <cstddef>

namespace bspnow {
namespace {

constexpr std::size_t kEntryBytesMax = 16 << 10;

}  // namespace

std::string UserName(uid_t user) {
  passwd entry{};
  passwd* found = nullptr;
  char text[kEntryBytesMax];
  getpwuid_r(user, &entry, text, sizeof text, &found);
  return found == nullptr ? "uid-" + std::to_string(user) : found->pw_name;
}

}  // namespace bspnow
