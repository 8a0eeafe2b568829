// Arrays: jobs that are submitted together, and of which only some have slots at a time.
#include <absl/strings/str_cat.h>

#include <utility>

#include "coordinator/core/jobs/job_table_event.h"

namespace bspnow::coordinator {
namespace {

JobId ArrayOf(const Job& entry) { return JobId{entry.shown().array().job()}; }

}  // namespace

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

/// How many elements of each array hold slots.
std::map<JobId, std::uint32_t> JobTable::Event::PlacedOfArrays() const {
  std::map<JobId, std::uint32_t> placed;
  for (const JobId id : table_.running_)
    if (const Job& entry = table_.jobs_.at(id); entry.shown().has_array())
      placed[ArrayOf(entry)] += 1;
  return placed;
}

/// Takes it out of the queue if its array has its share of slots. With 10,000 elements in the
/// queue each pass would come across them all.
bool JobTable::Event::Hold(Job& entry, const std::map<JobId, std::uint32_t>& placed) {
  const std::uint32_t at_once = entry.shown().array().at_once();
  const auto found = placed.find(ArrayOf(entry));
  if (at_once == 0 || found == placed.end() || found->second < at_once) return false;
  table_.held_[ArrayOf(entry)].insert(table_.queue_.extract(*entry.place));
  entry.shown().set_reason(
      absl::StrCat("at most ", at_once, " of array ", Value(ArrayOf(entry)), " at once"));
  return true;
}

/// As many as may have slots now.
void JobTable::Event::ReleaseHeld(const std::map<JobId, std::uint32_t>& placed) {
  for (auto& [array, held] : table_.held_) {
    const auto found = placed.find(array);
    std::uint32_t taken = found == placed.end() ? 0 : found->second;
    while (!held.empty() && taken < At(held.begin()->job).shown().array().at_once()) {
      At(held.begin()->job).shown().clear_reason();
      table_.queue_.insert(held.extract(held.begin()));
      ++taken;
    }
  }
  std::erase_if(table_.held_, [](const auto& each) { return each.second.empty(); });
}

}  // namespace bspnow::coordinator
