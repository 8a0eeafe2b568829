#include "runtime/transfers/bulk_leave.h"

namespace bspnow::runtime {
namespace {

void RefuseAll(const BulkEnds& ends) {
  for (std::uint32_t i = 0; i < ends.count; ++i)
    if (ends.of[i]->AsksForLeave()) ends.of[i]->RefuseLeave();
}

bool Apart(const Interval* intervals, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i)
    for (std::uint32_t k = 0; k < i; ++k)
      if (intervals[i].begin < intervals[k].end && intervals[k].begin < intervals[i].end)
        return false;
  return true;
}

}  // namespace

LeaveDue LookForLeave(const BulkEnds& ends, OwnTransfers own) {
  bool asks = false;
  bool all_here = true;
  bool refuses = own == OwnTransfers::kOther;
  for (std::uint32_t i = 0; i < ends.count; ++i) {
    const BulkEnd& end = *ends.of[i];
    asks |= end.WaitsForLeave();
    all_here &= end.IsHere();
    refuses |= end.broken() || (end.IsHere() && !end.IsApart());
  }
  if (!asks) return LeaveDue::kNothing;
  if (refuses) {
    RefuseAll(ends);
    return LeaveDue::kNothing;
  }
  for (std::uint32_t i = 0; i < ends.count; ++i) ends.of[i]->Ask();
  return all_here ? LeaveDue::kAnswer : LeaveDue::kNothing;
}

void AnswerForLeave(const BulkEnds& ends, const Interval* intervals, std::uint32_t count) {
  if (!Apart(intervals, count)) return RefuseAll(ends);
  for (std::uint32_t i = 0; i < ends.count; ++i)
    if (ends.of[i]->AsksForLeave()) ends.of[i]->GiveLeave();
}

}  // namespace bspnow::runtime
