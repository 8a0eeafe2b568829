// For an administrator, while no coordinator runs: what is wrong with a journal, and a new one made
// of what is left of it and of its copy. Workers say the rest when they register: the newest term,
// and the numbers of jobs that they keep. See "State of the coordinator" in docs/design.md.
#ifndef COORDINATOR_JOURNAL_JOURNAL_REPAIR_H_
#define COORDINATOR_JOURNAL_JOURNAL_REPAIR_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "coordinator/state_directory.h"

namespace bspnow::coordinator {

/// Sentences, in their order.
using RepairReport = std::vector<std::string>;

struct JournalFindings {
  absl::Status sound;   ///< Or why a coordinator would not start with it.
  RepairReport report;  ///< What is in it, and what is odd.
};

/// Changes nothing but what SQLite itself puts in order.
JournalFindings CheckJournal(const StateDirectory& state);

/// What was there is set aside. `cluster`: its id, if neither journal nor copy has it; or empty.
/// FAILED_PRECONDITION if nothing can be made, or a coordinator runs.
absl::StatusOr<RepairReport> RebuildJournal(const StateDirectory& state,
                                            const std::string& cluster);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_JOURNAL_JOURNAL_REPAIR_H_
