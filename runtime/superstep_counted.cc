// Group: supersteps that end by the number of messages received (oblivious synchronization).
//
// Who sends puts a stamp on its directory entry for each process that it sends something to, and
// says so in the other's cell. Entries and heaps are used again two supersteps later, as ever; but
// who is in superstep s + 2 has not seen all others leave s + 1. So at the end of s + 1 a process
// waits for those that it sent something to in s, who may be reading it until they end s + 1. That
// cannot go round in a circle: a process that is in the earliest superstep of all waits for
// messages only, and whoever owes it some is in that superstep, or has sent them. Who leaves the
// group has ended all supersteps. For the same reason all may wait for whoever is hundreds of
// supersteps behind, so that figures of all are added up (MakeRoom).
//
// On several nodes such a superstep ends with a barrier. But where that goes by lanes (lane.h) the
// processes of a node go on as soon as the frames that have come hold the messages that they wait
// for, ahead of the barrier, and see to its end when they come to the end of the next superstep. So
// nothing of a superstep is used again before all have what was sent in it, and every node, worker
// or image that takes part in a barrier finds what it finds at any other.
#include <cstdio>

#include "base/clock.h"
#include "base/units.h"
#include "runtime/agreement.h"
#include "runtime/group.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint64_t kPatienceNs = kNsPerS / 10;

struct SuperstepName {
  char text[48];
};

// Messages name that of the root group themselves.
__attribute__((cold)) SuperstepName NameOf(const Group& group, std::uint64_t superstep) {
  SuperstepName name;
  if (group.IsRoot()) {
    std::snprintf(name.text, sizeof name.text, "the superstep");
  } else {
    std::snprintf(name.text, sizeof name.text, "superstep %llu of the group",
                  static_cast<unsigned long long>(superstep));
  }
  return name;
}

}  // namespace

/// A call that waits for messages, or for a process to begin superstep `begins`. Now and then it
/// looks whether that can come any more.
struct Group::CountedCall {
  const Group& group;
  Call call;
  std::uint64_t messages;
  std::uint64_t next_look_ns;
  void (Group::*look)(const CountedCall& wait) const = &Group::RequireThatSomeCome;
  Pid pid{};
  std::uint64_t begins = 0;

  SideWork AsSideWork();
};

void Group::FinishByCount(Call call, std::uint64_t messages) {
  RequireMessagesOnly(call);
  SyncTimes times = Called(call.site);
  if (!outbox_.empty()) outbox_.Seal();
  RequireThatNoneHasEnded(call);
  outbox_.Announce(superstep_);
  SharedCounter& announced = segment_->cell(self_).announced;
  CountedWait& counted_wait = segment_->cell(self_).counted_wait;
  CountedCall counted{.group = *this,
                      .call = call,
                      .messages = messages,
                      .next_look_ns = times.start_ns + kPatienceNs};
  for (;;) {
    const std::uint32_t seen = announced.value.load(std::memory_order_acquire);
    times.counted = Announced();
    const std::uint64_t here = times.counted.count;
    RequireCount(call, messages, here < messages ? messages : here);
    if (here == messages) break;
    counted_wait.expected.store(messages, std::memory_order_relaxed);
    counted_wait.here.store(here, std::memory_order_relaxed);
    counted_wait.superstep.store(superstep_ + 1, std::memory_order_release);
    AwaitMessages(counted, seen);
  }
  counted_wait.superstep.store(0, std::memory_order_relaxed);
  times.last_ns = times.released_ns = WithinLease(NowNs());
  const unsigned parity = outbox_.parity();
  delivery_.DropOwn();
  inbox_.Fill(*segment_, self_, p_, parity, tag_bytes_, superstep_ + 1);
  registrations_.Commit();
  if (!outbox_.empty() || messages != 0) times.traffic = SyncTimes::Traffic::kCounted;
  if (IsRoot()) MakeRoom(call);
  Record(times);
  superstep_ += 1;
}

void Group::BeginByCount(Call call) {
  BeginSuperstep();
  if (barrier_before_) AwaitBarriersReaders();
  barrier_before_ = false;
  // Who has begun superstep s + 1 has ended s, and does not read what came in s - 1 any more.
  for (const std::uint32_t pid : outbox_.readers())
    if (Pid{pid} != self_) AwaitBegin(call, Pid{pid}, superstep_);
  outbox_.NextSuperstep();
}

// ---- Over several nodes -------------------------------------------------------------------------

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
    RequireAlike(all, superstep_, outbox_.parity());
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
    if (barrier_.WaitForNews(wait_, news)) return true;
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
  lanes_.ComeBack(barrier);
  wait_.Until(segment_->header().barrier.released, barrier + 1);
  const BarrierPhase& phase = segment_->header().barrier.phases[barrier & 1];
  RequireAlike({.votes = phase.with_votes.load(std::memory_order_relaxed),
                .ending = phase.ending.load(std::memory_order_relaxed)},
               superstep_ - 1, outbox_.parity() ^ 1);
  const std::uint32_t by_count = phase.by_count.load(std::memory_order_relaxed);
  if (__builtin_expect(by_count != 0 && by_count != p_, 0)) {
    superstep_ -= 1;  // That is the one to be named.
    ReportMixedEnds(ahead_call_, by_count);
  }
  return true;
}

// Whether all processes ended that superstep by a count, or without registering anything.
void Group::RequireAlike(const BarrierFlags& all, std::uint64_t superstep, unsigned parity) const {
  if (all.ending != 0) ReportDifferentEnds(*segment_, self_, p_);
  if (all.votes != 0) CompareVotes(*segment_, p_, superstep, parity, tag_bytes_);
}

// ---- Within a node ------------------------------------------------------------------------------

// Who passed that barrier looks at all entries, stamps or not, also those of processes that sent it
// nothing.
void Group::AwaitBarriersReaders() {
  for (std::uint32_t i = 0; i < p_; ++i)
    wait_.Until(segment_->cell(Pid{i}).started, static_cast<std::uint32_t>(superstep_));
}

// Until more of them are announced. Who ends a superstep by a count wakes nobody, so a wait that is
// long looks now and then whether anything can come any more.
void Group::AwaitMessages(CountedCall& counted, std::uint32_t seen) {
  SharedCounter& announced = segment_->cell(self_).announced;
  const Watched news{announced.value, seen};
  if (simulated_) {
    for (; !news.Changed(); turn_.Pass()) RequireThatSomeCome(counted);
    return;
  }
  wait_.UntilNews(announced, seen + 1, news, counted.AsSideWork());
}

SideWork Group::CountedCall::AsSideWork() {
  return {.see_to =
              [](void* context, std::uint64_t now_ns) {
                auto& wait = *static_cast<CountedCall*>(context);
                if (now_ns >= wait.next_look_ns) {
                  (wait.group.*wait.look)(wait);
                  wait.next_look_ns = now_ns + kPatienceNs;
                }
                return wait.next_look_ns - now_ns;
              },
          .name_sources = nullptr,
          .sleep = [](void*) { return false; },
          .awake = [](void*) {},
          .context = this};
}

void Group::MakeRoom(Call call) {
  const std::uint64_t ended = recorder_.AwaitedBefore(superstep_);
  if (ended == 0) return;
  for (std::uint32_t i = 0; i < p_; ++i) AwaitBegin(call, Pid{i}, ended);
  recorder_.MakeRoom(ended);
}

bool Group::HasBegun(Pid pid, std::uint64_t superstep) const {
  const std::uint32_t started = segment_->cell(pid).started.value.load(std::memory_order_acquire);
  return static_cast<std::int32_t>(started - static_cast<std::uint32_t>(superstep + 1)) >= 0;
}

void Group::AwaitBegin(Call call, Pid pid, std::uint64_t superstep) {
  if (__builtin_expect(HasBegun(pid, superstep), 1)) return;
  SharedCounter& started = segment_->cell(pid).started;
  CountedCall wait{.group = *this,
                   .call = call,
                   .messages = 0,
                   .next_look_ns = NowNs() + kPatienceNs,
                   .look = &Group::RequireThatItBegins,
                   .pid = pid,
                   .begins = superstep};
  while (!HasBegun(pid, superstep)) {
    const Watched news{started.value, started.value.load(std::memory_order_acquire)};
    if (simulated_) {
      RequireThatItBegins(wait);
      turn_.Pass();
    } else if (!HasBegun(pid, superstep)) {
      wait_.UntilNews(started, static_cast<std::uint32_t>(superstep + 1), news, wait.AsSideWork());
    }
  }
}

// It does not if it waits at a barrier, which this process has not come to: so where it is found
// there first, what it has begun is the last of it.
void Group::RequireThatItBegins(const CountedCall& wait) const {
  const std::uint32_t released = segment_->header().barrier.released.value.load();
  const ProcessCell& cell = segment_->cell(wait.pid);
  if (static_cast<std::int32_t>(cell.arrived.load(std::memory_order_acquire) - released) <= 0)
    return;
  if (!HasBegun(wait.pid, wait.begins)) ReportOtherEnd(wait.call, wait.pid);
}

void Group::ReportOtherEnd(Call call, Pid pid) const {
  ReportMisuse(call,
               "pid %u ends this superstep by bsp_sync, or the program; end it by bsp_oblsync on"
               " all processes",
               Value(pid));
}

// Nothing comes if all others have ended the superstep, or wait at its end as this process does:
// each has announced its messages before it can be seen there.
void Group::RequireThatSomeCome(const CountedCall& wait) const {
  const auto ended = static_cast<std::uint32_t>(superstep_ + 2);
  const std::uint32_t released = segment_->header().barrier.released.value.load();
  std::uint32_t at_barrier = p_;
  for (std::uint32_t i = 0; i < p_; ++i) {
    const ProcessCell& cell = segment_->cell(Pid{i});
    const bool has_ended = static_cast<std::int32_t>(cell.started.value.load() - ended) >= 0;
    if (has_ended || cell.counted_wait.superstep.load() > superstep_) continue;
    if (static_cast<std::int32_t>(cell.arrived.load() - released) <= 0) return;
    at_barrier = i;
  }
  if (at_barrier != p_ && Announced().count != wait.messages)
    ReportOtherEnd(wait.call, Pid{at_barrier});
  RequireCount(wait.call, wait.messages, Announced().count);
}

CountedMessages Group::Announced() const {
  const unsigned parity = outbox_.parity();
  CountedMessages counted;
  for (std::uint32_t i = 0; i < p_; ++i) {
    if (segment_->stamp(Pid{i}, self_, parity).load(std::memory_order_acquire) != superstep_ + 1)
      continue;
    const DirectoryEntry& entry = segment_->entry(Pid{i}, self_, parity);
    counted.count += entry.message_count;
    if (Pid{i} != self_) counted.bytes += entry.bytes_to;
  }
  return counted;
}

void Group::RequireMessagesOnly(Call call) {
  if (HasTransfers()) {
    ReportMisuse(call, "puts and gets were issued in this superstep; end it by bsp_sync");
  }
}

// By a count that did not wait for what is about to be announced. Who has left the group is far
// ahead (Leave), and reads nothing any more.
void Group::RequireThatNoneHasEnded(Call call) const {
  const auto ended = static_cast<std::uint32_t>(superstep_ + 2);
  for (const std::uint32_t pid : outbox_.destinations()) {
    const SharedCounter& started = segment_->cell(Pid{pid}).started;
    if (started.value.load(std::memory_order_acquire) - ended >= kLeftAhead / 2) continue;
    ReportMisuse(call,
                 "pid %u has ended this superstep without the messages that this process sends to"
                 " it; give the number that all processes together send to it there",
                 pid);
  }
}

void Group::RequireCount(Call call, std::uint64_t wanted, std::uint64_t sent) const {
  if (wanted == sent) return;
  ReportMisuse(call,
               "%llu messages are expected, and %llu were sent to this process in %s; give the"
               " number that all processes together send to it",
               static_cast<unsigned long long>(wanted), static_cast<unsigned long long>(sent),
               NameOf(*this, superstep_).text);
}

// Of processes on other nodes only their number is known.
void Group::ReportMixedEnds(Call mine, std::uint32_t by_count) const {
  LeaveTheReportToPidZerosNode(*segment_);
  ReportMisuse(mine,
               "%u of %u processes end %s by bsp_oblsync, and the others by bsp_sync; end it by the"
               " same call on all processes",
               by_count, p_, NameOf(*this, superstep_).text);
}

}  // namespace bspnow::runtime
