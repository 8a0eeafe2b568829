// bsprun, and bsp: runs a job on this machine, or hands over to bsp-client, which asks a
// coordinator. Two programs, since loading gRPC takes as long as a short job.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <string>

#include "base/exit_status.h"
#include "base/standard_descriptors.h"
#include "base/version.h"
#include "client/options/cluster_option.h"
#include "client/options/job_options.h"
#include "client/run/local_run.h"
#include "client/run/program_file.h"
#include "client/standard_output.h"

namespace bspnow::client {
namespace {

int Fail(const std::string& name, const std::string& message, int status) {
  std::cerr << name << ": " << message << "\n";
  return status;
}

// --help or --version: what is printed is all that was asked for.
int PrintAnswer(const std::string& name, const CLI::App& app, const CLI::ParseError& asked) {
  StandardOutput output;
  const int status = app.exit(asked);
  const absl::Status written = output.Flush();
  return written.ok() ? status : Fail(name, std::string(written.message()), kFailureStatus);
}

// Beside this program, as it is built, or where deploy/install puts it.
std::string ClientProgram() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path built = self.parent_path() / "bsp-client";
  if (std::filesystem::exists(built, error)) return built;
  return self.parent_path().parent_path() / "libexec/bspnow/bsp-client";
}

// Standard input that is closed is occupied before: a library of the client opens a descriptor
// ahead of its main, and keeps it if that is 0.
int BecomeClient(const std::string& name, char** argv) {
  OccupyStandardDescriptors(ClosedOutput::kFails);
  const std::string client = ClientProgram();
  execv(client.c_str(), argv);
  return Fail(name, "cannot run " + client + ": " + strerror(errno), kFailureStatus);
}

int RunHere(const std::string& name, const JobOptions& options) {
  const absl::StatusOr<std::string> program =
      FindProgram(options.program.front(), options.misplaced);
  if (!program.ok()) {
    return Fail(name, std::string(program.status().message()), StatusOfFailure(program.status()));
  }
  // The processes may run in another directory.
  char* absolute = realpath(program->c_str(), nullptr);
  const std::string path = absolute == nullptr ? *program : absolute;
  free(absolute);
  return RunLocally(options, path);
}

int Main(int argc, char** argv) {
  const char* slash = strrchr(argv[0], '/');
  const bool is_bsp = strcmp(slash == nullptr ? argv[0] : slash + 1, "bsp") == 0;
  const std::string name = is_bsp ? "bsp" : "bsprun";
  if (is_bsp && (argc < 2 || strcmp(argv[1], "run") != 0)) return BecomeClient(name, argv);

  JobOptions options;
  CLI::App app("Runs a BSP program: P processes, on this machine or on a cluster.",
               is_bsp ? "bsp run" : "bsprun");
  app.set_version_flag("--version", name + " (bspnow) " + kVersion);
  AddRunOptions(app, options);
  const int begin = is_bsp ? 1 : 0;
  if (const std::string wrong = AdaptArguments(app, argc - begin, argv + begin); !wrong.empty()) {
    return Fail(name, wrong, kUsageStatus);
  }
  try {
    app.parse(argc - begin, argv + begin);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return PrintAnswer(name, app, error);
    return Fail(name, InOurWords(error.what()) + "; see " + app.get_name() + " --help",
                kUsageStatus);
  }
  if (options.simulation && !options.coordinator.empty()) {
    return Fail(name, SimulatesHere("--coordinator"), kUsageStatus);
  }
  if (!options.simulation && !NamedCoordinator(options.coordinator).empty()) {
    return BecomeClient(name, argv);
  }
  if (const std::string option = FirstClusterOption(app); !option.empty()) {
    return Fail(name,
                option +
                    " needs a cluster; name its coordinator by --coordinator or"
                    " BSP_COORDINATOR",
                kUsageStatus);
  }
  if (const std::string wrong = TakeRest(app, options); !wrong.empty()) {
    return Fail(name, wrong, kUsageStatus);
  }
  return RunHere(name, options);
}

}  // namespace
}  // namespace bspnow::client

int main(int argc, char** argv) { return bspnow::client::Main(argc, argv); }
