// Lanes as a process gets them: out of the mailbox of its node (LaneHanding in link.h).
#ifndef RUNTIME_LINK_LANE_HANDING_H_
#define RUNTIME_LINK_LANE_HANDING_H_

#include <cstdint>

#include "base/unique_fd.h"
#include "runtime/link/known_descriptor.h"
#include "runtime/link/link.h"

namespace bspnow::runtime {

/// The bulk lanes of the node, in the order of BulkPlan. Those that nobody takes out are closed.
struct HandedBulkLanes {
  UniqueFd lanes[kBulkLanesMax];
  bool trusted = false;
};

struct LanesWanted {
  std::uint32_t others;  ///< Other hosts of the job.
  std::uint32_t bulk_lanes;
};

enum class LanesTaken {
  kAll,
  kNone,           ///< There is no message, or it is not what was expected.
  kNoDescriptors,  ///< This process has as many open as it may, or nearly.
};

/// Takes one message out of the mailbox, and from it the lanes to all other hosts of the job, in
/// their order, to `lanes`. Waits for up to a second: the worker has put a message there
/// for each process before it says that there are lanes. If they are not kAll no descriptor is
/// kept, and `lanes` is as it was.
LanesTaken TakeLanes(const KnownDescriptor& mailbox, const LanesWanted& wanted,
                     KnownDescriptor* lanes, HandedBulkLanes& bulk);

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_LANE_HANDING_H_
