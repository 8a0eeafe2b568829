// A program of groups: one random tree of them after another, and supersteps that end by counting,
// all checked against models (runtime/testing). Prints a line for each tree; what it prints
// follows from the seed.
//
//     groups TREES SEED [PAUSE_MS [COUNTED]]
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/process.h"
#include "runtime/testing/counted_supersteps.h"
#include "runtime/testing/group_tree.h"

namespace {

using bspnow::runtime::Process;

Process process;

long Argument(int argc, char** argv, int i, long otherwise) {
  return i < argc ? strtol(argv[i], nullptr, 10) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const long trees = Argument(argc, argv, 1, 5);
  const long seed = Argument(argc, argv, 2, 1);
  const long pause_ms = Argument(argc, argv, 3, 0);
  const long counted = Argument(argc, argv, 4, 200);
  process.Begin(1L << 20);
  for (long tree = 0; tree < trees; ++tree) {
    const auto number = static_cast<std::uint64_t>(seed * 1000 + tree);
    const std::uint64_t supersteps = bspnow::runtime::RunGroupTree(process, number);
    printf("pid %u tree %ld: %llu supersteps\n", process.pid(), tree,
           static_cast<unsigned long long>(supersteps));
    bspnow::runtime::RunCountedSupersteps(process, process.root(), number,
                                          static_cast<std::uint64_t>(counted));
    if (process.pid() == 0) usleep(static_cast<useconds_t>(1000 * pause_ms));  // tidy: as asked for
    process.Sync(0);
  }
  process.End(0);
  return EXIT_SUCCESS;
}
