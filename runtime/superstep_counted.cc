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
// Images are taken at barriers of the root group. So if one is due all end one of its supersteps by
// a barrier: see AgreeOnImage.
//
// Over several nodes: see superstep_ahead.cc.
#include <sched.h>
#include <time.h>

#include <algorithm>
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

/// In ImageOrder::ends_at: how many processes have come to the end of that superstep.
constexpr int kCameShift = 48;
constexpr std::uint64_t kOneCame = std::uint64_t{1} << kCameShift;

std::uint64_t SuperstepOf(std::uint64_t ends_at) { return ends_at & (kOneCame - 1); }

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

// Whether this superstep is the one that all end by a barrier: the first one that nobody had begun
// when it was chosen. Who begins one says so (`started`) before it comes here and looks at
// `ends_at`, and who chooses changes `ends_at` before it looks at what all have begun: so one of
// the two sees the other, and nobody ends that superstep without having seen that it is chosen.
// While a process has a group open none is chosen: no image could be taken there, and that process
// may wait in its group for one that would wait here. A group may be opened until all have come to
// the end of that superstep: then it is given up. A superstep of the past means nothing: all have
// come to its barrier.
bool Group::AgreeOnImage() {
  NodeHeader& header = segment_->header();
  ImageOrder& order = header.image;
  const std::uint64_t now = superstep_ + 1;
  std::uint64_t at = order.ends_at.load();
  for (; at == ImageOrder::kChoosing; at = order.ends_at.load()) sched_yield();
  const std::uint64_t superstep = SuperstepOf(at);
  if (superstep >= now) return superstep == now && ComeToImage(now);
  if (order.wanted.load() <= order.taken.load() || header.groups.open.load() != 0) return false;
  if (!order.ends_at.compare_exchange_strong(at, ImageOrder::kChoosing)) return AgreeOnImage();
  std::int32_t ahead = 0;
  for (std::uint32_t i = 0; i < p_; ++i) {
    const std::uint32_t started = segment_->cell(Pid{i}).started.value.load();
    ahead = std::max(ahead, static_cast<std::int32_t>(started - static_cast<std::uint32_t>(now)));
  }
  order.ends_at.store(now + static_cast<std::uint32_t>(ahead) + 1);
  return false;
}

// At the end of superstep `now`, which was chosen. False: it is given up, since a process has a
// group open. Nobody leaves before all have come, or somebody waits at a barrier, where no count is
// waited for: there it is found that all do not end the superstep alike.
bool Group::ComeToImage(std::uint64_t now) {
  constexpr timespec kRest{.tv_sec = 0, .tv_nsec = 100'000};
  constexpr int kLooks = 1000;
  NodeHeader& header = segment_->header();
  std::atomic<std::uint64_t>& ends_at = header.image.ends_at;
  std::uint64_t at = ends_at.load();
  do {
    if (SuperstepOf(at) != now) return false;
  } while (!ends_at.compare_exchange_weak(at, at + kOneCame));
  for (int look = 0;; ++look) {
    at = ends_at.load();
    if (SuperstepOf(at) != now) return false;
    if (at >> kCameShift == p_ || SomeoneIsAtBarrier()) return true;
    if (header.groups.open.load() != 0) {
      if (ends_at.compare_exchange_strong(at, 0)) return false;
    } else if (look < kLooks) {
      sched_yield();
    } else {
      nanosleep(&kRest, nullptr);  // tidy: others compute, and several words may change
    }
  }
}

bool Group::SomeoneIsAtBarrier() const {
  const std::uint32_t released = segment_->header().barrier.released.value.load();
  for (std::uint32_t i = 0; i < p_; ++i) {
    const std::uint32_t arrived = segment_->cell(Pid{i}).arrived.load(std::memory_order_acquire);
    if (static_cast<std::int32_t>(arrived - released) > 0) return true;
  }
  return false;
}

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

// For one superstep; and what all have ended by now is added up with it, so that this is rare.
void Group::MakeRoom(Call call) {
  const std::uint64_t least = recorder_.AwaitedBefore(superstep_);
  if (least == 0) return;
  std::uint64_t ended = superstep_;
  for (std::uint32_t i = 0; i < p_; ++i) {
    AwaitBegin(call, Pid{i}, least);
    const std::uint32_t started = segment_->cell(Pid{i}).started.value.load();
    const auto ahead = static_cast<std::int32_t>(started - static_cast<std::uint32_t>(ended + 1));
    if (ahead < 0) ended -= static_cast<std::uint32_t>(-ahead);
  }
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
  std::atomic<std::uint64_t>& behind = segment_->cell(self_).counted_wait.behind;
  behind.store(CountedWait::WordOf(Value(pid), static_cast<std::uint32_t>(superstep + 1)));
  while (!HasBegun(pid, superstep)) {
    const Watched news{started.value, started.value.load(std::memory_order_acquire)};
    if (simulated_) {
      RequireThatItBegins(wait);
      turn_.Pass();
    } else if (!HasBegun(pid, superstep)) {
      wait_.UntilNews(started, static_cast<std::uint32_t>(superstep + 1), news, wait.AsSideWork());
    }
  }
  behind.store(0);
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

// By the last to arrive at a barrier, where some ended the superstep before by a count: they may be
// in different ones, and would read messages of others than their own.
void Group::RequireOneSuperstep() const {
  const std::uint64_t first = IsRoot() ? segment_->header().first_superstep : 0;
  const auto here = static_cast<std::uint32_t>(superstep_ + 1);
  for (std::uint32_t i = 0; i < p_; ++i) {
    const std::uint32_t started = segment_->cell(Pid{i}).started.value.load();
    const auto ahead = static_cast<std::int32_t>(started - here);
    if (ahead == 0) continue;
    const Call call = counted_end_.due ? counted_end_.call : Call{"bsp_sync"};
    const auto own = static_cast<unsigned long long>(first + superstep_);
    const long long others = static_cast<long long>(own) + ahead;
    if (others < 0)  // Several threads of this process have counted its supersteps.
      ReportMisuse(call,
                   "this process ends superstep %llu, and pid %u has begun none; let one thread of"
                   " each process call",
                   own, i);
    ReportMisuse(call,
                 "this process ends superstep %llu, and pid %u superstep %lld; end each by the same"
                 " call on all processes",
                 own, i, others);
  }
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
