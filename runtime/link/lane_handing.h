// Lanes as a process gets them: out of the mailbox of its node (LaneHanding in link.h).
#ifndef RUNTIME_LINK_LANE_HANDING_H_
#define RUNTIME_LINK_LANE_HANDING_H_

#include <cstdint>

#include "runtime/link/known_descriptor.h"

namespace bspnow::runtime {

/// Takes one message out of the mailbox, and from it the lanes to the `others` other hosts of the
/// job, in their order, to `lanes`. Waits for up to a second: the worker has put a message there
/// for each process before it says that there are lanes. False: there is none, or it is not what
/// was expected; then no descriptor is kept, and `lanes` is as it was.
bool TakeLanes(const KnownDescriptor& mailbox, std::uint32_t others, KnownDescriptor* lanes);

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_LANE_HANDING_H_
