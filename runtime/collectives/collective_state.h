// What a group keeps from one collective call to the next.
#ifndef RUNTIME_COLLECTIVES_COLLECTIVE_STATE_H_
#define RUNTIME_COLLECTIVES_COLLECTIVE_STATE_H_

#include <cstdint>

#include "base/mapped_region.h"
#include "runtime/collectives/collective_plan.h"
#include "runtime/collectives/machine.h"

namespace bspnow::runtime {

/// Plain, so that an image holds it.
struct CollectiveState {
  MappedRegion scratch;
  MappedRegion landing;  ///< For what arrives of a fold and has no room there.
  /// So many of it were registered by all, at the first call that needs it; 0: there was none yet.
  std::uint64_t scratch_bytes = 0;
  bool environment_read = false;
  bool trace = false;                 ///< BSP_TRACE=collectives
  std::uint8_t wanted = kAlgorithms;  ///< BSP_COLLECTIVES: an Algorithm, or none.
  GivenMachine given;
  std::uint8_t traced[kCollectives] = {};  ///< A bit for each algorithm that was told of.
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_COLLECTIVES_COLLECTIVE_STATE_H_
