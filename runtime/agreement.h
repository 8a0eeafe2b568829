// What all processes must have done alike by a barrier, and the errors where they did not. All
// processes of the job find these; those on the node of pid 0 report them.
#ifndef RUNTIME_AGREEMENT_H_
#define RUNTIME_AGREEMENT_H_

#include <cstdint>

#include "base/ids.h"
#include "runtime/link/link_segment.h"

namespace bspnow::runtime {

/// In the digest of a process that called bsp_checkpoint_resume in the superstep, by exclusive or.
inline constexpr std::uint64_t kResumeMark = 0x5245'53554d45;

/// The same with BSP_CHECK=full, of one that called bsp_set_tagsize.
inline constexpr std::uint64_t kTagSizeMark = 0x5441'4753495a;

/// The same, of one that called bsp_end of an SPMD section (process_sections.cc).
inline constexpr std::uint64_t kEndMark = 0x454e44;

/// All processes of a group find a disagreement; those that live with its pid 0 say so, and the
/// others return only if these have said nothing for some seconds.
void LeaveTheReportToPidZerosNode(const Segment& segment);

/// The superstep whose votes are compared.
struct VotedSuperstep {
  std::uint64_t superstep;
  unsigned parity;
  std::uint64_t tag_bytes;  ///< The tag size in it, which holds for processes that did not set it.
  std::uint64_t call_site = 0;  ///< Where the call returns to that ended it here; 0: not known.
};

/// Ends the job if processes pushed and popped differently in this superstep, or set different tag
/// sizes. "A runtime error will be raised if differing processes attempt to de-register a different
/// registration slot" (BSPlib 1997, Registration); the tag size must be set by all "with the same
/// argument in the same superstep" (Choose tag size, note 3). bsp_checkpoint_resume must be
/// called by all, too. With BSP_CHECK=textual the same if they ended it at different places of the
/// program.
void CompareVotes(const Segment& segment, std::uint32_t p, const VotedSuperstep& voted);

/// Some processes are in bsp_end while others are in bsp_sync: ends the job, naming one of each. If
/// there are any of the latter on this node it is one of these that says so, with the place of its
/// call, which returns to `call_site` (0: not known).
[[noreturn]] void ReportDifferentEnds(const Segment& segment, Pid self, std::uint32_t p,
                                      std::uint64_t call_site);

}  // namespace bspnow::runtime

#endif  // RUNTIME_AGREEMENT_H_
