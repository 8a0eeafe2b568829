// BSP_CHECK: what a run is to find beside what every run finds.
#ifndef CLIENT_OPTIONS_CHECK_OPTION_H_
#define CLIENT_OPTIONS_CHECK_OPTION_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

namespace bspnow::client {

struct Checks {
  bool full = false;     ///< What the paper leaves undefined.
  bool textual = false;  ///< Supersteps that processes end at different calls.
};

/// As the last NAME=VALUE of BSP_CHECK in `environment` says, else our own environment.
/// InvalidArgument for another word: one that is meant to switch checks on and does not would be
/// worse than none.
absl::StatusOr<Checks> ChecksOf(const std::vector<std::string>& environment);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_CHECK_OPTION_H_
