// bsp-client: what bsp and bsprun do with a coordinator. They start it in their own place and name.
#include <string.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "base/version.h"
#include "client/commands.h"
#include "client/options/job_options.h"
#include "client/run/cluster_run.h"

namespace bspnow::client {
namespace {

int Fail(const std::string& name, const std::string& message, int status) {
  std::cerr << name << ": " << message << "\n";
  return status;
}

// True if the command line was read; else `status` is the exit status.
bool Parse(CLI::App& app, int argc, char** argv, int& status) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      status = app.exit(error);
    } else {
      status =
          Fail(app.get_name(), std::string(error.what()) + "; see " + app.get_name() + " --help",
               kUsageStatus);
    }
    return false;
  }
}

int RunAsBsprun(int argc, char** argv) {
  JobOptions options;
  CLI::App app("Runs a BSP program: P processes, on this machine or on a cluster.", "bsprun");
  app.set_version_flag("--version", std::string("bsprun (bspnow) ") + kVersion);
  AddRunOptions(app, options);
  AcceptNp(app, argc, argv);
  int status = 0;
  if (!Parse(app, argc, argv, status)) return status;
  if (const std::string wrong = TakeProgram(app, options); !wrong.empty()) {
    return Fail("bsprun", wrong, kUsageStatus);
  }
  return RunOnCluster(options);
}

int RunAsBsp(int argc, char** argv) {
  CLI::App app("bspnow: Bulk Synchronous Parallel programs on a network of workstations.", "bsp");
  app.set_version_flag("--version", std::string("bsp (bspnow) ") + kVersion);
  app.require_subcommand(1);
  app.footer("`bsp COMMAND --help` says more of each; see also bsp(1).");
  CommandLine line{.app = app};
  AddCoordinatorOption(app, line.coordinator);
  AddRunCommand(line);
  AddJobCommands(line);
  AddOutputCommands(line);
  AddNodeCommands(line);
  AddTopCommand(line);
  AddProbeCommand(line);
  for (int i = 1; i < argc; ++i) {
    const auto commands = app.get_subcommands(
        [&](const CLI::App* command) { return command->get_name() == argv[i]; });
    if (commands.empty()) continue;
    AcceptNp(*commands.front(), argc - i, argv + i);
    break;
  }
  int status = 0;
  if (!Parse(app, argc, argv, status)) return status;
  const absl::StatusOr<int> done = line.chosen();
  std::cout.flush();
  if (!done.ok()) return Fail("bsp", std::string(done.status().message()), kFailureStatus);
  return *done;
}

int Main(int argc, char** argv) {
  const char* slash = strrchr(argv[0], '/');
  const bool is_bsprun = strcmp(slash == nullptr ? argv[0] : slash + 1, "bsprun") == 0;
  return is_bsprun ? RunAsBsprun(argc, argv) : RunAsBsp(argc, argv);
}

}  // namespace
}  // namespace bspnow::client

int main(int argc, char** argv) { return bspnow::client::Main(argc, argv); }
