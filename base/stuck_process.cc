#include "base/stuck_process.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstddef>

namespace bspnow {
namespace {

constexpr std::size_t kCircleShownMax = 8;
constexpr std::size_t kRangesShownMax = 8;

const StuckProcess* Find(const std::vector<StuckProcess>& stuck, std::uint32_t pid) {
  const auto found = std::find_if(stuck.begin(), stuck.end(),
                                  [pid](const StuckProcess& each) { return each.pid == pid; });
  return found == stuck.end() ? nullptr : &*found;
}

// From the first one on each leads to the next, so they come to a circle.
std::vector<const StuckProcess*> CircleOf(const std::vector<StuckProcess>& stuck) {
  std::vector<const StuckProcess*> path;
  for (const StuckProcess* at = &stuck.front(); at != nullptr; at = Find(stuck, at->awaits)) {
    const auto before = std::find(path.begin(), path.end(), at);
    if (before != path.end()) return {before, path.end()};
    path.push_back(at);
  }
  return path;
}

}  // namespace

std::string DeadlockText(const std::vector<StuckProcess>& stuck) {
  const std::vector<const StuckProcess*> circle = CircleOf(stuck);
  std::string text =
      absl::StrCat(stuck.size(), " processes wait for each other, and none can go on: pid ",
                   circle.front()->pid);
  for (std::size_t i = 0; i < circle.size(); ++i) {
    if (i == kCircleShownMax) {
      absl::StrAppend(&text, ", and so on");
      break;
    }
    absl::StrAppend(&text, i == 0 ? " waits " : ", which waits ", circle[i]->where, " for pid ",
                    circle[i]->awaits);
  }
  return absl::StrCat(text,
                      "; make groups (bsp_partition, bsp_dup) and end their supersteps in the same"
                      " order on all processes");
}

std::string PidsText(const std::vector<std::uint32_t>& pids) {
  std::string text = pids.size() == 1 ? "pid" : "pids";
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < pids.size(); ++ranges) {
    if (ranges == kRangesShownMax) return text + " ...";
    std::size_t last = i;
    while (last + 1 < pids.size() && pids[last + 1] == pids[last] + 1) ++last;
    absl::StrAppend(&text, " ", pids[i]);
    if (last != i) absl::StrAppend(&text, last == i + 1 ? " " : "-", pids[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace bspnow
