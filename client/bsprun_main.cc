// bsprun, and bsp (whose `run` is the same thing): reads the command line and runs the job.
#include <stdlib.h>
#include <string.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "client/local_run.h"
#include "client/program_file.h"

namespace bspnow {
namespace {

constexpr char kVersion[] = "0.1.0";
constexpr std::uint32_t kProcessesMax = 4096;
constexpr int kUsageStatus = 2;

struct CommandLine {
  LocalRunOptions run{};
  std::vector<std::string> program;  ///< PROGRAM ARGS...
};

void AddRunOptions(CLI::App& app, CommandLine& line) {
  app.add_option("-n,--np,--nprocs", line.run.nprocs, "Number of processes [number of processors]")
      ->envname("BSP_NPROCS")
      ->check(CLI::Range(1u, kProcessesMax))
      ->type_name("P");
  app.add_flag("--prefix-output", line.run.prefix_output, "Begin each line with its [pid]");
  app.add_flag("--timing", line.run.timing, "At the end, print supersteps, time, w, h, g and l");
  app.add_flag("--json", line.run.json, "Print --timing, as JSON");
  app.add_option("--dir", line.run.directory, "Run the processes in this directory")
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  app.add_option("--env", line.run.environment, "Set a variable for the processes; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.footer(
      "PROGRAM is a BSPlib program, compiled with bspcc. Standard input goes to pid 0. The exit\n"
      "status is that of pid 0 or of the first process that failed: 128 + signal if killed, 6 "
      "after\n"
      "bsp_abort or a wrong use of BSPlib, 126 and 127 if PROGRAM cannot be run. BSP_CHECK=full "
      "finds\n"
      "overlapping puts and memory changed under unbuffered transfers. See bsprun(1).");
  app.prefix_command();
}

int Fail(const char* name, const std::string& message, int status) {
  std::cerr << name << ": " << message << "\n";
  return status;
}

int Run(const char* name, CommandLine& line) {
  if (!line.program.empty() && line.program.front() == "--") {
    line.program.erase(line.program.begin());
  } else if (!line.program.empty() && line.program.front().front() == '-') {
    return Fail(name, "unknown option " + line.program.front() + "; see " + name + " --help",
                kUsageStatus);
  }
  if (line.program.empty()) {
    return Fail(name, std::string("no program given; usage: ") + name + " -n P PROGRAM ARGS...",
                kUsageStatus);
  }
  for (const std::string& variable : line.run.environment) {
    if (variable.find('=') == std::string::npos) {
      return Fail(name, "--env " + variable + " is not NAME=VALUE", kUsageStatus);
    }
  }
  absl::StatusOr<std::string> program = FindProgram(line.program.front());
  if (!program.ok()) {
    return Fail(name, std::string(program.status().message()),
                absl::IsNotFound(program.status()) ? 127 : 126);
  }
  // The processes may run in another directory.
  char* absolute = realpath(program->c_str(), nullptr);
  line.run.program = absolute == nullptr ? *program : absolute;
  free(absolute);
  line.run.arguments = line.program;
  return RunLocally(line.run);
}

int Main(int argc, char** argv) {
  const char* slash = strrchr(argv[0], '/');
  const bool is_bsp = strcmp(slash == nullptr ? argv[0] : slash + 1, "bsp") == 0;
  const char* name = is_bsp ? "bsp" : "bsprun";
  CommandLine line;
  line.run.nprocs = Processors();
  CLI::App app("Runs a BSP program on this machine: P processes, nothing to start by hand.", name);
  app.set_version_flag("--version", std::string(name) + " (bspnow) " + kVersion);
  CLI::App* run = &app;
  if (is_bsp) {
    app.description("bspnow: Bulk Synchronous Parallel programs.");
    app.require_subcommand(1);
    run = app.add_subcommand("run", "Run a program on this machine; the same as bsprun");
  }
  AddRunOptions(*run, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return Fail(name, std::string(error.what()) + "; see " + name + " --help", kUsageStatus);
  }
  line.program = run->remaining();
  return Run(name, line);
}

}  // namespace
}  // namespace bspnow

int main(int argc, char** argv) { return bspnow::Main(argc, argv); }
