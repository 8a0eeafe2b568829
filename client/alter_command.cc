// alter: what a job was submitted with, as long as that has an effect.
#include <iostream>
#include <memory>
#include <vector>

#include "client/commands.h"
#include "client/options/job_options.h"
#include "client/options/submission.h"
#include "client/view/job_json.h"

namespace bspnow::client {
namespace {

struct AlterOptions {
  std::vector<std::uint64_t> jobs;
  JobOptions wanted;
};

proto::AlterJobRequest RequestOf(const CLI::App& command, const JobOptions& wanted) {
  const auto given = [&command](const char* option) {
    return command.get_option(option)->count() > 0;
  };
  proto::AlterJobRequest request;
  if (given("--name")) request.set_name(wanted.name);
  if (given("--time-limit")) request.set_time_limit_s(wanted.time_limit_s);
  if (given("--max-restarts")) request.set_restarts_max(wanted.restarts_max);
  if (given("--priority")) request.set_priority(wanted.priority);
  if (given("--memory")) request.set_memory_bytes(wanted.memory_bytes);
  if (given("--nodes")) request.set_nodes(wanted.nodes);
  if (given("--per-node")) request.set_per_node(wanted.per_node);
  if (given("--constraint") || wanted.no_constraint) {
    proto::Constraints& constraints = *request.mutable_constraints();
    for (const std::string& label : wanted.constraints) constraints.add_labels(label);
  }
  if (given("--checkpoint")) *request.mutable_checkpoints() = PolicyOf(wanted.checkpoint);
  return request;
}

// One that fails does not keep the others.
absl::StatusOr<int> AlterJobs(JobsStub& stub, const AlterOptions& options,
                              proto::AlterJobRequest request) {
  int status = 0;
  for (const std::uint64_t id : options.jobs) {
    request.set_job(id);
    const absl::StatusOr<proto::Job> job = stub.Alter(request);
    if (!job.ok()) {
      PrintFailure(job.status());
      status = kFailureStatus;
    } else if (options.wanted.json) {
      std::cout << JsonText(JobJson(*job));
    }
  }
  return status;
}

}  // namespace

void AddAlterCommand(CommandLine& line) {
  CLI::App* command = AddCommand(line, "alter", "Change what a job was submitted with");
  const auto options = std::make_shared<AlterOptions>();
  AddJobIds(*command, options->jobs)->required();
  AddAlterOptions(*command, options->wanted);
  command->add_flag("--json", options->wanted.json, kJsonText);
  SetAction(line, command, [&line, command, options]() -> absl::StatusOr<int> {
    const proto::AlterJobRequest request = RequestOf(*command, options->wanted);
    if (request.ByteSizeLong() == 0) {
      std::cerr << "bsp: nothing to change is given; see bsp alter --help\n";
      return kUsageStatus;
    }
    absl::StatusOr<JobsStub> stub = ConnectTo(line);
    return stub.ok() ? AlterJobs(*stub, *options, request) : stub.status();
  });
}

}  // namespace bspnow::client
