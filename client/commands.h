// The commands of bsp: each adds itself to the command line, and what it does to `chosen` when it
// was the one given.
#ifndef CLIENT_COMMANDS_H_
#define CLIENT_COMMANDS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/exit_status.h"
#include "client/cluster/jobs_stub.h"
#include "files/unfinished_files.h"

namespace bspnow::client {

/// Of `bsp wait`, whose status is otherwise the job's: that could not be learned.
inline constexpr int kUnknownStatus = 125;

/// --json, as most commands have it.
inline constexpr char kJsonText[] = "Print JSON, for programs";

/// What a command does; gives the exit status. A failure is printed.
using CommandAction = std::function<absl::StatusOr<int>()>;

struct CommandLine {
  CLI::App& app;
  std::string coordinator = {};  ///< --coordinator, before or after the command.
  std::string tls_dir = {};      ///< --tls, likewise.
  CommandAction chosen = {};
  int failure_status = kFailureStatus;  ///< If `chosen` gives none.
  std::uint64_t connect_s = 0;          ///< For how long a coordinator is waited for.
};

/// submit, show, wait, checkpoint, suspend, resume.
void AddJobCommands(CommandLine& line);

/// jobs, history.
void AddListCommands(CommandLine& line);

/// What the job has printed on standard output, into a file of this name.
absl::Status WriteOutputFile(JobsStub& jobs, std::uint64_t job, const std::string& path,
                             std::shared_ptr<files::UnfinishedFiles> unfinished);

/// logs, fetch.
void AddOutputCommands(CommandLine& line);

/// nodes, drain, undrain, forget.
void AddNodeCommands(CommandLine& line);

void AddAlterCommand(CommandLine& line);
void AddAttachCommand(CommandLine& line);
void AddCancelCommand(CommandLine& line);
void AddRunCommand(CommandLine& line);
void AddTopCommand(CommandLine& line);
void AddProbeCommand(CommandLine& line);
void AddWebCommand(CommandLine& line);

/// profile, trace.
void AddProfileCommands(CommandLine& line);

/// certs: init, issue, revoke, rotate. Needs no coordinator.
void AddCertsCommand(CommandLine& line);

/// A command with the options --coordinator and --tls.
CLI::App* AddCommand(CommandLine& line, const std::string& name, const std::string& description);

/// The one job that a command is for.
void AddJobId(CLI::App& command, std::uint64_t& job);

/// The jobs that a command is for, as 3-7 9, in `jobs`.
CLI::Option* AddJobIds(CLI::App& command, std::vector<std::uint64_t>& jobs);

/// Makes `action` the one to perform if `command` is given.
void SetAction(CommandLine& line, CLI::App* command, CommandAction action);

/// The same for what needs the coordinator, and nothing before it is connected to that.
using ConnectedAction = std::function<absl::StatusOr<int>(JobsStub&)>;
void SetConnectedAction(CommandLine& line, CLI::App* command, ConnectedAction action);

/// Prints what failed. For what goes on after it, with other jobs; then its status is a failure's.
void PrintFailure(const absl::Status& failure);

/// The coordinator that was named.
absl::StatusOr<CoordinatorPlace> PlaceOf(const CommandLine& line);

/// Connects to it.
absl::StatusOr<JobsStub> ConnectTo(const CommandLine& line);

/// A line of bsp's own, on standard error.
void Say(const std::string& line);

}  // namespace bspnow::client

#endif  // CLIENT_COMMANDS_H_
