// cancel: of jobs that are named one by one, or selected.
#include <absl/strings/str_cat.h>

#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "client/cluster/cancel_all.h"
#include "client/commands.h"
#include "client/options/job_selection.h"
#include "client/options/list_options.h"
#include "client/view/harmless.h"
#include "client/view/job_json.h"
#include "client/view/job_view.h"

namespace bspnow::client {
namespace {

struct CancelOptions {
  std::vector<std::string> jobs;
  JobSelection selection;
  bool json = false;
};

// A script that means somebody's jobs and has none must not take that for success: a name may be
// misspelt. As where an id is that of no job.
absl::Status NoSuchJob(const JobSelection& selection) {
  std::string of = selection.user.empty() ? "" : " of user " + selection.user;
  if (!selection.name.empty()) absl::StrAppend(&of, " with the name ", selection.name);
  if (!selection.ids.empty()) absl::StrAppend(&of, " among these ids");
  std::string in;
  for (const proto::JobState state : selection.states)
    absl::StrAppend(&in, in.empty() ? " is " : " or ", StateName(state));
  return absl::NotFoundError(absl::StrCat("no job", of, in.empty() ? " waits or runs" : in,
                                          "; nothing was cancelled; see `bsp jobs`"));
}

// Whose jobs are not said, and not which: one's own. An administrator, too, may forget to say it.
absl::StatusOr<std::vector<std::uint64_t>> SelectedJobs(JobsStub& stub, JobSelection selection) {
  if (selection.names_each()) return IdsOf(selection.ids);
  if (selection.ids.empty() && selection.user.empty()) {
    absl::StatusOr<std::string> caller = stub.Caller();
    if (!caller.ok()) return caller.status();
    selection.user = *std::move(caller);
  }
  const auto listed = stub.ListJobs(proto::ListJobsRequest(), 0);
  if (!listed.ok()) return listed.status();
  std::vector<std::uint64_t> selected;
  for (const proto::Job& job : listed->jobs)
    if (selection.Selects(job)) selected.push_back(job.job());
  if (selected.empty()) return NoSuchJob(selection);
  return selected;
}

void Print(const proto::Job& job, const CancelOptions& options) {
  const bool was_over = job.state() == proto::SUCCEEDED || job.state() == proto::FAILED;
  if (options.json) {
    std::cout << JsonText(JobJson(job));
  } else if (was_over) {
    std::cout << "job " << job.job() << " (" << Harmless(job.spec().name())
              << ") had ended: " << StateName(job.state()) << "\n";
  } else {
    std::cout << "cancelled job " << job.job() << " (" << Harmless(job.spec().name()) << ")\n";
  }
}

// One that fails does not keep the others.
absl::StatusOr<int> CancelJobs(JobsStub& stub, const CancelOptions& options) {
  const auto selected = SelectedJobs(stub, options.selection);
  if (!selected.ok()) return selected.status();
  int status = 0;
  CancelAll(stub, *selected, [&](const absl::StatusOr<proto::Job>& job) {
    if (job.ok()) {
      Print(*job, options);
    } else {
      PrintFailure(job.status());
      status = kFailureStatus;
    }
  });
  return status;
}

/// What has ended, or ends, is not to be cancelled.
absl::StatusOr<std::vector<proto::JobState>> ParseOpenStates(const std::string& text) {
  absl::StatusOr<std::vector<proto::JobState>> states = ParseStates(text);
  for (const proto::JobState state : states.value_or(std::vector<proto::JobState>()))
    if (state != proto::WAITING && state != proto::RUNNING && state != proto::RECOVERING &&
        state != proto::SUSPENDED)
      return absl::InvalidArgumentError(
          absl::StrCat("a job that is ", StateName(state), " is not to be cancelled; write ",
                       "waiting, running, recovering or suspended, or several with commas"));
  return states;
}

}  // namespace

void AddCancelCommand(CommandLine& line) {
  CLI::App* command = AddCommand(line, "cancel", "End jobs at once");
  const auto options = std::make_shared<CancelOptions>();
  JobSelection& selection = options->selection;
  command->add_option("JOB", options->jobs, "Ids, as in 3-7 9")->check([](const std::string& text) {
    return std::string(ParseIdRange(text).status().message());
  });
  command->add_option("--name", selection.name, "Only jobs of this name")->type_name("NAME");
  command->add_option("-u,--user", selection.user, "Only jobs of this user [without JOB: you]")
      ->type_name("USER");
  command
      ->add_option_function<std::string>(
          "--state",
          [&selection](const std::string& text) { selection.states = *ParseOpenStates(text); },
          "Only jobs in one of these states, as in waiting,running")
      ->check([](const std::string& text) {
        return std::string(ParseOpenStates(text).status().message());
      })
      ->type_name("STATE,...");
  command->add_flag("--json", options->json, kJsonText);
  SetAction(line, command, [&line, options]() -> absl::StatusOr<int> {
    for (const std::string& text : options->jobs)
      options->selection.ids.push_back(*ParseIdRange(text));
    if (options->jobs.empty() && !options->selection.has_filters()) {
      std::cerr << "bsp: which jobs? Give ids, or --name, --user or --state; see bsp cancel --help"
                << "\n";
      return kUsageStatus;
    }
    absl::StatusOr<JobsStub> stub = ConnectTo(line);
    return stub.ok() ? CancelJobs(*stub, *options) : stub.status();
  });
}

}  // namespace bspnow::client
