#include "client/options/after_option.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include "client/options/job_selection.h"

namespace bspnow::client {
namespace {

constexpr std::uint64_t kJobsMax = 10'000;  // Of a range; as many as an array has.

}  // namespace

absl::StatusOr<std::vector<AfterOption>> ParseAfterOption(const std::string& text) {
  std::vector<AfterOption> options;
  for (const std::string& each : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const std::size_t colon = each.find(':');
    const std::string when = colon == std::string::npos ? "ok" : each.substr(colon + 1);
    const absl::StatusOr<IdRange> jobs = ParseIdRange(each.substr(0, colon));
    if (!jobs.ok() || jobs->last - jobs->first >= kJobsMax || (when != "ok" && when != "any"))
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", each, "\" is none of JOB, JOB:ok and JOB:any, with a job's id or as in 12-111"));
    for (std::uint64_t job = jobs->first; job <= jobs->last; ++job)
      options.push_back(
          {.job = job,
           .when = when == "any" ? AfterOption::When::kEnded : AfterOption::When::kSucceeded});
  }
  return options;
}

}  // namespace bspnow::client
