// Supersteps that end by counting, mixed with others, in which each process checks all that it gets
// against a model: who sends how much to whom follows from the seed. For jobs on one node and on
// several.
#ifndef RUNTIME_TESTING_COUNTED_SUPERSTEPS_H_
#define RUNTIME_TESTING_COUNTED_SUPERSTEPS_H_

#include <cstdint>

#include "runtime/process.h"

namespace bspnow::runtime {

/// By all processes of the group. Ends the process with a message and status 1 if something is not
/// as it should be. Most messages are short, and a few longer than a lane carries; now and then a
/// process idles.
void RunCountedSupersteps(Process& process, Group& group, std::uint64_t seed,
                          std::uint64_t supersteps);

}  // namespace bspnow::runtime

#endif  // RUNTIME_TESTING_COUNTED_SUPERSTEPS_H_
