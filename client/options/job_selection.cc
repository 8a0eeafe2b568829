#include "client/options/job_selection.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <unordered_set>

#include "files/whole_number.h"

namespace bspnow::client {

absl::StatusOr<IdRange> ParseIdRange(const std::string& text) {
  const std::size_t dash = text.find('-');
  const auto first = files::ParseWholeNumber(text.substr(0, dash), UINT64_MAX);
  const auto last = dash == std::string::npos
                        ? first
                        : files::ParseWholeNumber(text.substr(dash + 1), UINT64_MAX);
  if (first && last && *first >= 1 && *first <= *last) return IdRange{*first, *last};
  return absl::InvalidArgumentError(
      absl::StrCat(text, " is no job; write its id, or several as in 3-7"));
}

std::vector<std::uint64_t> IdsOf(const std::vector<IdRange>& ranges) {
  std::vector<std::uint64_t> ids;
  std::unordered_set<std::uint64_t> known;
  for (const IdRange& range : ranges) {
    const std::uint64_t count = range.last - range.first + 1;
    for (std::uint64_t i = 0; i < count; ++i)
      if (known.insert(range.first + i).second) ids.push_back(range.first + i);
  }
  return ids;
}

bool JobSelection::names_each() const {
  return !has_filters() && std::all_of(ids.begin(), ids.end(), [](const IdRange& range) {
    return range.first == range.last;
  });
}

bool JobSelection::Selects(const proto::Job& job) const {
  const bool by_id = ids.empty() || std::any_of(ids.begin(), ids.end(), [&](const IdRange& range) {
                       return range.first <= job.job() && job.job() <= range.last;
                     });
  const bool by_state =
      states.empty() || std::find(states.begin(), states.end(), job.state()) != states.end();
  return by_id && by_state && (name.empty() || name == job.spec().name()) &&
         (user.empty() || user == job.spec().user());
}

}  // namespace bspnow::client
