// Group: supersteps that end by the number of messages received, of a group on several nodes.
// It ends with a barrier. But where that goes by lanes (lane.h) the processes of a node go on as
// soon as the frames that have come hold the messages that they wait for, ahead of the barrier, and
// see to its end when they come to the end of the next superstep. So nothing of a superstep is used
// again before all have what was sent in it, and every node, worker or image that takes part in a
// barrier finds what it finds at any other.
#include "base/clock.h"
#include "base/units.h"
#include "runtime/agreement.h"
#include "runtime/group.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {
namespace {

// Who goes ahead wakes the others here, and one that falls asleep in that moment does not hear it.
// The end of the barrier would wake it, too: but who has gone ahead may wait for it before that, in
// another group. So it looks again.
SideWork LooksAgain() {
  constexpr std::uint64_t kBetweenLooksNs = 5 * kNsPerMs;
  return {.see_to = [](void*, std::uint64_t) { return kBetweenLooksNs; },
          .name_sources = nullptr,
          .sleep = [](void*) { return false; },
          .awake = [](void*) {},
          .context = nullptr};
}

}  // namespace

BarrierFlags Group::FinishCounted(Call call, std::uint64_t messages, OtherGroups others) {
  RequireMessagesOnly(call);
  SyncTimes times = Called(call.site);
  if (EndBarrierBefore()) barrier_.NoteCall(times.start_ns);
  if (!outbox_.empty()) outbox_.Seal();
  ProcessCell& cell = segment_->cell(self_);
  cell.expected = messages;
  cell.counted_wait.expected.store(messages, std::memory_order_relaxed);
  cell.counted_wait.superstep.store(superstep_ + 1, std::memory_order_relaxed);
  const std::uint32_t barrier = barrier_.index();
  const bool over = PassCounted({.data = outbox_.empty() ? 0u : 1u,
                                 .groups = others == OtherGroups::kOpen ? 1u : 0u,
                                 .by_count = 1,
                                 .called_ns = times.start_ns});
  times.released_ns = WithinLease(NowNs());
  const BarrierFlags all = barrier_.Leave();
  if (over) cell.counted_wait.superstep.store(0, std::memory_order_relaxed);  // Nor for an image.
  times.last_ns = over ? all.called_ns : times.released_ns;
  delivery_.DropOwn();
  if (!over) {
    ahead_ = true;
    ahead_call_ = call;
    times.counted = FillFromLanes(barrier);
    if (!outbox_.empty() || messages != 0) times.traffic = SyncTimes::Traffic::kCounted;
  } else {
    RequireAlike(all, superstep_, outbox_.parity(), call.site);
    RequireOneEnd(call, all.by_count);
    inbox_.Clear();
    if (all.data != 0) {
      inbox_.Fill(*segment_, self_, p_, outbox_.parity(), tag_bytes_);
      times.traffic = SyncTimes::Traffic::kByAll;
    }
  }
  RequireCount(call, messages, inbox_.count());
  registrations_.Commit();
  Record(times);
  outbox_.NextSuperstep();
  if (ahead_) outbox_.KeepChunks();
  superstep_ += 1;
  return over ? all : BarrierFlags{};
}

// False: this process may go on, and the barrier is not over.
bool Group::PassCounted(const BarrierFlags& mine) {
  const std::uint32_t barrier = barrier_.index();
  segment_->cell(self_).arrived.store(barrier + 1, std::memory_order_release);
  if (barrier_.Arrive(mine)) {
    barrier_.NoteGroups(segment_->header().groups);
    if (lanes_.Send(barrier, LaneDriver::Until::kCounted)) {
      lanes_.Drive(barrier, LaneDriver::Until::kCounted);
    } else {
      doorbell_.AllArrived(barrier);
    }
  }
  for (;;) {
    const Watched news = lanes_.AheadNews();
    if (lanes_.MayGoAhead(barrier)) return false;
    if (barrier_.WaitForNews(wait_, news, LooksAgain())) return true;
  }
}

// From where the messages lie: directories are written when the barrier is over.
CountedMessages Group::FillFromLanes(std::uint32_t barrier) {
  CountedMessages counted;
  lane_messages_.clear();
  lane_messages_.Resize(p_);
  lanes_.FindMessages(barrier, &lane_messages_[0]);
  inbox_.Begin(*segment_, outbox_.parity(), tag_bytes_);
  for (std::uint32_t q = 0; q < p_; ++q) {
    const DirectoryEntry& entry = segment_->entry(Pid{q}, self_, outbox_.parity());
    const LaneMessages found =
        segment_->IsHere(Pid{q})
            ? LaneMessages{entry.messages, entry.message_count, entry.message_bytes, entry.bytes_to}
            : lane_messages_[q];
    if (found.count == 0) continue;
    inbox_.Add(Pid{q}, found.first_chunk, found.count, found.bytes);
    counted.count += found.count;
    if (Pid{q} != self_) counted.bytes += found.bytes_to;
  }
  inbox_.Ready();
  return counted;
}

// True: there was one that these processes had left before it was over. Then who calls this has
// called bsp_sync before that, and may have waited since.
bool Group::EndBarrierBefore() {
  if (__builtin_expect(!ahead_, 1)) return false;
  ahead_ = false;
  outbox_.HandChunks();
  const std::uint32_t barrier = barrier_.index() - 1;
  std::atomic<std::uint64_t>& waits = segment_->cell(self_).counted_wait.superstep;
  waits.store(superstep_ + 2, std::memory_order_relaxed);
  lanes_.ComeBack(barrier);
  wait_.Until(segment_->header().barrier.released, barrier + 1);
  waits.store(0, std::memory_order_relaxed);
  const BarrierPhase& phase = segment_->header().barrier.phases[barrier & 1];
  RequireAlike({.votes = phase.with_votes.load(std::memory_order_relaxed),
                .ending = phase.ending.load(std::memory_order_relaxed)},
               superstep_ - 1, outbox_.parity() ^ 1, ahead_call_.site);
  const std::uint32_t by_count = phase.by_count.load(std::memory_order_relaxed);
  if (__builtin_expect(by_count != 0 && by_count != p_, 0)) {
    superstep_ -= 1;  // That is the one to be named.
    ReportMixedEnds(ahead_call_, by_count);
  }
  if (phase.with_data.load(std::memory_order_relaxed) != 0) RequireThatNoMoreCame();
  return true;
}

// Since this process went on with those that it expected.
void Group::RequireThatNoMoreCame() {
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < p_; ++i)
    count += segment_->entry(Pid{i}, self_, outbox_.parity() ^ 1).message_count;
  const std::uint64_t expected = segment_->cell(self_).expected;
  if (__builtin_expect(count == expected, 1)) return;
  superstep_ -= 1;
  RequireCount(ahead_call_, expected, count);
}

// Whether all processes ended that superstep by a count, or without registering anything.
void Group::RequireAlike(const BarrierFlags& all, std::uint64_t superstep, unsigned parity,
                         std::uint64_t call_site) const {
  if (all.ending != 0) ReportDifferentEnds(*segment_, self_, p_, call_site);
  if (all.votes == 0) return;
  CompareVotes(
      *segment_, p_,
      {.superstep = superstep, .parity = parity, .tag_bytes = tag_bytes_, .call_site = call_site});
}

}  // namespace bspnow::runtime
