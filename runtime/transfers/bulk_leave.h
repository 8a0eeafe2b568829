// Whether what others put here buffered may come into its place before the barrier (bulk_end.h).
// After it, all gets read before any put writes, and puts are written in the order of their source
// pids; before it the same holds only of what nobody reads and nobody else writes. So a process
// gives leave when all others are in bsp_sync, none of them gets anything from here or puts
// anything here another way, and what is put by one touches nothing that is put by another. In any
// other case it refuses, as soon as it knows, and the puts go another way.
//
// What was put so may be put again after the barrier, in a chunk, if it is not known to be here:
// that changes nothing, as no order between sources counts.
#ifndef RUNTIME_TRANSFERS_BULK_LEAVE_H_
#define RUNTIME_TRANSFERS_BULK_LEAVE_H_

#include <cstdint>

#include "runtime/transfers/bulk_end.h"

namespace bspnow::runtime {

/// Of this process's memory: from `begin` up to, not including, `end`.
struct Interval {
  std::uint64_t begin;
  std::uint64_t end;
};

/// What this process does in the superstep itself.
enum class OwnTransfers {
  kNone,   ///< Or puts to others, buffered.
  kOther,  ///< It gets something, or transfers something unbuffered.
};

enum class LeaveDue {
  kNothing,  ///< Nobody asks, or somebody must come first.
  kAnswer,   ///< Everything is known: Answer, with the intervals.
};

/// The ends of all lanes of a process that has one to each other process of its job.
struct BulkEnds {
  BulkEnd* const* of;
  std::uint32_t count;
};

/// Asks, or refuses, as far as that can be decided without the ranges.
LeaveDue LookForLeave(const BulkEnds& ends, OwnTransfers own);

/// `intervals`: of each end that asks for leave, in turn, and then what this process puts to
/// itself; `count` in all.
void AnswerForLeave(const BulkEnds& ends, const Interval* intervals, std::uint32_t count);

}  // namespace bspnow::runtime

#endif  // RUNTIME_TRANSFERS_BULK_LEAVE_H_
