// All processes of a group in one collective call, as one of them sees it: supersteps, transfers,
// and the areas that they need. How data moves is in movement.cc and reduction.cc.
#ifndef RUNTIME_COLLECTIVES_TEAM_H_
#define RUNTIME_COLLECTIVES_TEAM_H_

#include <cstddef>
#include <cstdint>

#include "base/ids.h"
#include "base/mapped_region.h"
#include "runtime/collectives/collective_plan.h"
#include "runtime/collectives/collective_state.h"
#include "runtime/link/report.h"
#include "runtime/process.h"

namespace bspnow::runtime {

/// What all processes have to call with the same values.
struct CollectiveCall {
  Call call;
  Collective collective;
  std::uint32_t root;
  std::size_t bytes;
  std::size_t element_bytes =
      0;                ///< Of kFoldElements and kScanElements, of which bytes is a multiple.
  bool copied = false;  ///< The values are copies of the library's own: no put or get changes them.
};

/// A machine that is simulated has no memory that all its processors could read.
inline Nodes NodesOf(const Group& group) {
  return group.several_nodes() || group.simulated() ? Nodes::kSeveral : Nodes::kOne;
}

/// As the collectives of `group` count it; `call` is blamed if BSP_MACHINE is not understood.
Machine KnownMachine(const Group& group, CollectiveState& state, Call call);

using Operation = void (*)(void* result, void* left, void* right, int* bytes);

class Team {
 public:
  /// With BSP_CHECK=full it takes a superstep to find whether all make the same call.
  Team(Process& process, Group& group, CollectiveState& state, const CollectiveCall& call);
  /// The call is over: what is left of LastSync. What the program had sent before the call is gone,
  /// also where the call took one superstep: on how many it takes a program is not to depend.
  ~Team() {
    if (last_) group_.BeginNextSuperstep();
    if (!group_.inbox().empty()) group_.inbox().Clear();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  std::uint32_t p() const { return group_.p(); }
  std::uint32_t self() const { return Value(group_.self()); }
  const CollectiveCall& what() const { return what_; }
  CollectiveState& state() { return state_; }

  /// For p > 1. Tells of it on pid 0 if BSP_TRACE asks for that.
  Plan Choose();

  // ---- Areas

  /// An area of the library's, registered on all; the first time that takes a superstep.
  std::byte* Scratch();
  /// A job that returns on other nodes has what it registered.
  std::size_t scratch_bytes() const {
    return state_.scratch_bytes != 0 ? state_.scratch_bytes : ScratchBytes(NodesOf(group_));
  }
  bool HasRoom(std::size_t bytes) const { return bytes <= scratch_bytes(); }
  /// An address that no area of the program has: stands for an area that others have.
  const void* NameOfNothing();
  /// Registers `area` and ends the superstep. NULL: NameOfNothing, without bytes. All call it.
  const void* Register(const void* area, std::size_t bytes);
  /// The same, but that the next Register ends the superstep.
  void RegisterWithNext(const void* area, std::size_t bytes) {
    group_.Push(what_.call, reinterpret_cast<std::uintptr_t>(area), bytes);
  }
  /// From the next superstep on. So it is called in a collective's last superstep: else the program
  /// would still find `area` in place of its own registration of that address.
  void Unregister(const void* area) {
    group_.Pop(what_.call, reinterpret_cast<std::uintptr_t>(area));
  }

  // ---- Supersteps

  void Put(std::uint32_t pid, const void* src, const void* area, std::size_t offset,
           std::size_t bytes) {
    Move(Direction::kPut, pid, area, offset, const_cast<void*>(src), bytes);
  }
  void Get(std::uint32_t pid, const void* area, std::size_t offset, void* dst, std::size_t bytes) {
    Move(Direction::kGet, pid, area, offset, dst, bytes);
  }
  void Sync() {
    Finish();
    group_.BeginNextSuperstep();
  }
  /// The same, but for a superstep in which `send` sends what the program gave to the call. If this
  /// is the one in which the call was made, and puts or gets of the program's were due at its end,
  /// what was sent may be out of date by then: it is sent once more, in another superstep.
  template <typename Send>
  void Sync(const Send& send) {
    FinishSending(send);
    group_.BeginNextSuperstep();
  }
  /// The call's last one. Until the call is over others do not touch the memory of this process,
  /// though they may have gone on: it may still be writing the result.
  void LastSync() {
    Finish();
    last_ = true;
  }
  template <typename Send>
  void LastSync(const Send& send) {
    FinishSending(send);
    last_ = true;
  }

  /// Calls an operation of the program's; the calls that it belongs to take sizes as an int.
  void Operate(Operation op, void* result, const void* left, const void* right, std::size_t bytes) {
    int nbytes = static_cast<int>(bytes);
    process_.CallOperation(
        [&] { op(result, const_cast<void*>(left), const_cast<void*>(right), &nbytes); });
  }

 private:
  enum class Sent : std::uint8_t { kMayBeOld, kHolds };

  // That there were transfers of the program's is said as a vote that changes nothing: so it costs
  // others nothing. Where the program did change registrations they are taken to be there, too.
  Sent Finish() {
    const BarrierFlags all = process_.Finish(group_, what_.call.site, SuperstepOf::kCollective);
    const bool may_be_old = !settled_ && all.votes != 0;
    settled_ = true;
    return may_be_old ? Sent::kMayBeOld : Sent::kHolds;
  }
  template <typename Send>
  void FinishSending(const Send& send) {
    send();
    while (Finish() == Sent::kMayBeOld) {
      group_.BeginNextSuperstep();
      send();
    }
  }
  void Move(Direction direction, std::uint32_t pid, const void* area, std::size_t offset,
            void* local, std::size_t bytes);
  void Trace(const Plan& plan, const Machine& machine);
  void RequireAlike();
  void MapScratch();

  Process& process_;
  Group& group_;
  CollectiveState& state_;
  CollectiveCall what_;
  bool settled_;       ///< What the program gave to the call does not change any more.
  bool last_ = false;  ///< LastSync was called.
};

/// Where values arrive: in the scratch area, or where that is too small in memory of its own, which
/// is kept for the next call unless it is large.
class Landing {
 public:
  Landing(Team& team, std::size_t bytes);
  ~Landing();
  Landing(const Landing&) = delete;
  Landing& operator=(const Landing&) = delete;

  std::byte* data() const { return data_; }
  /// Nothing arrives after the superstep that runs.
  void Close() {
    if (registered_) team_.Unregister(data_);
  }

 private:
  Team& team_;
  MappedRegion& memory_;
  std::byte* data_;
  bool registered_;  ///< For this call.
};

// ---- The collectives. Each ends the superstep that runs. Addresses and sizes are checked before.

void Broadcast(Team& team, const void* src, void* dst);
void Scatter(Team& team, const void* src, void* dst);
void Gather(Team& team, const void* src, void* dst);
void Exchange(Team& team, const void* src, void* dst);
/// The value of each process, p values, in the library's own area, until the next call; they must
/// fit there.
const std::byte* GatherOnAll(Team& team, const void* value);

void Fold(Team& team, Operation op, const void* src, void* dst);
void Scan(Team& team, Operation op, const void* src, void* dst);

}  // namespace bspnow::runtime

#endif  // RUNTIME_COLLECTIVES_TEAM_H_
