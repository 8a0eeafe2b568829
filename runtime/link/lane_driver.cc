#include "runtime/link/lane_driver.h"

#include <errno.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "runtime/link/lane_same.h"

namespace bspnow::runtime {
namespace {

// As PollWait: a few wake-ups' worth, for each other node, since a head may take that many turns
// and nodes may share processors; and a turn of all.
constexpr std::uint64_t kPollNs = 100'000;
constexpr std::uint64_t kPollNsPerProcess = 4'000;
constexpr std::uint64_t kPollNsMin = 5'000;
constexpr int kPassesBetweenLooks = 4;  // At the clock.

}  // namespace

void LaneDriver::Attach(const Segment& segment, Pid self, const Doorbell& doorbell,
                        const KnownDescriptor& mailbox) {
  const NodeHeader& header = segment.header();
  *this = LaneDriver();
  const std::uint32_t p = header.participants.value.load(std::memory_order_acquire);
  if (header.nodes < 2 || header.nodes > kLaneHostsMax || p != segment.layout().nprocs ||
      segment.layout().check_full != 0)
    return;
  shape_ = {.segment = &segment, .self = header.node, .hosts = header.nodes, .p = p};
  area_ = &segment.lanes();
  barrier_ = LaneBarrier(area_->state, header.node, header.nodes);
  self_ = self;
  doorbell_ = doorbell;
  mailbox_ = mailbox;
  for (std::uint32_t i = 0; i < p; ++i) here_ += segment.IsHere(Pid{i}) ? 1 : 0;
  poll_ns_ = poll_ns_max_ = kPollNs * Others() + kPollNsPerProcess * here_;
}

void LaneDriver::GiveUp(LaneFault fault) {
  auto none = static_cast<std::uint32_t>(LaneFault::kNone);
  if (area_->state.broken.compare_exchange_strong(none, static_cast<std::uint32_t>(fault)))
    doorbell_.LanesBroken();
}

// ---- In -----------------------------------------------------------------------------------------

// This barrier goes by the workers. The other nodes may send by lanes all the same, in each
// superstep, and nobody would read it until the connections are full.
void LaneDriver::Drain(std::uint32_t barrier) {
  if (!barrier_.on() || barrier_.off() || barrier_.broken() || !HasLanes() ||
      !barrier_.TryToDrive(Value(self_)))
    return;
  for (std::uint32_t host = 0; host < shape_.hosts; ++host) {
    if (host == shape_.self) continue;
    while (!barrier_.broken() && Receive(host, barrier)) continue;
  }
  barrier_.StopDriving();
}

bool LaneDriver::Done(std::uint32_t barrier) const {
  const std::uint32_t released =
      shape_.segment->header().barrier.released.value.load(std::memory_order_acquire);
  return static_cast<std::int32_t>(released - barrier) > 0 || barrier_.MustStop(barrier);
}

void LaneDriver::Drive(std::uint32_t barrier, Until until) {
  if (!barrier_.TryToDrive(Value(self_))) return;
  counted_hosts_ = woken_ = 0;
  const bool enough = Pump(barrier, until);
  if (Done(barrier)) {
    // The worker has it, or somebody was faster.
  } else if (barrier_.Finished(barrier)) {
    CompleteLaneBarrier(shape_, barrier, FramesInSegment(shape_, barrier));
  } else if (enough) {
    barrier_.GoAhead(barrier, HostsHere(barrier));
    shape_.segment->header().barrier.released.Wake();
    return;
  }
  barrier_.StopDriving();
}

void LaneDriver::Poll(pollfd* sources, std::uint32_t count, std::uint64_t ns_max) {
  const timespec limit{.tv_sec = 0, .tv_nsec = static_cast<long>(ns_max)};
  ppoll(sources, count, &limit, nullptr);
}

std::uint64_t LaneDriver::SeeToSide() const {
  return side_.any() ? std::min(side_.SeeTo(NowNs()), kSleepNs) : kSleepNs;
}

// Until something comes from one of these hosts, a bit each, or from the worker; or by bulk lanes.
template <typename Over>
void LaneDriver::Sleep(std::uint32_t hosts, std::uint32_t barrier, std::uint64_t ns_max,
                       const Over& over) {
  pollfd sources[kLaneHostsMax + 1 + kBulkLanesMax + SideWork::kSourcesMax] = {};
  for (std::uint32_t host = 0; host < shape_.hosts; ++host) {
    const int fd = (hosts >> host & 1) != 0 ? lane(host).number() : -1;
    sources[host] = {.fd = fd, .events = POLLIN, .revents = 0};
  }
  pollfd& bell = sources[shape_.hosts];
  bell = {.fd = doorbell_.NumberIfOurs(), .events = POLLIN, .revents = 0};
  pollfd* const near = &bell + 1;
  NameNear(near);
  const std::uint32_t count = shape_.hosts + 1 + bulk_near_.count;
  const std::uint32_t of_side = side_.any() ? side_.NameSources(sources + count) : 0;
  area_->state.asleep.store(1, std::memory_order_seq_cst);
  if (!over()) Poll(sources, count + of_side, ns_max);
  area_->state.asleep.store(0, std::memory_order_relaxed);
  if ((bell.revents & POLLIN) != 0) doorbell_.HearWorker();
  if (of_side != 0) side_.Awake();
  WakeNear(near);
  // Each, or what is not read would end the next sleep at once.
  for (std::uint32_t host = 0; host < shape_.hosts && !over(); ++host)
    if (sources[host].revents != 0) Receive(host, barrier);
}

// Others here sleep where none of their sockets wakes them. Once woken, one expects the rest, and
// waits for it where it comes.
void LaneDriver::NameNear(pollfd* sources) const {
  for (std::uint32_t i = 0; i < bulk_near_.count; ++i) {
    const int fd = (woken_ >> i & 1) == 0 ? bulk_near_.of[i].socket.number() : -1;
    sources[i] = {.fd = fd, .events = POLLIN, .revents = 0};
  }
}

void LaneDriver::WakeNear(const pollfd* sources) {
  const std::uint32_t before = woken_;
  for (std::uint32_t i = 0; i < bulk_near_.count; ++i)
    if (sources[i].revents != 0) woken_ |= 1u << i;
  if (woken_ != before) shape_.segment->header().barrier.released.Wake();
}

// Returns when the frames of all are here, or enough of them (then it is true: something of the
// next superstep may come which would say otherwise), or nothing more is to be done.
bool LaneDriver::Pump(std::uint32_t barrier, Until until) {
  const std::uint64_t start_ns = NowNs();
  std::uint64_t polls_since_ns = start_ns;
  bool slept = false;
  for (;;) {
    for (int i = 0; i < kPassesBetweenLooks; ++i) {
      if (Done(barrier)) return false;
      if (until == Until::kCounted || slept || i + 1 == kPassesBetweenLooks) {
        ReceiveAny(barrier);
      } else {
        ReceiveNext(barrier);
      }
      const bool enough = Enough(barrier, until);
      if (enough || barrier_.Finished(barrier)) {
        Adapt(slept ? Waited::kAsleep : Waited::kPolling, start_ns);
        return enough;
      }
      if (!slept) sched_yield();
    }
    const std::uint64_t rest_ns = SeeToSide();
    if (rest_ns == 0) polls_since_ns = NowNs();
    if (rest_ns == 0 || (!slept && NowNs() - polls_since_ns < poll_ns_)) continue;
    slept = true;
    Sleep(barrier_.Awaited(barrier), barrier, rest_ns, [&] { return Done(barrier); });
  }
}

// How long the next wait polls before it sleeps: as PollWait does it.
void LaneDriver::Adapt(Waited waited, std::uint64_t start_ns) {
  if (waited == Waited::kPolling) {
    poll_ns_ = std::min(2 * poll_ns_, poll_ns_max_);
  } else if (NowNs() - start_ns < poll_ns_max_) {
    poll_ns_ = poll_ns_max_;
  } else {
    poll_ns_ = std::max(poll_ns_ / 2, kPollNsMin);
  }
}

// From the nearest host on, as heads come: all are needed, what has come may have to be sent on,
// and a look in vain costs as much as one that finds something.
void LaneDriver::ReceiveNext(std::uint32_t barrier) {
  for (std::uint32_t places = 1; places < shape_.hosts; ++places) {
    const std::uint32_t host = (shape_.self + shape_.hosts - places) % shape_.hosts;
    if (!barrier_.Lacks(host, barrier)) continue;
    Receive(barrier_.LikelySource(host, barrier), barrier);
    if (barrier_.Lacks(host, barrier)) return;
    SendOn(barrier);
  }
}

// A frame comes straight from its host, or by way of another.
void LaneDriver::ReceiveAny(std::uint32_t barrier) {
  const std::uint32_t awaited = barrier_.Awaited(barrier);
  for (std::uint32_t host = 0; host < shape_.hosts; ++host)
    if ((awaited >> host & 1) != 0) Receive(host, barrier);
  SendOn(barrier);
}

// ---- Supersteps that end by counting ------------------------------------------------------------

std::uint32_t LaneDriver::HostsHere(std::uint32_t barrier) const {
  std::uint32_t hosts = 0;
  for (std::uint32_t host = 0; host < shape_.hosts; ++host)
    if (host != shape_.self && !barrier_.Lacks(host, barrier)) hosts |= 1u << host;
  return hosts;
}

bool LaneDriver::Enough(std::uint32_t barrier, Until until) {
  constexpr std::uint32_t kLookedAt = 1u << 31;
  if (until != Until::kCounted || !barrier_.MayGoAhead(barrier)) return false;
  const std::uint32_t hosts = HostsHere(barrier);
  if (counted_hosts_ == (hosts | kLookedAt)) return false;
  if (HasExpected(shape_, barrier, hosts)) return true;
  counted_hosts_ = hosts | kLookedAt;
  return false;
}

Watched LaneDriver::AheadNews() const {
  const std::atomic<std::uint32_t>& word = area_->state.ahead;
  return {word, word.load(std::memory_order_acquire)};
}

void LaneDriver::FindMessages(std::uint32_t barrier, LaneMessages* by_source) const {
  FindLaneMessages(shape_, barrier, area_->state.ahead_from, self_, by_source);
}

void LaneDriver::ComeBack(std::uint32_t barrier) {
  barrier_.ComeBack(barrier);
  if (HasLanes()) Drive(barrier, Until::kOver);
}

// Whether something has come.
bool LaneDriver::Receive(std::uint32_t host, std::uint32_t barrier) {
  if (area_->state.under_way[host].bytes != 0) return ReceiveLong(host, barrier);
  std::uint32_t& staged = area_->state.staged[host];
  const std::uint32_t room = kLaneShortBytesMax - staged;
  if (room == 0) return false;  // Answers that cannot be taken yet.
  const std::uint32_t come = ReceiveTo(host, area_->stage[host] + staged, room);
  staged += come;
  if (come != 0 && !TakeFrames(host, barrier)) GiveUp(LaneFault::kFailed);
  return come != 0;
}

// How many bytes have come. If no more will, lanes are given up.
std::uint32_t LaneDriver::ReceiveTo(std::uint32_t host, std::byte* to, std::uint32_t bytes_max) {
  const ssize_t n = recv(lane(host).number(), to, bytes_max, MSG_DONTWAIT);
  if (n > 0) return static_cast<std::uint32_t>(n);
  if (n == 0 || (errno != EAGAIN && errno != EINTR)) GiveUp(LaneFault::kFailed);
  return 0;
}

// `stage` holds the beginning of one, which was looked at. False: it is damaged.
bool LaneDriver::BeginLong(std::uint32_t host, std::uint32_t barrier) {
  std::uint32_t& staged = area_->state.staged[host];
  const auto& frame = *reinterpret_cast<const LaneFrame*>(area_->stage[host]);
  if (staged < sizeof frame || frame.bytes <= kLaneShortBytesMax) return true;
  if (frame.head_crc32c != CrcOfLongHead(frame)) return false;
  const auto of = static_cast<std::uint32_t>(frame.barrier);
  const LaneArrival arrival{.by = host, .host = host, .barrier = of, .direct = frame.direct};
  const bool wanted = barrier_.Takes(arrival, barrier);
  if (!wanted && static_cast<std::int32_t>(of - barrier) >= 0) return false;
  area_->state.under_way[host] = {
      .bytes = frame.bytes, .come = staged, .barrier = of, .wanted = wanted ? 1u : 0u};
  if (wanted) std::memcpy(area_->in[host][of & 1], area_->stage[host], staged);
  staged = 0;
  return true;
}

// Once its barrier is over, by the workers, its place is for a later frame, which may come another
// way before the rest of this one.
bool LaneDriver::ReceiveLong(std::uint32_t host, std::uint32_t barrier) {
  LaneLongFrame& frame = area_->state.under_way[host];
  if (!barrier_.CanCome(frame.barrier, barrier)) frame.wanted = 0;
  std::byte* const in = area_->in[host][frame.barrier & 1];
  const std::uint32_t rest = frame.bytes - frame.come;
  const std::uint32_t come =
      frame.wanted != 0 ? ReceiveTo(host, in + frame.come, rest)
                        : ReceiveTo(host, area_->stage[host], std::min(rest, kLaneShortBytesMax));
  frame.come += come;
  if (frame.come == frame.bytes && !TakeLong(host)) GiveUp(LaneFault::kFailed);
  return come != 0;
}

bool LaneDriver::TakeLong(std::uint32_t host) {
  LaneLongFrame& frame = area_->state.under_way[host];
  std::uint32_t bytes = std::exchange(frame.bytes, 0);
  if (frame.wanted == 0) return true;
  const std::byte* const in = area_->in[host][frame.barrier & 1];
  if (LookAtLaneBytes(shape_, host, in, bytes, bytes) != LaneBytes::kWhole) return false;
  const std::uint32_t direct = reinterpret_cast<const LaneFrame*>(in)->direct;
  barrier_.NoteHere({.by = host, .host = host, .barrier = frame.barrier, .direct = direct});
  return true;
}

// A frame of a barrier that is over is of one that another node left to its worker.
bool LaneDriver::TakeFrame(const LaneArrival& arrival, std::uint32_t barrier,
                           const std::byte* frame) {
  if (barrier_.Takes(arrival, barrier)) {
    std::memcpy(area_->in[arrival.host][arrival.barrier & 1], frame,
                reinterpret_cast<const LaneFrame*>(frame)->bytes);
    barrier_.NoteHere(arrival);
    return true;
  }
  return barrier_.CanCome(arrival.barrier, barrier) ||
         static_cast<std::int32_t>(arrival.barrier - barrier) < 0;
}

// All whole ones.
bool LaneDriver::TakeFrames(std::uint32_t host, std::uint32_t barrier) {
  std::uint32_t& staged = area_->state.staged[host];
  std::byte* const stage = area_->stage[host];
  std::uint32_t at = 0;
  for (;;) {
    std::uint32_t bytes = 0;
    const std::uint32_t origin = OriginOfLaneBytes(shape_, host, stage + at, staged - at);
    if (origin != host) AddressToProcessesHere(shape_, stage + at, staged - at);
    const LaneBytes look = LookAtLaneBytes(shape_, origin, stage + at, staged - at, bytes);
    if (look == LaneBytes::kDamaged) return false;
    if (look == LaneBytes::kMore) break;
    const auto& frame = *reinterpret_cast<const LaneFrame*>(stage + at);
    const auto of = static_cast<std::uint32_t>(frame.barrier);
    if (frame.magic == kLaneAnswersMagic) {
      if (static_cast<std::int32_t>(of - barrier) > 0) return false;
      if (of == barrier) break;  // It is over there, and not here.
      TakeAnswers(host, of, stage + at, bytes);
    } else if (!TakeFrame({.by = host, .host = origin, .barrier = of, .direct = frame.direct},
                          barrier, stage + at)) {
      return false;
    }
    at += bytes;
  }
  staged -= at;
  std::memmove(stage, stage + at, staged);
  return BeginLong(host, barrier);
}

// ---- Gets ---------------------------------------------------------------------------------------

void LaneDriver::TakeAnswers(std::uint32_t host, std::uint32_t barrier, const std::byte* frame,
                             std::uint32_t bytes) {
  if (!barrier_.LacksAnswers(host, barrier)) return;  // The worker was faster.
  std::memcpy(area_->answers_in[host], frame, bytes);
  barrier_.NoteAnswersHere(host, barrier);
  PublishLaneAnswers(shape_, host, area_->answers_in[host]);
}

// Somebody else may drive meanwhile, and then he takes in what comes.
void LaneDriver::SendAnswers(std::uint32_t barrier) {
  barrier_.BeginAnswers();
  ComposeLaneAnswers(shape_, barrier);
  barrier_.NoteAnswers(barrier);
  if (!HasLanes() || !barrier_.BeginSendingAnswers()) return;
  receives_ = barrier_.TryToDrive(Value(self_));
  for (std::uint32_t host = 0; host < shape_.hosts; ++host) {
    std::byte* const at = area_->answers_out[host];
    const auto& frame = *reinterpret_cast<const LaneFrame*>(at);
    if (host == shape_.self || frame.entries == 0) continue;
    iovec part{.iov_base = at, .iov_len = frame.bytes};
    if (SendTo(host, &part, 1, barrier + 1) == Sent::kBroken) GiveUp(LaneFault::kFailed);
  }
  if (receives_) barrier_.StopDriving();
  receives_ = true;
  barrier_.EndSending();
}

void LaneDriver::DriveAnswers(std::uint32_t barrier) {
  if (!barrier_.LacksAnyAnswers(barrier) || !HasLanes() || !barrier_.TryToDrive(Value(self_)))
    return;
  const auto done = [&] {
    return barrier_.off() || barrier_.broken() || !barrier_.LacksAnyAnswers(barrier);
  };
  // They may have come with the frames of the barrier.
  for (std::uint32_t host = 0; host < shape_.hosts; ++host)
    if (barrier_.LacksAnswers(host, barrier) && !TakeFrames(host, barrier + 1))
      GiveUp(LaneFault::kFailed);
  const std::uint64_t start_ns = NowNs();
  bool slept = false;
  while (!done()) {
    for (std::uint32_t host = 0; host < shape_.hosts; ++host)
      if (barrier_.LacksAnswers(host, barrier)) Receive(host, barrier + 1);
    if (done()) break;
    if (!slept) sched_yield();
    if (!slept && NowNs() - start_ns < poll_ns_) continue;
    slept = true;
    std::uint32_t hosts = 0;
    for (std::uint32_t host = 0; host < shape_.hosts; ++host)
      if (barrier_.LacksAnswers(host, barrier)) hosts |= 1u << host;
    Sleep(hosts, barrier + 1, kSleepNs, done);
  }
  Adapt(slept ? Waited::kAsleep : Waited::kPolling, start_ns);
  barrier_.StopDriving();
}

}  // namespace bspnow::runtime
