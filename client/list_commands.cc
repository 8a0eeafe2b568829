// jobs, history: lists of jobs.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/exit_status.h"
#include "client/commands.h"
#include "client/options/list_options.h"
#include "client/view/history_view.h"
#include "client/view/job_json.h"
#include "client/view/job_view.h"
#include "files/whole_number.h"

namespace bspnow::client {
namespace {

constexpr std::uint64_t kNumberMax = 1'000'000'000;  // More than jobs.

struct ListQuery {
  ListOptions only;
  bool all = false;
  std::size_t last = 0;               ///< The newest so many; 0: all.
  std::vector<std::uint64_t> jobs{};  ///< Of history; none: all.
  bool csv = false;
  bool json = false;
};

/// Of a list with such jobs. They are said beside it, unless it is for a program, which then finds
/// them in it.
void SayDamaged(const std::vector<std::uint64_t>& damaged) {
  constexpr std::size_t kNamed = 10;
  if (damaged.empty()) return;
  const bool one = damaged.size() == 1;
  std::vector<std::uint64_t> named = damaged;
  named.resize(std::min(named.size(), kNamed));
  const std::size_t more = damaged.size() - named.size();
  Say(absl::StrCat("of job", one ? " " : "s ", absl::StrJoin(named, ", "),
                   more == 0 ? "" : absl::StrCat(" and ", more, " more"), " the record",
                   one ? "" : "s", " in the history ", one ? "is" : "are",
                   " damaged: ", one ? "it is" : "they are", " not listed"));
}

std::string JsonOf(const JobList& list) {
  nlohmann::json all = JobsJson(list.jobs);
  for (const std::uint64_t job : list.damaged) all.push_back(DamagedJobJson(job));
  return JsonText(all);
}

absl::StatusOr<int> ListJobs(JobsStub& jobs, const ListQuery& query) {
  proto::ListJobsRequest request = ListRequest(query.only);
  if (query.all) request.set_all(true);
  const absl::StatusOr<JobList> listed = jobs.ListJobs(request, query.last);
  if (!listed.ok()) return listed.status();
  if (!query.json) SayDamaged(listed->damaged);
  std::cout << (query.json ? JsonOf(*listed)
                           : JobTable(listed->jobs).Text(ColoursFor(STDOUT_FILENO)));
  return 0;
}

void AddJobs(CommandLine& line) {
  CLI::App* command = AddCommand(line, "jobs", "List the jobs that wait or run");
  const auto query = std::make_shared<ListQuery>();
  command->add_flag("-a,--all", query->all, "Those that have ended, too");
  command->add_option("--last", query->last, "The newest N of them only")
      ->transform(files::AsWholeNumber(files::Sign::kNone))
      ->check(CLI::Range(std::uint64_t{1}, kNumberMax))
      ->type_name("N");
  AddListOptions(*command, query->only);
  command->add_flag("--json", query->json, kJsonText);
  SetConnectedAction(line, command, [query](JobsStub& jobs) { return ListJobs(jobs, *query); });
}

// ---- history ------------------------------------------------------------------------------------

proto::ListJobsRequest HistoryRequest(const ListQuery& query) {
  proto::ListJobsRequest request = ListRequest(query.only);
  request.set_all(true);
  request.set_accounting(true);
  if (request.states().empty() && query.jobs.empty())
    for (const proto::JobState state : {proto::SUCCEEDED, proto::FAILED, proto::CANCELLED})
      request.add_states(state);
  return request;
}

/// Each of those that were named is the first of a page. One that is missing is said, and does not
/// keep the others.
absl::StatusOr<JobList> HistoryOf(JobsStub& jobs, const ListQuery& query) {
  if (query.jobs.empty()) return jobs.ListJobs(HistoryRequest(query), query.last);
  JobList found;
  for (const std::uint64_t id : query.jobs) {
    proto::ListJobsRequest request = HistoryRequest(query);
    request.set_before(id + 1);
    const absl::StatusOr<JobList> listed = jobs.ListJobs(request, 1);
    if (!listed.ok()) return listed.status();
    const std::vector<std::uint64_t>& damaged = listed->damaged;
    if (!listed->jobs.empty() && listed->jobs.front().job() == id) {
      found.jobs.push_back(listed->jobs.front());
    } else if (std::find(damaged.begin(), damaged.end(), id) != damaged.end()) {
      found.damaged.push_back(id);
    } else {
      Say(absl::StrCat("there is no job ", id, " of yours; `bsp history` lists those that ended"));
    }
  }
  return found;
}

absl::StatusOr<int> ShowHistory(JobsStub& jobs, const ListQuery& query) {
  const absl::StatusOr<JobList> listed = HistoryOf(jobs, query);
  if (!listed.ok()) return listed.status();
  if (!query.json) SayDamaged(listed->damaged);
  const bool misses = listed->jobs.size() < query.jobs.size();
  if (misses && listed->jobs.empty() && (!query.json || listed->damaged.empty()))
    return kFailureStatus;
  std::cout << (query.json  ? JsonOf(*listed)
                : query.csv ? HistoryCsv(listed->jobs)
                            : HistoryTable(listed->jobs).Text(ColoursFor(STDOUT_FILENO)));
  return misses ? kFailureStatus : 0;
}

void AddHistory(CommandLine& line) {
  CLI::App* command =
      AddCommand(line, "history", "List what jobs that have ended took: time, CPU, memory");
  const auto query = std::make_shared<ListQuery>();
  CLI::Option* const jobs = AddJobIds(*command, query->jobs);
  AddListOptions(*command, query->only);
  for (const char* filter : {"--user", "--state", "--since"})
    jobs->excludes(command->get_option(filter));
  CLI::Option* const last = command->add_option("--last", query->last, "The newest N of them only")
                                ->transform(files::AsWholeNumber(files::Sign::kNone))
                                ->check(CLI::Range(std::uint64_t{1}, kNumberMax))
                                ->type_name("N");
  jobs->excludes(last);
  CLI::Option* const csv = command->add_flag("--csv", query->csv, "Print CSV, for spreadsheets");
  command->add_flag("--json", query->json, kJsonText)->excludes(csv);
  SetConnectedAction(line, command, [query](JobsStub& jobs) { return ShowHistory(jobs, *query); });
}

}  // namespace

void AddListCommands(CommandLine& line) {
  AddJobs(line);
  AddHistory(line);
}

}  // namespace bspnow::client
