#include "runtime/agreement.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "runtime/link/call_site.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {
namespace {

constexpr int kPatienceMs = 5'000;  // Then the others say nothing.

// Both popped equally often, but the sequences differ: names the first pops that do.
[[noreturn]] void ReportDifferentOrder(const Segment& segment, std::uint32_t i,
                                       const VotedSuperstep& voted, std::uint64_t pops) {
  const Call call("bsp_sync", voted.call_site);
  for (std::uint64_t k = 0; k < std::min(pops, kSlotsMax); ++k) {
    const std::uint64_t first = segment.pops(Pid{0}, voted.parity)[k];
    const std::uint64_t other = segment.pops(Pid{i}, voted.parity)[k];
    if (first == other) continue;
    ReportMisuse(
        call,
        "pops name different slots: pid 0 popped registration %llu where pid %u popped"
        " registration %llu (counted from 1); pop areas in the same order on all processes",
        Printable(first), i, Printable(other));
  }
  ReportMisuse(call,
               "registrations differ: pid 0 and pid %u pushed and popped in another order; push and"
               " pop on all processes alike",
               i);
}

// 0: the library ended it by itself.
bool Differ(std::uint64_t site, std::uint64_t other) {
  return site != 0 && other != 0 && site != other;
}

// A program may do so, and few mean to: one branch has forgotten a bsp_sync, or has one too many.
[[noreturn]] void ReportDifferentSites(const Segment& segment, std::uint32_t i,
                                       std::uint64_t first_site, std::uint64_t other_site) {
  char sites[2][kCallSiteTextBytes];
  const auto describe = [&segment](std::uint32_t pid, std::uint64_t site, char* text) {
    const bool here = segment.IsHere(Pid{pid});
    DescribeRecordedSite(here ? segment.cell(Pid{pid}).os_pid : kElsewhere, site, text);
  };
  describe(0, first_site, sites[0]);
  describe(i, other_site, sites[1]);
  ReportMisuse("bsp_sync",
               "pid 0 ended the superstep at %s, and pid %u at %s; let all processes end it at the"
               " same call, or leave BSP_CHECK=textual out if this is meant",
               sites[0], i, sites[1]);
}

// A program has many a bsp_sync, and which one it is says more than where its bsp_end is.
void LeaveTheReportToOneInSync(const Segment& segment, std::uint32_t p) {
  for (std::uint32_t i = 0; i < p; ++i) {
    if (!segment.IsHere(Pid{i}) || segment.cell(Pid{i}).in_end) continue;
    poll(nullptr, 0, kPatienceMs);
    return;
  }
}

}  // namespace

// Unless it says nothing: its processes may have gone on, and wait for these elsewhere.
void LeaveTheReportToPidZerosNode(const Segment& segment) {
  if (!segment.IsHere(Pid{0})) poll(nullptr, 0, kPatienceMs);
}

void CompareVotes(const Segment& segment, std::uint32_t p, const VotedSuperstep& voted) {
  const Call call("bsp_sync", voted.call_site);
  const auto vote_of = [&](std::uint32_t i) {
    const RegistrationVote& vote = segment.cell(Pid{i}).votes[voted.parity];
    // Superstep 0 looks the same as never: then, too, nothing was done.
    const bool never = vote.tag_bytes == 0 && vote.pushes == 0 && vote.pops == 0 && vote.site == 0;
    if (vote.superstep == voted.superstep && !(voted.superstep == 0 && never && vote.digest == 0))
      return vote;
    return RegistrationVote{.superstep = voted.superstep,
                            .digest = 0,
                            .pushes = 0,
                            .pops = 0,
                            .tag_bytes = voted.tag_bytes,
                            .site = 0};
  };
  const RegistrationVote first = vote_of(0);
  for (std::uint32_t i = 1; i < p; ++i) {
    const RegistrationVote other = vote_of(i);
    if (first.tag_bytes == other.tag_bytes && first.pushes == other.pushes &&
        first.pops == other.pops && first.digest == other.digest &&
        !Differ(first.site, other.site)) {
      continue;
    }
    LeaveTheReportToPidZerosNode(segment);
    if (Differ(first.site, other.site)) ReportDifferentSites(segment, i, first.site, other.site);
    if (first.tag_bytes != other.tag_bytes) {
      ReportMisuse(
          call,
          "tag sizes differ: pid 0 set %llu, pid %u set %llu; call bsp_set_tagsize with the"
          " same value on all processes",
          Printable(first.tag_bytes), i, Printable(other.tag_bytes));
    }
    if (first.pushes != other.pushes || first.pops != other.pops) {
      ReportMisuse(call,
                   "registrations differ: pid 0 pushed %llu and popped %llu, pid %u pushed %llu and"
                   " popped %llu; push and pop on all processes alike",
                   Printable(first.pushes), Printable(first.pops), i, Printable(other.pushes),
                   Printable(other.pops));
    }
    for (const auto& [mark, name] :
         {std::pair(kResumeMark, "bsp_checkpoint_resume"), std::pair(kEndMark, "bsp_end"),
          std::pair(kTagSizeMark, "bsp_set_tagsize")}) {
      if ((first.digest ^ other.digest) != mark) continue;
      ReportMisuse(call,
                   "only one of pid 0 and pid %u has called %s; call it on all processes, in the"
                   " same superstep",
                   i, name);
    }
    ReportDifferentOrder(segment, i, voted, first.pops);
  }
}

void ReportDifferentEnds(const Segment& segment, Pid self, std::uint32_t p,
                         std::uint64_t call_site) {
  LeaveTheReportToPidZerosNode(segment);
  const std::uint32_t in_end = segment.cell(self).in_end;
  if (in_end) LeaveTheReportToOneInSync(segment, p);
  std::uint32_t other = 0;
  while (other + 1 < p && segment.cell(Pid{other}).in_end == in_end) ++other;
  const char* mine = in_end ? ProgramBounds().end : "bsp_sync";
  const char* theirs = in_end ? "bsp_sync" : ProgramBounds().end;
  ReportMisuse({mine, call_site},
               "pid %u is in %s, while pid %u is in %s: the processes disagree on the number of"
               " supersteps; call bsp_sync equally often on all processes",
               other, theirs, Value(self), mine);
}

}  // namespace bspnow::runtime
