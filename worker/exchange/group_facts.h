// What the processes of a node have written of themselves in the groups that have members here: a
// copy of the words that say where each waits. See "Who is waited for" in docs/design.md.
#ifndef WORKER_EXCHANGE_GROUP_FACTS_H_
#define WORKER_EXCHANGE_GROUP_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/link/link.h"
#include "worker/exchange/node_segment.h"

namespace bspnow::worker {

/// What a process has written of itself as a member of a group. Each word grows, or comes back to a
/// value only after another has grown. So who finds the words of all groups twice knows that they
/// were so at one moment, after the first look and before the second.
struct MemberFacts {
  std::uint32_t pid;      ///< In the job.
  bool here;              ///< On this node.
  bool left;              ///< The group.
  std::uint32_t arrived;  ///< These are ProcessCell's.
  std::uint32_t started;
  std::uint32_t announced;
  std::uint32_t room_waits;  ///< Of the root group.
  std::uint64_t counting;    ///< CountedWait::superstep
  std::uint64_t messages;    ///< CountedWait::expected
  std::uint64_t behind;      ///< The same of CountedWait.
  bool operator==(const MemberFacts&) const = default;
};

struct GroupFacts {
  std::uint64_t key;     ///< 0: the root group.
  std::uint64_t parent;  ///< As in GroupSlot.
  std::uint32_t child;
  bool several_nodes;
  std::uint64_t offset;  ///< Of its part.
  std::uint64_t first_superstep;
  std::uint32_t released;
  bool ahead;  ///< Processes here may go on from the barrier that is not over; see lane.h.
  std::vector<MemberFacts> members;

  bool IsRoot() const { return key == 0; }
  /// At a barrier that is not over. Of the root group it may have gone on since: see lane.h.
  bool HasArrived(const MemberFacts& member) const {
    return static_cast<std::int32_t>(member.arrived - released) > 0;
  }
  /// There, it ended its superstep by a count, and has not gone on.
  bool MayGoAhead(const MemberFacts& member) const {
    return HasArrived(member) && !ahead && member.arrived == member.started + 1 &&
           static_cast<std::uint32_t>(member.counting) == member.started;
  }
  bool operator==(const GroupFacts&) const = default;
};

struct NodeFacts {
  std::vector<GroupFacts> groups;  ///< The root group first.
  bool frees;                      ///< The worker is about to free a group that all here have left.
  bool operator==(const NodeFacts&) const = default;
};

NodeFacts FactsOf(const NodeSegment& segment);

/// Whether `from` may still send `to` a message in the superstep at whose end that one waits for
/// some. Who has ended it, or waits at its end, has sent all. (Such a group is on one node.)
bool MaySend(const GroupFacts& group, const MemberFacts& from, const MemberFacts& to);
/// Whom `member` waits for to begin a superstep (CountedWait::behind), if it has not.
const MemberFacts* AwaitedToBegin(const GroupFacts& group, const MemberFacts& member);
/// The messages that `receiver` has been sent in that superstep.
std::uint64_t MessagesFor(const Segment& job, const GroupFacts& group, const MemberFacts& receiver);

/// "group 2.1 (pids 0-3)": the first one made of the second one of the job; or "the job".
std::string NameOf(const NodeFacts& facts, const GroupFacts& group);
/// "at the end of superstep 3 of ...", for a member that waits there.
std::string PlaceOf(const NodeFacts& facts, const GroupFacts& group, const MemberFacts& member);
inline constexpr char kAtRoom[] =
    "to open one more group, of which it has left too many before others,";

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_GROUP_FACTS_H_
