// The options of a job on the command line; the same for bsprun, bsp run and bsp submit.
#ifndef CLIENT_OPTIONS_JOB_OPTIONS_H_
#define CLIENT_OPTIONS_JOB_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/cluster/reconnection.h"
#include "client/options/after_option.h"
#include "client/options/check_option.h"
#include "client/options/checkpoint_option.h"
#include "client/profile/cost_model.h"
#include "proto/jobs.pb.h"

namespace bspnow::client {

struct JobOptions {
  std::string coordinator;  ///< HOST:PORT; empty: no cluster.
  std::string tls_dir;      ///< To speak with it; empty: as BSP_TLS says.
  std::uint32_t nprocs = 0;
  std::vector<std::string> environment;  ///< NAME=VALUE.
  Checks checks;
  std::string directory;
  std::string name;
  std::vector<AfterOption> after;
  std::optional<proto::ArraySpec> array;
  std::vector<std::string> files;  ///< Arguments of --file.
  std::string input;               ///< A file, standard input of pid 0; empty: there is none.
  std::int32_t priority = 0;
  std::uint64_t time_limit_s = 0;
  std::uint64_t memory_bytes = 0;
  std::uint32_t nodes = 0;
  std::uint32_t per_node = 0;
  std::vector<std::string> constraints;
  bool no_constraint = false;  ///< Those that it has are dropped.
  bool oversubscribe = false;
  std::string cpu;  ///< "native" or "common".
  CheckpointOption checkpoint;
  std::int32_t restarts_max = 0;  ///< As in JobSpec: 0: the default; -1: none.
  std::uint64_t reconnect_s = kReconnectUsualMs / 1000;
  std::string output;  ///< A pattern of OutputPath; empty: to standard output.
  bool wait = false;   ///< Of `bsp submit`: for the end of all.
  bool core = false;
  bool prefix_output = false;
  bool timing = false;
  bool json = false;
  std::string timing_file;               ///< Where --timing goes; empty: to standard error.
  std::string profile_file;              ///< Empty: no profile is written.
  std::string trace_file;                ///< The same.
  std::optional<Simulation> simulation;  ///< Of --simulate.
  std::vector<std::string> program;      ///< PROGRAM ARGS...
  std::string misplaced;  ///< What to add where the program is not found: see MisplacedOption.
};

/// An error of the command line that the parser has put in its own words, in ours; with -n where it
/// says --np: all write it so.
inline std::string InOurWords(std::string what) {
  constexpr char kTwice[] = ": At Most 1 required but received ";
  if (const std::size_t at = what.find(kTwice); at != std::string::npos)
    what = what.substr(0, at) + ": " + what.substr(at + sizeof kTwice - 1) + " values; give one";
  for (const char* const begin : {"--np:", "--np is"})
    if (what.starts_with(begin)) what.replace(0, sizeof "--np" - 1, "-n");
  return what;
}

/// Makes --np of mpirun's -np in the arguments of `command` (argv[0] is its name), up to the
/// program; it would be read as -n with the value p. The program's own -np stays.
/// Says what is wrong if there is an option with nothing after its "=", as of a variable that is
/// not set: the word after it would be read as its value.
std::string AdaptArguments(const CLI::App& command, int argc, char** argv);

/// What bsprun and `bsp run` take.
void AddRunOptions(CLI::App& app, JobOptions& options);

/// What `bsp submit` takes.
void AddSubmitOptions(CLI::App& app, JobOptions& options);

/// What `bsp alter` takes.
void AddAlterOptions(CLI::App& app, JobOptions& options);

/// --output, for a job or what it has printed.
void AddOutputOption(CLI::App& app, std::string& output, const std::string& text);

/// --timeout: how long something may take; 0: without end.
void AddTimeoutOption(CLI::App& app, std::uint64_t& timeout_s);

/// --reconnect-timeout: how long a coordinator that is away is waited for.
void AddReconnectOption(CLI::App& app, std::uint64_t& reconnect_s, const std::string& text);

/// What `bsp probe` takes of it: the number of processes, and where they go.
void AddProbeOptions(CLI::App& app, JobOptions& options);

/// Why `option`, which names a cluster, does not go with --simulate.
std::string SimulatesHere(const std::string& option);

/// The first of the given options that needs a cluster; empty if none does. (`--checkpoint auto`,
/// the default, and `off` need none.)
std::string FirstClusterOption(const CLI::App& app);

/// Takes what the parser does not: PROGRAM ARGS... and BSP_CHECK. A message if something is wrong.
std::string TakeRest(const CLI::App& app, JobOptions& options);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_JOB_OPTIONS_H_
