#include "runtime/group.h"

#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "runtime/agreement.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint64_t kLeasePollNs = 100'000;
constexpr timespec kLeaseNap{.tv_sec = 0, .tv_nsec = 1'000'000};

// One letter of difference matters in the messages: dst for a put, src for a get.
const char* AreaName(Direction direction) { return direction == Direction::kPut ? "dst" : "src"; }

}  // namespace

// ---- Life -------------------------------------------------------------------------------------

void Group::Attach(const GroupSeat& seat) {
  segment_ = seat.segment;
  self_ = seat.self;
  p_ = seat.p;
  NodeHeader& header = segment_->header();
  several_nodes_ = header.nodes > 1;
  if (several_nodes_) doorbell_ = seat.doorbell;
  if (IsRoot()) {
    lanes_.Attach(*segment_, self_, seat.doorbell, seat.mailbox);
    DirectPeers::AllowIn();
  }
  std::uint32_t here = 0;
  for (std::uint32_t i = 0; i < p_; ++i) here += segment_->IsHere(Pid{i}) ? 1 : 0;
  turn_ = seat.turn;
  simulated_ = turn_.taken();
  // Records that carry call sites are not merged either.
  const bool apart =
      segment_->layout().check_full || !segment_->layout().message_sizes.as_they_are();
  const std::size_t site_bytes = apart ? sizeof(std::uint64_t) : 0;
  // The network takes longer than spinning is worth.
  wait_ = PollWait(here, several_nodes_ ? 0 : seat.processors);
  wait_.TakeTurns(seat.turn);
  barrier_ = BarrierMember(header.barrier, here, seat.barriers);
  registrations_.Attach(segment_->slots(self_), segment_->pops(self_, 0), segment_->pops(self_, 1));
  outbox_.Attach(*segment_, self_, p_, site_bytes);
  if (several_nodes_ && site_bytes == 0) outbox_.HandOverBy(doorbell_);
  delivery_.Attach(*segment_, registrations_, self_, p_, site_bytes);
  bulk_.Attach({.segment = *segment_, .lanes = lanes_, .delivery = delivery_, .outbox = outbox_},
               self_, p_);
  lanes_.SeeTo(bulk_.AsSideWork());
  direct_.Attach({.segment = *segment_,
                  .outbox = outbox_,
                  .delivery = delivery_,
                  .bulk = bulk_,
                  .wait = wait_},
                 self_, p_);
  recorder_.Attach(*segment_, self_, p_,
                   simulated_ ? Computing::kByTheThread : Computing::kByTheClock);
  figures_ = seat.figures;
  profile_.Attach(*segment_, self_);
  full_check_.Attach(*segment_, registrations_, direct_.peers(), self_, p_);
}

std::uint64_t Group::Begin() {
  PassBarrier(BarrierKind::kOther, {});
  return Start();
}

std::uint64_t Group::Start() {
  const std::uint64_t now_ns = WithinLease(NowNs());
  recorder_.Start(now_ns);
  BeginSuperstep();
  return now_ns;
}

void Group::End(std::uint64_t call_site) {
  SyncTimes times = Called(call_site);
  if (EndBarrierBefore()) barrier_.NoteCall(times.start_ns);
  segment_->cell(self_).in_end = 1;
  const BarrierFlags all =
      PassBarrier(BarrierKind::kOther, {.ending = 1, .called_ns = times.start_ns});
  times.last_ns = all.called_ns;
  if (all.ending != p_) ReportDifferentEnds(*segment_, self_, p_, call_site);
  times.released_ns = WithinLease(NowNs());
  Record(times);
  inbox_.Clear();
}

// Processes that get nothing answer nothing.
void Group::KeepCountersUp() {
  for (std::uint32_t i = 0; i < p_; ++i)
    segment_->cell(Pid{i}).answered.KeepUp(static_cast<std::uint32_t>(superstep_));
}

void Group::Record(const SyncTimes& times) {
  constexpr std::uint64_t kBetween = std::uint64_t{1} << 28;  // See SharedCounter::KeepUp.
  if (__builtin_expect(times.superstep % kBetween == kBetween - 1, 0)) KeepCountersUp();
  std::uint64_t site = profile_.SiteOf(times.call_site);
  if (__builtin_expect(figures_->any(), 0) && IsRoot()) {
    segment_->group_sums(self_, times.superstep) = figures_->Take();
    site |= kWithGroups;
  }
  recorder_.Record(times, site, outbox_);
  if (!IsRoot()) figures_->Add(segment_->measurement(self_, times.superstep), times.call_site);
  profile_.FoldIfDue(times.superstep + 1);
}

UseOfPart Group::Leave() {
  // Others may wait for the end of supersteps that this process will not be in.
  segment_->cell(self_).started.Publish(static_cast<std::uint32_t>(superstep_) + kLeftAhead);
  inbox_.Clear();
  const bool little = !outbox_.UsesMore() && !delivery_.UsesMore() && registrations_.FitsABlock();
  return {.extent = little ? Segment::PartUse::kLittle : Segment::PartUse::kMuch,
          .heap_bytes = delivery_.GiveBackAll() + outbox_.GiveBackAll()};
}

void Group::ComeBack(const GroupSeat& seat) {
  superstep_ = 0;
  const bool apart = outbox_.keeps_messages_apart();
  outbox_ = Outbox();
  if (apart) outbox_.KeepMessagesApart();
  bulk_ = BulkLanes();
  direct_ = DirectQueue();
  recorder_ = Recorder();
  Attach(seat);
  segment_->cell(self_).state.store(ProcessState::kRunning);
  inbox_.UseCopy();
  profile_.UseCopy();
  ExchangeRegistrationsAgain();
}

// Superstep 0 of the new epoch, and bsp_begin's barrier before it. The other nodes learn the
// registrations, as if all had been pushed now; and the coordinator all that groups did until now.
void Group::ExchangeRegistrationsAgain() {
  PassBarrier(BarrierKind::kOther, {});
  recorder_.Start(WithinLease(NowNs()));
  BeginSuperstep();
  SyncTimes times{.superstep = 0, .start_ns = NowNs(), .call_site = 0};
  if (full_check_.on()) PassBarrier(BarrierKind::kOther, {});
  registrations_.PushAgain();
  Vote();
  times.last_ns =
      PassBarrier(BarrierKind::kOther, {.votes = 1, .called_ns = times.start_ns}).called_ns;
  times.released_ns = WithinLease(NowNs());
  CompareVotes(*segment_, p_,
               {.superstep = superstep_, .parity = outbox_.parity(), .tag_bytes = tag_bytes_});
  registrations_.Commit();
  std::uint64_t site = 0;
  if (figures_->taken().supersteps != 0) {
    segment_->group_sums(self_, times.superstep) = figures_->taken();
    site = kWithGroups;
  }
  recorder_.Record(times, site, outbox_);
  profile_.AddReturn(NowNs() - times.start_ns);
  outbox_.NextSuperstep();
  superstep_ = 1;
}

SyncTimes Group::Called(std::uint64_t call_site) {
  const std::uint64_t now_ns = NowNs();
  recorder_.NoteCall();
  WithinLease(now_ns);
  return {.superstep = superstep_, .start_ns = now_ns, .call_site = call_site};
}

// The worker puts the lease off when it hears from its coordinator again; else it ends us.
std::uint64_t Group::AwaitLease() {
  const std::atomic<std::uint64_t>& until_ns = segment_->root().lease_until_ns;
  const std::uint64_t start_ns = NowNs();
  for (;;) {
    const std::uint64_t now_ns = NowNs();
    if (now_ns < until_ns.load(std::memory_order_acquire)) return now_ns;
    if (now_ns - start_ns < kLeasePollNs) {
      sched_yield();
    } else {
      nanosleep(&kLeaseNap, nullptr);  // tidy: the worker writes the word and wakes nobody
    }
  }
}

// ---- Checks: one for all calls --------------------------------------------------------------

void Group::ReportPid(Call call, std::int64_t pid) const {
  ReportMisuse(call, "pid %lld is outside 0..%u; p is %u", static_cast<long long>(pid), p_ - 1, p_);
}

void Group::ReportRange(const Transfer& transfer, SlotId slot, std::uint64_t there) const {
  const char* area = AreaName(transfer.direction);
  const auto address = reinterpret_cast<std::uintptr_t>(transfer.area);
  const auto pid = static_cast<long long>(transfer.pid);
  if (transfer.local == nullptr) {
    ReportMisuse(
        transfer.caller(), "%s is NULL with nbytes = %llu; give the address of the data",
        AreaName(transfer.direction == Direction::kPut ? Direction::kGet : Direction::kPut),
        Printable(transfer.bytes));
  }
  if (slot == kNoSlot && address == 0) {
    ReportMisuse(transfer.caller(),
                 "%s is NULL, which is not registered, even if bsp_push_reg was called with it;"
                 " register an address here, too, of size 0 where this process has nothing",
                 area);
  }
  if (slot == kNoSlot && registrations_.PushedNow(address)) {
    ReportMisuse(transfer.caller(),
                 "%s 0x%llx is not registered yet: it was registered in this"
                 " superstep; use it after the next bsp_sync",
                 area, Printable(address));
  }
  if (slot == kNoSlot) {
    ReportMisuse(transfer.caller(),
                 "%s 0x%llx is not registered; call bsp_push_reg and bsp_sync on all"
                 " processes first, and name the start of the area",
                 area, Printable(address));
  }
  const Pid remote{static_cast<std::uint32_t>(transfer.pid)};
  if (segment_->slots(remote)[Value(slot)].address == 0) {
    ReportMisuse(transfer.caller(),
                 "%s 0x%llx is not registered on pid %lld, which registered NULL for it; register"
                 " an area there",
                 area, Printable(address), pid);
  }
  ReportMisuse(transfer.caller(),
               "offset %llu + %llu bytes is beyond the %llu bytes registered by pid"
               " %lld for %s 0x%llx; register a larger area there, or transfer less",
               Printable(transfer.offset), Printable(transfer.bytes), Printable(there), pid, area,
               Printable(address));
}

}  // namespace bspnow::runtime
