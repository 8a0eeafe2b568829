// Arrays: jobs that are submitted together.
#include <absl/strings/str_cat.h>

#include <utility>

#include "coordinator/core/jobs/job_table_event.h"

namespace bspnow::coordinator {

// One row of the journal would not do: elements end one by one, and each is shown, cancelled and
// forgotten as any job is.
JobId JobTable::Event::AddArray(const proto::JobSpec& spec, const proto::ArraySpec& array,
                                const std::string& submission_key) {
  JobTransition transition{.sequence = ++table_.last_sequence_, .records = {}};
  const JobId first{table_.last_job_ + 1};
  const auto elements = static_cast<std::uint32_t>(ElementsOf(array));
  for (std::uint32_t i = 0; i < elements; ++i) {
    Job& entry = Add(spec, i == 0 ? submission_key : "");
    proto::ArrayElement& element = *entry.shown().mutable_array();
    element.set_job(Value(first));
    element.set_index(array.first() + i * array.step());
    element.set_elements(elements);
    element.set_at_once(array.at_once());
    proto::JobSpec& own = *entry.shown().mutable_spec();
    own.add_environment(absl::StrCat("BSP_ARRAY_ID=", element.index()));
    own.add_environment(absl::StrCat("BSP_ARRAY_JOB=", element.job()));
    entry.stored_ns = at_.now_ns;
    transition.records.push_back(entry.record);
  }
  table_.pending_.push_back({.sequence = transition.sequence,
                             .job = first,
                             .epoch = Epoch{0},
                             .due = Due::kAccept,
                             .jobs = elements});
  orders_.store.push_back(std::move(transition));
  for (std::uint32_t i = 0; i < elements; ++i) AwaitOthers(At(JobId{Value(first) + i}));
  return first;
}

}  // namespace bspnow::coordinator
