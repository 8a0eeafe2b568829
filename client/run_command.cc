// run: what bsprun does, on the cluster that was named.
#include <memory>

#include "client/commands.h"
#include "client/options/job_options.h"
#include "client/run/cluster_run.h"

namespace bspnow::client {

void AddRunCommand(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand("run", "Run a program; the same as bsprun");
  const auto options = std::make_shared<JobOptions>();
  AddRunOptions(*command, *options);
  command->callback([&line, command, options] {
    if (const std::string wrong = TakeRest(*command, *options); !wrong.empty()) {
      throw CLI::ValidationError(wrong);
    }
    // Whoever gives neither before `run` is not here, but in bsprun.
    if (options->simulation)
      throw CLI::ValidationError(
          SimulatesHere(line.coordinator.empty() ? "--tls" : "--coordinator"));
    if (options->coordinator.empty()) options->coordinator = line.coordinator;
    if (options->tls_dir.empty()) options->tls_dir = line.tls_dir;
    line.chosen = [options]() -> absl::StatusOr<int> { return RunOnCluster(*options); };
  });
}

}  // namespace bspnow::client
