// --after: the jobs that a job starts after.
#ifndef CLIENT_OPTIONS_AFTER_OPTION_H_
#define CLIENT_OPTIONS_AFTER_OPTION_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace bspnow::client {

struct AfterOption {
  enum class When {
    kSucceeded,
    kEnded,  ///< However.
  };
  std::uint64_t job;
  When when;
};

/// Several with commas between them, each JOB, JOB:ok or JOB:any; for JOB also FIRST-LAST.
absl::StatusOr<std::vector<AfterOption>> ParseAfterOption(const std::string& text);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_AFTER_OPTION_H_
