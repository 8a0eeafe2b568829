#include "client/options/processors.h"

#include <sched.h>

namespace bspnow::client {

std::uint32_t Processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::uint32_t>(CPU_COUNT(&set));
}

}  // namespace bspnow::client
