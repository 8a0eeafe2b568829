#include "client/options/job_selection.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <unordered_set>

namespace bspnow::client {

absl::StatusOr<IdRange> ParseIdRange(const std::string& text) {
  const std::size_t dash = text.find('-');
  IdRange range{};
  const bool is_number = absl::SimpleAtoi(text.substr(0, dash), &range.first);
  range.last = range.first;
  const bool ends =
      dash == std::string::npos || absl::SimpleAtoi(text.substr(dash + 1), &range.last);
  if (is_number && ends && range.first >= 1 && range.first <= range.last) return range;
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
