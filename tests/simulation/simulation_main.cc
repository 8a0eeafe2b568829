// Runs many schedules of a simulated cluster, each from a seed. The first that violates an
// invariant ends it, with its seed: `simulation --seed N` runs that one again, to be looked at in a
// debugger. `--schedules 100000` takes a core some three minutes.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <iostream>

#include "tests/simulation/sim_cluster.h"

namespace bspnow {
namespace {

struct Options {
  std::uint64_t schedules = 10'000;
  std::uint64_t first_seed = 1;
  bool trace = false;
};

bool RunOne(std::uint64_t seed, const Options& options, SimStatistics& sum) {
  SimCluster cluster(seed);
  if (options.trace) cluster.Trace();
  const std::string failure = cluster.Run();
  for (const auto& [what, n] : cluster.statistics().counts) sum.Count(what, n);
  sum.Count("events", cluster.events());
  if (failure.empty()) return true;
  std::cout << "seed " << seed << ": " << failure << "\nAgain: simulation --seed " << seed << "\n";
  return false;
}

/// Where schedules are many, each of these must have happened.
constexpr const char* kMust[] = {"abandoned epochs",
                                 "adoptions",
                                 "answers before processes left the barrier",
                                 "answers repeated by workers",
                                 "answers sent by lanes",
                                 "answers that lanes swallow",
                                 "barriers of adopted jobs",
                                 "barriers held by leases",
                                 "barriers completed by workers",
                                 "barriers passed by lanes",
                                 "barriers passed directly",
                                 "barriers taken over by workers",
                                 "barriers by lanes though an image is due",
                                 "checkpoints decided by nodes",
                                 "checkpoints found damaged",
                                 "checkpoints given up",
                                 "checkpoints that a log does not cover",
                                 "clients that come back",
                                 "clocks of machines that go at other rates",
                                 "clocks set",
                                 "cancelled since another did not succeed",
                                 "commits",
                                 "coordinators suspended for minutes",
                                 "epochs that a journal has forgotten",
                                 "machines suspended for minutes",
                                 "nodes lost while images are copied",
                                 "sites suspended for minutes",
                                 "syncs of logs that outlast their epoch",
                                 "coordinators started anew",
                                 "coordinators paused while they await a node",
                                 "coordinators without power",
                                 "coordinators without their journal",
                                 "copies",
                                 "cuts",
                                 "cuts of one direction",
                                 "daemons without room and of a name that others have",
                                 "damaged images found",
                                 "damaged logs",
                                 "dead coordinators",
                                 "dead hosts of processes",
                                 "dead processes",
                                 "dead workers",
                                 "disks that images have filled",
                                 "disks without room",
                                 "drivers stopped midway",
                                 "elements of arrays placed",
                                 "exchanges given up",
                                 "failed copies",
                                 "failed cuts of logs",
                                 "failed image writes",
                                 "failed restores",
                                 "failed syncs of logs",
                                 "frames",
                                 "images from another node",
                                 "images refused",
                                 "incremental ones",
                                 "jobs succeeded",
                                 "frames of lanes repeated",
                                 "heads of others that lanes swallow",
                                 "frames sent on by lanes",
                                 "heads sent on by lanes",
                                 "lanes broken",
                                 "lanes given up",
                                 "lanes stalled",
                                 "lanes that could not be handed over",
                                 "lanes that never open",
                                 "lanes that swallow",
                                 "journals put back",
                                 "journals that are full for a while",
                                 "journals that hang",
                                 "leases lost",
                                 "logs cut back",
                                 "logs that hang",
                                 "lost copies renewed",
                                 "losses overcome",
                                 "lost output found",
                                 "lost replies to registrations",
                                 "machines that stay away",
                                 "machines without power",
                                 "moved",
                                 "nodes found out of reach",
                                 "nodes given up",
                                 "supersteps ended ahead of their barrier",
                                 "nodes that no order reaches given up",
                                 "nodes where nothing can be killed",
                                 "orphans",
                                 "output lost with power",
                                 "output refused",
                                 "pairs cut apart",
                                 "paused coordinators",
                                 "paused daemons",
                                 "paused machines",
                                 "pieces of input",
                                 "processes held behind images",
                                 "programs that end at a signal",
                                 "recoveries",
                                 "refused old terms",
                                 "registrations by lanes",
                                 "removals that a registration ended",
                                 "repeated output",
                                 "repeated releases",
                                 "restarts from the start",
                                 "restores",
                                 "resumed by users",
                                 "rotten disks",
                                 "rows refused",
                                 "sites without power",
                                 "sick nodes",
                                 "registrations that come late, and again",
                                 "slow coordinators",
                                 "slow disks",
                                 "slow disks of coordinators",
                                 "slow machines",
                                 "slow writes",
                                 "starts after another job",
                                 "starts found unbegun",
                                 "starts refused by sick nodes",
                                 "streams stalled in one direction",
                                 "streams that swallow",
                                 "suspended",
                                 "two coordinators",
                                 "terms raised",
                                 "waits for holders",
                                 "ways on which no order passes",
                                 "workers that are of another cluster",
                                 "workers that are not done with another cluster",
                                 "workers shut down",
                                 "workers that left",
                                 "workers told to leave",
                                 "bulk lanes broken",
                                 "bulk lanes broken in a transfer",
                                 "bulk lanes stalled",
                                 "bulk lanes that swallow",
                                 "bulk lanes with a damaged byte",
                                 "puts by bulk lanes",
                                 "buffered puts by bulk lanes",
                                 "leave to put what is buffered",
                                 "puts taken back",
                                 "puts that came twice",
                                 "puts that bulk lanes did not take",
                                 "puts under way for too long",
                                 "callers that go",
                                 "cancellations acknowledged",
                                 "checkpoints that users have",
                                 "clients that do not come back",
                                 "clients that leave",
                                 "coordinators that die as they start",
                                 "file servers that hang",
                                 "files that take their time",
                                 "jobs altered",
                                 "nodes forgotten",
                                 "paused processes",
                                 "programs that wait for the log",
                                 "starts that are stopped",
                                 "starts that hang",
                                 "starts that wait for an older epoch",
                                 "state directories put back",
                                 "catalogues cut back",
                                 "alterations in a recovery",
                                 "cancellations in a recovery",
                                 "control streams that lose events",
                                 "control streams that lose orders",
                                 "copies that end short",
                                 "file servers that hang for good",
                                 "frame streams that lose heartbeats",
                                 "frame streams that lose leases",
                                 "images kept apart",
                                 "images that end short",
                                 "jobs placed within a quota",
                                 "jobs that are larger than their quota",
                                 "machines replaced under their name",
                                 "machines cloned that are well",
                                 "machines that have the name of one that lives",
                                 "nodes to be forgotten in a recovery",
                                 "rows found though their write failed",
                                 "starts that hang for good",
                                 "starts that hang while the coordinator is replaced",
                                 "suspensions in a recovery"};

bool Happened(const SimStatistics& sum) {
  bool all = true;
  for (const char* what : kMust) {
    const auto found = sum.counts.find(what);
    if (found != sum.counts.end() && found->second != 0) continue;
    std::cout << "never happened: " << what << "\n";
    all = false;
  }
  return all;
}

int Main(int argc, char** argv) {
  Options options;
  std::uint64_t seed = 0;
  CLI::App app("Simulates a cluster: many schedules of messages and faults, each from its seed");
  app.add_option("--schedules", options.schedules,
                 "How many, with seeds from --first-seed on; 100000 take some minutes");
  app.add_option("--first-seed", options.first_seed);
  const CLI::Option* only = app.add_option("--seed", seed, "This one alone");
  app.add_flag("--trace", options.trace, "Says what happens");
  CLI11_PARSE(app, argc, argv);
  spdlog::set_level(spdlog::level::off);  // The daemon's own lines, millions of them.
  if (only->count() > 0) {
    options.schedules = 1;
    options.first_seed = seed;
  }

  SimStatistics sum;
  for (std::uint64_t i = 0; i < options.schedules; ++i) {
    if (!RunOne(options.first_seed + i, options, sum)) return 1;
  }
  std::cout << options.schedules << " schedules\n";
  for (const auto& [what, n] : sum.counts) std::cout << "  " << what << ": " << n << "\n";
  if (options.schedules >= 10000 && !Happened(sum)) {
    std::cout << "the simulation proves nothing\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace bspnow

int main(int argc, char** argv) { return bspnow::Main(argc, argv); }
