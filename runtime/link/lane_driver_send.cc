// What LaneDriver sends: this node's frames, and heads of others.
#include <errno.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/clock.h"
#include "base/units.h"
#include "runtime/link/lane_driver.h"
#include "runtime/link/lane_pieces.h"
#include "runtime/link/lane_route.h"

namespace bspnow::runtime {
namespace {

// What has been sent of it.
void Skip(msghdr& message, std::size_t bytes) {
  for (; message.msg_iovlen != 0 && bytes >= message.msg_iov->iov_len; --message.msg_iovlen)
    bytes -= message.msg_iov++->iov_len;
  if (bytes == 0) return;
  message.msg_iov->iov_base = static_cast<std::byte*>(message.msg_iov->iov_base) + bytes;
  message.msg_iov->iov_len -= bytes;
}

}  // namespace

// What was handed over early is under way by the worker, and so is the rest of that superstep.
// Votes are compared once the barrier is over, so nobody goes ahead of it.
bool LaneDriver::MayCarry(std::uint32_t barrier, Until until) {
  LaneState& state = area_->state;
  const NodeHeader& header = shape_.segment->header();
  const std::uint32_t handed = header.bell.handed.load(std::memory_order_relaxed);
  const bool any_handed = handed != state.handed_before;
  state.handed_before = handed;
  state.handed[(barrier - 1) & 1] = any_handed ? 1 : 0;
  const BarrierPhase& phase = header.barrier.phases[barrier & 1];
  const bool votes = phase.with_votes.load(std::memory_order_relaxed) != 0;
  return !any_handed && !(votes && until == Until::kCounted) &&
         phase.ending.load(std::memory_order_relaxed) == 0;
}

bool LaneDriver::Send(std::uint32_t barrier, Until until) {
  if (area_ == nullptr) return false;
  const BarrierPhase& phase = shape_.segment->header().barrier.phases[barrier & 1];
  const bool apart = phase.with_groups.load(std::memory_order_relaxed) != 0;
  const ImageAt image = apart ? ImageAt::kNo : ImageAt::kMaybe;
  if (!MayCarry(barrier, until) || !barrier_.MayCarry(barrier, image) || !HasLanes() ||
      !barrier_.BeginSending(barrier, image)) {
    Drain(barrier);
    return false;
  }
  if (!Compose(barrier, until)) {
    barrier_.GiveUpSending();
    Drain(barrier);
    return false;
  }
  const std::byte* const own = area_->out[shape_.self][barrier & 1];
  barrier_.NoteComposed(barrier, reinterpret_cast<const LaneFrame*>(own)->direct);
  SendDirect(barrier);
  SendOn(barrier);
  barrier_.EndSending();
  // Another node has left it to its worker meanwhile; the worker here may not have seen that these
  // processes have arrived.
  return !barrier_.LeftToWorker(barrier);
}

// No image can be taken at a barrier of which processes may go ahead: that is said as if each was
// in another group, too. Nor may its frames depend on nodes whose processes compute. An order is
// for barriers that all nodes leave to their workers: all at which one could be taken, from its
// coming on.
bool LaneDriver::Compose(std::uint32_t barrier, Until until) {
  std::atomic<std::uint32_t>& groups =
      shape_.segment->header().barrier.phases[barrier & 1].with_groups;
  const std::uint32_t before = groups.load(std::memory_order_relaxed);
  if (until == Until::kCounted) groups.store(here_, std::memory_order_relaxed);
  const bool composed =
      until == Until::kCounted
          ? ComposeLaneFrames(shape_, barrier, LaneRoute::kDirect, kLaneShortBytesMax)
          : ComposeLaneFrames(shape_, barrier, RouteOfHeads(barrier));
  if (composed) return true;
  groups.store(before, std::memory_order_relaxed);
  return false;
}

// Each node chooses for its own: its head says how it goes. The farthest node decides, as all wait
// for it. The kernel knows more when more has come, so this looks again now and then.
LaneRoute LaneDriver::RouteOfHeads(std::uint32_t barrier) {
  constexpr std::uint32_t kBarriersBetweenLooks = 1024;
  if (barrier - route_looked_at_ >= kBarriersBetweenLooks || !route_known_) {
    std::uint64_t farthest_ns = 0;
    for (std::uint32_t i = 0; i < Others(); ++i)
      farthest_ns = std::max(farthest_ns, LeastRttNs(lanes_of_others_[i].number()));
    route_ = HeadsGoStraight(shape_.hosts, farthest_ns) ? LaneRoute::kDirect : LaneRoute::kAsOwed;
    route_looked_at_ = barrier;
    route_known_ = true;
  }
  return route_;
}

void LaneDriver::SendDirect(std::uint32_t barrier) {
  for (std::uint32_t places = 1; places < shape_.hosts; ++places) {
    const std::uint32_t host = (shape_.self + places) % shape_.hosts;
    const auto& frame = *reinterpret_cast<const LaneFrame*>(area_->out[host][barrier & 1]);
    if ((frame.direct >> host & 1) == 0) continue;
    iovec parts[kLanePartsMax];
    const std::uint32_t count = PartsOfLaneFrame(*shape_.segment, host, barrier & 1, parts);
    if (SendTo(host, parts, count, barrier) == Sent::kBroken) GiveUp(LaneFault::kFailed);
  }
}

// By who sends or drives. Own heads and those of others, all that is due.
void LaneDriver::SendOn(std::uint32_t barrier) {
  LaneRelay relay;
  while (!barrier_.broken() && barrier_.TakeRelay(barrier, relay)) {
    LaneFrame heads[kLaneHostsMax];
    iovec parts[kLaneHostsMax];
    std::uint32_t count = 0;
    for (std::uint32_t host = 0; host < shape_.hosts; ++host) {
      if ((relay.heads >> host & 1) == 0) continue;
      std::byte* const whole =
          host == shape_.self ? area_->out[relay.to][barrier & 1] : area_->in[host][barrier & 1];
      const auto& frame = *reinterpret_cast<const LaneFrame*>(whole);
      if (frame.direct == kSameToAll) {
        parts[count++] = {.iov_base = whole, .iov_len = frame.bytes};
      } else {
        heads[count] = HeadOfLaneFrame(whole);
        parts[count] = {.iov_base = &heads[count], .iov_len = sizeof heads[0]};
        ++count;
      }
    }
    if (SendTo(relay.to, parts, count, barrier) == Sent::kBroken) GiveUp(LaneFault::kFailed);
  }
}

// `barrier`: that comes next, or is being passed.
LaneDriver::Sent LaneDriver::SendTo(std::uint32_t host, iovec* parts, std::uint32_t count,
                                    std::uint32_t barrier) {
  const int fd = lane(host).number();
  std::uint64_t full_since_ns = 0;
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  while (message.msg_iovlen != 0) {
    const ssize_t n = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      Skip(message, static_cast<std::size_t>(n));
      full_since_ns = 0;
    } else if (n < 0 && (errno == EAGAIN || errno == ENOBUFS)) {
      if (full_since_ns == 0) full_since_ns = NowNs();
      AwaitRoom(host, barrier);
      if (barrier_.off() || barrier_.broken()) return Sent::kBroken;
      // The workers complete it, and who is to read this may be waiting for what comes after it.
      if (barrier_.LeftToWorker(barrier) && NowNs() - full_since_ns > kNsPerS) return Sent::kBroken;
    } else if (n >= 0 || errno != EINTR) {
      return Sent::kBroken;
    }
  }
  return Sent::kWhole;
}

// The others may wait for room likewise: what they have sent is taken in meanwhile.
void LaneDriver::AwaitRoom(std::uint32_t host, std::uint32_t barrier) {
  pollfd sources[kLaneHostsMax] = {};
  for (std::uint32_t other = 0; other < shape_.hosts; ++other) {
    const bool here = other == shape_.self;
    sources[other] = {.fd = here ? -1 : lane(other).number(), .events = POLLIN, .revents = 0};
  }
  // Who drove may have stopped since.
  if (!receives_) receives_ = barrier_.TryToDrive(Value(self_));
  if (!receives_) {
    for (pollfd& source : sources) source.events = 0;
  }
  sources[host].events |= POLLOUT;
  Poll(sources, shape_.hosts, SeeToSide());
  if (!receives_) return;
  for (std::uint32_t other = 0; other < shape_.hosts; ++other)
    if ((sources[other].revents & ~POLLOUT) != 0) Receive(other, barrier);
}

}  // namespace bspnow::runtime
