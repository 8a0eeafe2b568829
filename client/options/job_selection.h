// Which jobs are meant: by id, name, user, state.
#ifndef CLIENT_OPTIONS_JOB_SELECTION_H_
#define CLIENT_OPTIONS_JOB_SELECTION_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/jobs.pb.h"

namespace bspnow::client {

/// "7", or "3-7".
struct IdRange {
  std::uint64_t first;
  std::uint64_t last;
};

absl::StatusOr<IdRange> ParseIdRange(const std::string& text);

/// Each once, in the order in which they are named first.
std::vector<std::uint64_t> IdsOf(const std::vector<IdRange>& ranges);

/// Those for which all of it holds.
struct JobSelection {
  std::vector<IdRange> ids{};  ///< None: any.
  std::string name{};          ///< Empty: any; so the others.
  std::string user{};
  std::vector<proto::JobState> states{};

  bool has_filters() const { return !name.empty() || !user.empty() || !states.empty(); }
  /// Ids alone: nobody has to list the jobs to find them.
  bool names_each() const;
  bool Selects(const proto::Job& job) const;
};

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_JOB_SELECTION_H_
