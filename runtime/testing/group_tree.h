// A random tree of groups, the same on all processes for the same seed, in which each process
// checks all that it gets against a model: what the others must have sent follows from the seed.
// For jobs on one node and on several.
#ifndef RUNTIME_TESTING_GROUP_TREE_H_
#define RUNTIME_TESTING_GROUP_TREE_H_

#include <cstdint>

#include "runtime/process.h"

namespace bspnow::runtime {

/// Between bsp_begin and bsp_end, by all processes. Groups are split and doubled, up to three deep,
/// before and between supersteps of theirs, with messages sent and not yet delivered, or delivered
/// and not yet read. Ends the process with a message and status 1 if something is not as it should
/// be. Returns the number of supersteps of this process in all groups.
std::uint64_t RunGroupTree(Process& process, std::uint64_t seed);

}  // namespace bspnow::runtime

#endif  // RUNTIME_TESTING_GROUP_TREE_H_
