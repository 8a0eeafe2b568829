#include "base/descriptor_room.h"

#include <fcntl.h>
#include <sys/resource.h>

namespace bspnow {

// Counted one by one: whoever starts this program may have left it some that are open.
std::string LackOfDescriptors(std::uint64_t needed, DescriptorLimit which) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t most = which == DescriptorLimit::kRaised ? limit.rlim_max : limit.rlim_cur;
  std::uint64_t free = 0;
  std::uint64_t next = 0;
  for (; next < most && free < needed; ++next) {
    if (fcntl(static_cast<int>(next), F_GETFD) < 0) free += 1;
  }
  if (free == needed) return "";
  return "this needs " + std::to_string(needed) + " descriptors besides the " +
         std::to_string(next - free) + " that are open, and " + std::to_string(most) +
         " are allowed; raise the limit (ulimit -n)";
}

}  // namespace bspnow
