#include "client/commands.h"

#include <iostream>
#include <utility>

#include "client/job_options.h"

namespace bspnow {
namespace {

constexpr char kUsualPort[] = ":7070";

}  // namespace

CLI::App* AddCommand(CommandLine& line, const std::string& name, const std::string& description) {
  CLI::App* command = line.app.add_subcommand(name, description);
  AddCoordinatorOption(*command, line.coordinator);
  return command;
}

void SetAction(CommandLine& line, CLI::App* command, CommandAction action) {
  command->callback([&line, action = std::move(action)] { line.chosen = action; });
}

absl::StatusOr<std::string> CoordinatorAddress(const std::string& option) {
  const std::string coordinator = NamedCoordinator(option);
  if (coordinator.empty()) {
    return absl::FailedPreconditionError(
        "no coordinator is named; give --coordinator HOST:PORT, or set BSP_COORDINATOR");
  }
  // A colon after the last bracket, if there are brackets, is that of the port.
  const std::size_t bracket = coordinator.rfind(']');
  const std::size_t colon = coordinator.rfind(':');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  return has_port ? coordinator : coordinator + kUsualPort;
}

absl::StatusOr<JobsStub> ConnectTo(const CommandLine& line) {
  const absl::StatusOr<std::string> address = CoordinatorAddress(line.coordinator);
  if (!address.ok()) return address.status();
  return JobsStub::Connect(
      *address, [](const std::string& said) { std::cerr << "bsp: " << said << std::endl; });
}

}  // namespace bspnow
