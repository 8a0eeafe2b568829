#include "runtime/link/lane_barrier.h"

#include <algorithm>
#include <bit>

namespace bspnow {
namespace {

// As LaneState has it.
constexpr std::uint32_t Number(std::uint32_t barrier) { return barrier + 1; }

}  // namespace

bool LaneBarrier::MayCarry(std::uint32_t barrier, ImageAt image) const {
  const std::uint32_t from = state_->on_from.load(std::memory_order_acquire);
  const std::uint32_t hold = state_->hold.load(std::memory_order_relaxed);
  return from != 0 && static_cast<std::int32_t>(Number(barrier) - from) >= 0 &&
         (hold == kHoldNone || (hold == kHoldForImage && image == ImageAt::kNo)) &&
         !MustStop(barrier);
}

bool LaneBarrier::MustStop(std::uint32_t barrier) const {
  return state_->off.load(std::memory_order_seq_cst) != 0 ||
         state_->broken.load(std::memory_order_relaxed) != 0 || LeftToWorker(barrier);
}

bool LaneBarrier::LeftToWorker(std::uint32_t barrier) const {
  return state_->by_worker.load(std::memory_order_seq_cst) == Number(barrier);
}

// ---- The last process to arrive -----------------------------------------------------------------

// `sending` before the look at `off`, as TurnOff is before the look at `sending`: one of the two
// sees the other.
bool LaneBarrier::BeginSending(std::uint32_t barrier, ImageAt image) {
  state_->sending.store(1, std::memory_order_seq_cst);
  if (!MayCarry(barrier, image)) {
    GiveUpSending();
    return false;
  }
  // The frames of the second barrier before this are overwritten from now on, while the worker may
  // copy them: see StillComposed.
  state_->composed[barrier & 1].store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  return true;
}

void LaneBarrier::GiveUpSending() { state_->sending.store(0, std::memory_order_seq_cst); }

void LaneBarrier::NoteComposed(std::uint32_t barrier, std::uint32_t direct) {
  state_->direct[self_][barrier & 1] = direct;
  state_->relayed = 0;
  state_->composed[barrier & 1].store(Number(barrier), std::memory_order_release);
  state_->sent.store(Number(barrier), std::memory_order_seq_cst);
}

void LaneBarrier::EndSending() { state_->sending.store(0, std::memory_order_seq_cst); }

// ---- Who drives ---------------------------------------------------------------------------------

bool LaneBarrier::TryToDrive(std::uint32_t pid) {
  std::uint32_t nobody = 0;
  if (!state_->driver.compare_exchange_strong(nobody, pid + 1, std::memory_order_seq_cst))
    return false;
  if (!off()) return true;
  StopDriving();
  return false;
}

void LaneBarrier::StopDriving() { state_->driver.store(0, std::memory_order_seq_cst); }

bool LaneBarrier::Lacks(std::uint32_t host, std::uint32_t barrier) const {
  return host != self_ &&
         state_->here[host][barrier & 1].load(std::memory_order_acquire) != Number(barrier);
}

bool LaneBarrier::LacksAny(std::uint32_t barrier) const {
  for (std::uint32_t host = 0; host < hosts_; ++host)
    if (Lacks(host, barrier)) return true;
  return false;
}

// A peer can be one barrier ahead: it had this node's frame, but the release here is still to come.
bool LaneBarrier::CanCome(std::uint32_t barrier, std::uint32_t released) const {
  return barrier == released || barrier == released + 1;
}

// Each head comes once, and each frame; but a worker may have been faster.
bool LaneBarrier::Takes(const LaneArrival& frame, std::uint32_t released) const {
  const bool whole = frame.by == frame.host || (frame.direct >> self_ & 1) == 0;
  return whole && CanCome(frame.barrier, released) && Lacks(frame.host, frame.barrier);
}

void LaneBarrier::NoteHere(const LaneArrival& frame) {
  state_->direct[frame.host][frame.barrier & 1] = frame.direct;
  NoteHere(frame.host, frame.barrier);
}

void LaneBarrier::NoteHere(std::uint32_t host, std::uint32_t barrier) {
  state_->here[host][barrier & 1].store(Number(barrier), std::memory_order_release);
}

bool LaneBarrier::Sent(std::uint32_t barrier) const {
  return state_->sent.load(std::memory_order_seq_cst) == Number(barrier);
}

bool LaneBarrier::Composed(std::uint32_t barrier) const {
  return state_->composed[barrier & 1].load(std::memory_order_acquire) == Number(barrier);
}

bool LaneBarrier::StillComposed(std::uint32_t barrier) const {
  std::atomic_thread_fence(std::memory_order_acquire);
  return Composed(barrier);
}

bool LaneBarrier::Complete(std::uint32_t barrier) const {
  return Sent(barrier) && !LacksAny(barrier);
}

bool LaneBarrier::Finished(std::uint32_t barrier) const {
  return Complete(barrier) && state_->relayed + 1 == std::bit_ceil(hosts_);
}

// ---- Heads that go by way of others -------------------------------------------------------------

// A step needs the heads of the steps before, and the last one only those that the receiver lacks
// by then: so it may be due before them.
bool LaneBarrier::TakeRelay(std::uint32_t barrier, LaneRelay& relay) {
  for (std::uint32_t places = 1; places < hosts_; places *= 2) {
    if ((state_->relayed & places) != 0) continue;
    relay = {.to = (self_ + places) % hosts_, .heads = 0};
    const std::uint32_t count = std::min(places, hosts_ - places);
    std::uint32_t i = 0;
    for (; i < count && !Lacks(Before(i), barrier); ++i) {
      const std::uint32_t host = Before(i);
      if ((state_->direct[host][barrier & 1] >> relay.to & 1) == 0) relay.heads |= 1u << host;
    }
    if (i != count) continue;
    state_->relayed |= places;
    if (relay.heads != 0) return true;
  }
  return false;
}

std::uint32_t LaneBarrier::SourceOf(std::uint32_t host) const {
  return Before(std::bit_floor((self_ + hosts_ - host) % hosts_));
}

std::uint32_t LaneBarrier::LikelySource(std::uint32_t host, std::uint32_t barrier) const {
  return (state_->direct[host][(barrier - 1) & 1] >> self_ & 1) != 0 ? host : SourceOf(host);
}

std::uint32_t LaneBarrier::Awaited(std::uint32_t barrier) const {
  std::uint32_t hosts = 0;
  for (std::uint32_t host = 0; host < hosts_; ++host)
    if (Lacks(host, barrier)) hosts |= 1u << host | 1u << SourceOf(host);
  return hosts;
}

// ---- Gets ---------------------------------------------------------------------------------------

void LaneBarrier::NotePieces(std::uint32_t barrier) {
  state_->in_parts.store(Number(barrier), std::memory_order_relaxed);
}

void LaneBarrier::NoteAsked(std::uint32_t host, std::uint32_t barrier) {
  state_->asked[host].store(Number(barrier), std::memory_order_relaxed);
}

void LaneBarrier::NoteGets(std::uint32_t barrier) {
  state_->with_gets.store(Number(barrier), std::memory_order_release);
}

bool LaneBarrier::HasGets(std::uint32_t barrier) const {
  return state_->with_gets.load(std::memory_order_acquire) == Number(barrier);
}

bool LaneBarrier::LacksAnswers(std::uint32_t host, std::uint32_t barrier) const {
  return host != self_ && HasGets(barrier) &&
         state_->asked[host].load(std::memory_order_relaxed) == Number(barrier) &&
         state_->answers_here[host].load(std::memory_order_acquire) != Number(barrier);
}

bool LaneBarrier::LacksAnyAnswers(std::uint32_t barrier) const {
  for (std::uint32_t host = 0; host < hosts_; ++host)
    if (LacksAnswers(host, barrier)) return true;
  return false;
}

void LaneBarrier::NoteAnswersHere(std::uint32_t host, std::uint32_t barrier) {
  state_->answers_here[host].store(Number(barrier), std::memory_order_release);
}

void LaneBarrier::BeginAnswers() {
  state_->answers.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
}

void LaneBarrier::NoteAnswers(std::uint32_t barrier) {
  state_->answers.store(Number(barrier), std::memory_order_seq_cst);
}

bool LaneBarrier::HasAnswers(std::uint32_t barrier) const {
  return state_->answers.load(std::memory_order_seq_cst) == Number(barrier);
}

bool LaneBarrier::StillHasAnswers(std::uint32_t barrier) const {
  std::atomic_thread_fence(std::memory_order_acquire);
  return HasAnswers(barrier);
}

// As BeginSending; the worker looks for answers after TurnOff and Abandoned, and they are noted
// before this.
bool LaneBarrier::BeginSendingAnswers() {
  state_->sending.store(1, std::memory_order_seq_cst);
  if (!off() && !broken()) return true;
  GiveUpSending();
  return false;
}

// ---- Supersteps that end by counting ------------------------------------------------------------

// The next superstep uses again what the one before this used. If workers carried the barrier
// before, they may be sending that from where it lies, and that it has come is known only when all
// have come to this barrier; of lanes' frames the same holds for those that have pieces there. Each
// part that comes by a worker is noted before the barrier is released.
bool LaneBarrier::MayGoAhead(std::uint32_t barrier) const {
  const std::uint32_t left = state_->by_worker.load(std::memory_order_acquire);
  return static_cast<std::int32_t>(left - Number(barrier - 1)) < 0 &&
         state_->in_parts.load(std::memory_order_relaxed) != Number(barrier - 1);
}

void LaneBarrier::GoAhead(std::uint32_t barrier, std::uint32_t hosts) {
  state_->ahead_from = hosts;
  // Before that: who comes back soon tries to drive once, and this process may compute for long.
  StopDriving();
  state_->ahead.store(Number(barrier), std::memory_order_seq_cst);
}

bool LaneBarrier::IsAhead(std::uint32_t barrier) const {
  return state_->ahead.load(std::memory_order_acquire) == Number(barrier);
}

void LaneBarrier::ComeBack(std::uint32_t barrier) {
  state_->back.store(Number(barrier), std::memory_order_release);
}

bool LaneBarrier::Unattended(std::uint32_t barrier) const {
  return IsAhead(barrier) && state_->back.load(std::memory_order_acquire) != Number(barrier);
}

// ---- The worker ---------------------------------------------------------------------------------

void LaneBarrier::TurnOn(std::uint32_t barrier) {
  state_->on_from.store(Number(barrier + 1), std::memory_order_release);
}

// A number that is 2^31 behind would pass for a later one. What takes its place is a barrier before
// `barrier`, and not 0, as it is odd.
void LaneBarrier::KeepUp(std::uint32_t barrier) {
  constexpr std::int32_t kFar = std::int32_t{1} << 30;
  if (!on()) return;
  for (std::atomic<std::uint32_t>* const word : {&state_->on_from, &state_->by_worker}) {
    const std::uint32_t known = word->load(std::memory_order_relaxed);
    if (static_cast<std::int32_t>(Number(barrier) - known) >= kFar)
      word->store((Number(barrier) - 2) | 1, std::memory_order_seq_cst);
  }
}

// The word before the look at `sent`, as the last to arrive sets `sent` before it looks at the word
// (MustStop, when it drives): if both see the other, the worker is told twice, and if neither saw
// it nobody would be.
// The barrier may be one ahead of what the worker knows: the processes pass that one meanwhile.
bool LaneBarrier::LeaveToWorker(std::uint32_t barrier) {
  // A later one may be known already, by a part from a node that has passed this one.
  const std::uint32_t known = state_->by_worker.load(std::memory_order_relaxed);
  if (static_cast<std::int32_t>(Number(barrier) - known) > 0)
    state_->by_worker.store(Number(barrier), std::memory_order_seq_cst);
  return Sent(barrier);
}

void LaneBarrier::TurnOff() { state_->off.store(1, std::memory_order_seq_cst); }

bool LaneBarrier::Abandoned() const {
  return state_->sending.load(std::memory_order_seq_cst) == 0 &&
         state_->driver.load(std::memory_order_seq_cst) == 0;
}

}  // namespace bspnow
