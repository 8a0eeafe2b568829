#include "client/commands.h"

#include <absl/strings/str_cat.h>

#include <iostream>
#include <utility>

#include "client/options/cluster_file.h"
#include "client/options/cluster_option.h"
#include "client/options/job_selection.h"

namespace bspnow::client {
namespace {

constexpr std::uint64_t kMsPerSecond = 1'000;

// Ids that are written as ranges are all meant, so a slip of the finger must not ask for 10^18.
constexpr std::uint64_t kJobsMax = 100'000;

void TakeJobs(const std::vector<std::string>& texts, std::vector<std::uint64_t>& jobs) {
  std::vector<IdRange> ranges;
  std::uint64_t named = 0;
  for (const std::string& text : texts) {
    const absl::StatusOr<IdRange> range = ParseIdRange(text);
    if (!range.ok()) throw CLI::ValidationError("JOB", std::string(range.status().message()));
    if (range->last - range->first >= kJobsMax - named) {
      throw CLI::ValidationError("JOB", absl::StrCat(text, ": more than ", kJobsMax, " jobs"));
    }
    named += range->last - range->first + 1;
    ranges.push_back(*range);
  }
  jobs = IdsOf(ranges);
}

}  // namespace

void AddJobId(CLI::App& command, std::uint64_t& job) {
  command
      .add_option_function<std::string>(
          "JOB",
          [&job](const std::string& text) {
            const absl::StatusOr<IdRange> range = ParseIdRange(text);
            if (!range.ok() || range->last != range->first)
              throw CLI::ValidationError("JOB", text + " is no job; write its id");
            job = range->first;
          },
          "The job's id")
      ->required()
      ->type_name("");
}

CLI::Option* AddJobIds(CLI::App& command, std::vector<std::uint64_t>& jobs) {
  return command
      .add_option_function<std::vector<std::string>>(
          "JOB", [&jobs](const std::vector<std::string>& texts) { TakeJobs(texts, jobs); },
          "Ids, as in 3-7 9")
      ->type_name("");
}

CLI::App* AddCommand(CommandLine& line, const std::string& name, const std::string& description) {
  CLI::App* command = line.app.add_subcommand(name, description);
  command->footer("See bsp(1).");
  AddCoordinatorOption(*command, line.coordinator);
  AddTlsOption(*command, line.tls_dir);
  return command;
}

void SetAction(CommandLine& line, CLI::App* command, CommandAction action) {
  command->callback([&line, action = std::move(action)] { line.chosen = action; });
}

void SetConnectedAction(CommandLine& line, CLI::App* command, ConnectedAction action) {
  SetAction(line, command, [&line, action = std::move(action)]() -> absl::StatusOr<int> {
    absl::StatusOr<JobsStub> jobs = ConnectTo(line);
    return jobs.ok() ? action(*jobs) : jobs.status();
  });
}

void PrintFailure(const absl::Status& failure) { Say(std::string(failure.message())); }

absl::StatusOr<CoordinatorPlace> PlaceOf(const CommandLine& line) {
  std::string coordinator = line.coordinator;
  std::string tls_dir = NamedTls(line.tls_dir);
  if (NamedCoordinator(coordinator).empty()) {
    absl::StatusOr<ClusterFile> file = ReadClusterFile(ClusterFilePath());
    if (!file.ok()) return file.status();
    coordinator = file->coordinator;
    if (tls_dir.empty()) tls_dir = file->tls_dir;
  }
  const absl::StatusOr<std::string> address = CoordinatorAddress(coordinator);
  if (!address.ok()) return address.status();
  return CoordinatorPlace{.address = *address, .tls_dir = tls_dir, .proof = ProofOf(line.tls_dir)};
}

absl::StatusOr<JobsStub> ConnectTo(const CommandLine& line) {
  const absl::StatusOr<CoordinatorPlace> place = PlaceOf(line);
  if (!place.ok()) return place.status();
  return JobsStub::Connect(*place, Say, line.connect_s * kMsPerSecond);
}

void Say(const std::string& line) { std::cerr << "bsp: " << line << std::endl; }

}  // namespace bspnow::client
