// Runs many schedules of a simulated cluster, each from a seed. The first that violates an
// invariant ends it, with its seed: `simulation --seed N` runs that one again, to be looked at in a
// debugger.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <iostream>

#include "tests/simulation/sim_cluster.h"

namespace bspnow {
namespace {

struct Options {
  std::uint64_t schedules = 10'000;
  std::uint64_t first_seed = 1;
};

bool RunOne(std::uint64_t seed, SimStatistics& sum) {
  SimCluster cluster(seed);
  const std::string failure = cluster.Run();
  const SimStatistics& one = cluster.statistics();
  sum.events += one.events;
  sum.jobs += one.jobs;
  sum.succeeded += one.succeeded;
  sum.frames += one.frames;
  sum.breaks += one.breaks;
  sum.worker_deaths += one.worker_deaths;
  sum.coordinator_deaths += one.coordinator_deaths;
  if (failure.empty()) return true;
  std::cout << "seed " << seed << ": " << failure << "\nAgain: simulation --seed " << seed << "\n";
  return false;
}

// Where schedules are many, each of these must have happened.
bool Happened(const SimStatistics& sum) {
  return sum.succeeded > 0 && sum.succeeded < sum.jobs && sum.frames > 0 && sum.breaks > 0 &&
         sum.worker_deaths > 0 && sum.coordinator_deaths > 0;
}

int Main(int argc, char** argv) {
  Options options;
  std::uint64_t seed = 0;
  CLI::App app("Simulates a cluster: many schedules of messages and faults, each from its seed");
  app.add_option("--schedules", options.schedules, "How many, with seeds from --first-seed on");
  app.add_option("--first-seed", options.first_seed);
  const CLI::Option* only = app.add_option("--seed", seed, "This one alone");
  CLI11_PARSE(app, argc, argv);
  if (only->count() > 0) options = {.schedules = 1, .first_seed = seed};

  SimStatistics sum;
  for (std::uint64_t i = 0; i < options.schedules; ++i) {
    if (!RunOne(options.first_seed + i, sum)) return 1;
  }
  std::cout << options.schedules << " schedules: " << sum.events << " events, " << sum.jobs
            << " jobs ended, " << sum.succeeded << " of them well, " << sum.frames << " frames, "
            << sum.breaks << " disturbances, " << sum.worker_deaths << " dead workers, "
            << sum.coordinator_deaths << " dead coordinators\n";
  if (options.schedules >= 1000 && !Happened(sum)) {
    std::cout << "something never happened: the simulation proves nothing\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace bspnow

int main(int argc, char** argv) { return bspnow::Main(argc, argv); }
