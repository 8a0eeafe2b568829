#include "runtime/transfers/bulk_lanes.h"

#include <errno.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>

#include "base/clock.h"
#include "base/units.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint64_t kLooksNever = kNsPerS;

// Who waits for long looks rarely: what comes then waits for an eighth of the time that passed.
constexpr std::uint64_t kFirstLookNs = 20'000;  // Of each lane; an empty superstep is over then.
constexpr std::uint64_t kLookNsMax = 2 * kNsPerMs;
// But where something came in one of the last supersteps it looks at once.
constexpr std::uint64_t kLately = 4;
static_assert(kBulkLanesMax <= SideWork::kSourcesMax);

// As long as the transfer takes on a good network, and no longer: if the other process computes, it
// should be under way meanwhile.
constexpr std::uint64_t kPatienceNs = 5 * kNsPerMs;
std::uint64_t PatienceNs(std::uint64_t bytes) { return std::min(kPatienceNs + bytes, kNsPerS); }

constexpr std::uint64_t kStallNs = 2 * kNsPerS;  // The other one is in bsp_sync, and reads.
constexpr std::uint64_t kPollNs = 100'000;

// After the last byte. Somebody may have given up meanwhile, and what he does instead wakes nobody
// who sleeps here.
constexpr std::uint64_t kExpectNs = 2 * kNsPerMs;

}  // namespace

void BulkLanes::Attach(const Parts& parts, Pid self, std::uint32_t p) {
  segment_ = &parts.segment;
  lanes_ = &parts.lanes;
  delivery_ = &parts.delivery;
  outbox_ = &parts.outbox;
  self_ = self;
  p_ = p;
}

void BulkLanes::Enter(std::uint64_t superstep, OwnTransfers own) {
  if (lanes_ == nullptr || !lanes_->attached()) return;
  entered_ = true;
  superstep_ = superstep;
  own_ = own;
  since_ns_ = due_ns_ = 0;
}

void BulkLanes::Leave() {
  entered_ = false;
  if (!open_) return;
  open_ = false;
  for (Lane& lane : of_) {
    if (lane.fd < 0) continue;
    lane.end.Leave();
    if (lane.end.broken()) Fail(lane);
  }
}

// A program may have closed descriptors while it computed.
bool BulkLanes::Open() {
  if (open_) return true;
  if (!entered_ || !lanes_->HasBulk()) return false;
  open_ = true;
  const BulkSockets& sockets = lanes_->bulk();
  for (; count_ < sockets.count; ++count_) {
    of_[count_].pid = sockets.of[count_].pid;
    of_[count_].fd = sockets.of[count_].socket.number();
    of_[count_].end.Attach(
        sockets.trusted ? BulkEnd::Payloads::kTrusted : BulkEnd::Payloads::kChecked,
        p_ == 2 ? BulkEnd::Others::kNone : BulkEnd::Others::kSome);
  }
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (of_[i].fd >= 0 && !sockets.of[i].socket.StillOurs()) {
      of_[i].fd = -1;
      of_[i].end.Break();
    }
    EnterLane(of_[i]);
  }
  return true;
}

// ---- Out ----------------------------------------------------------------------------------------

void BulkLanes::Owe(Pid pid, const BulkEnd::Put& put) {
  if (!Open()) return;
  for (std::uint32_t i = 0; i < count_; ++i)
    if (of_[i].pid == pid && !of_[i].end.broken()) of_[i].end.Owe(put);
}

bool BulkLanes::Took(Pid pid) const {
  for (std::uint32_t i = 0; open_ && i < count_; ++i)
    if (of_[i].pid == pid) return of_[i].end.puts() == BulkEnd::Puts::kTaken;
  return false;
}

void BulkLanes::SendAll() {
  if (!open_) return;
  const std::uint64_t start_ns = NowNs();
  for (Lane& lane : of_) {
    lane.moved_ns = start_ns;
    if (lane.end.puts() == BulkEnd::Puts::kWait && lane.end.owed_bytes() < kWorthALaneBytes)
      lane.end.TakeBack();
  }
  std::uint64_t worked_ns = start_ns;
  for (std::uint64_t now_ns = start_ns; AnyUnderWay(start_ns, now_ns); now_ns = NowNs()) {
    if (Pump(now_ns)) {
      worked_ns = now_ns;
    } else if (now_ns - worked_ns < kPollNs) {
      sched_yield();
    } else {
      Sleep();
    }
  }
}

bool BulkLanes::AnyUnderWay(std::uint64_t start_ns, std::uint64_t now_ns) {
  bool any = false;
  for (std::uint32_t i = 0; i < count_; ++i) {
    Lane& lane = of_[i];
    const BulkEnd::Puts puts = lane.end.puts();
    if (puts == BulkEnd::Puts::kWait && now_ns - start_ns > PatienceNs(lane.end.owed_bytes())) {
      lane.end.TakeBack();
    } else if (puts == BulkEnd::Puts::kUnderWay && now_ns - lane.moved_ns > kStallNs) {
      Fail(lane);
    } else {
      any |= puts == BulkEnd::Puts::kWait || puts == BulkEnd::Puts::kUnderWay;
    }
  }
  return any;
}

std::uint32_t BulkLanes::NameSources(pollfd* sources) const {
  if (!open_) return 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const BulkEnd& end = of_[i].end;
    sources[i] = {.fd = end.broken() ? -1 : of_[i].fd,
                  .events = static_cast<short>(end.HasMore() ? POLLIN | POLLOUT : POLLIN),
                  .revents = 0};
  }
  return count_;
}

void BulkLanes::Sleep() const {
  pollfd sources[kBulkLanesMax];
  poll(sources, NameSources(sources), 1);
}

bool BulkLanes::SleepIfExpecting() {
  if (!open_) return false;
  const std::uint64_t now_ns = NowNs();
  bool expects = false;
  for (std::uint32_t i = 0; i < count_; ++i)
    expects |= of_[i].end.Expects() && now_ns - of_[i].moved_ns < kExpectNs;
  if (!expects) return false;
  Sleep();
  Awake();
  return true;
}

bool BulkLanes::Write(Lane& lane) {
  const BulkEnd::Outgoing out = lane.end.NextOut();
  if (out.head_bytes + out.body_bytes == 0) return false;
  iovec parts[2] = {{const_cast<std::byte*>(out.head), out.head_bytes},
                    {const_cast<std::byte*>(out.body), out.body_bytes}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  const ssize_t n = sendmsg(lane.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n > 0) {
    lane.end.Sent(static_cast<std::size_t>(n));
    return true;
  }
  if (n == 0 || (errno != EAGAIN && errno != ENOBUFS && errno != EINTR)) Fail(lane);
  return false;
}

// ---- In -----------------------------------------------------------------------------------------

// At most a piece at a time: what is to be sent should not wait for long.
bool BulkLanes::Read(Lane& lane) {
  bool worked = false;
  for (std::uint32_t left = kBulkPieceBytes;;) {
    const BulkEnd::Incoming in = lane.end.NextIn();
    if (in.bytes == 0) return worked;
    const ssize_t n = recv(lane.fd, in.to, in.bytes, MSG_DONTWAIT);
    if (n < 0 && errno == EFAULT) {
      ReportMisuse(lane.end.AsksForLeave() ? "bsp_put" : "bsp_hpput",
                   "the area that pid %u put to is not memory of the program", Value(lane.pid));
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return worked;
    if (n <= 0) return Fail(lane), worked;
    worked = true;
    const BulkEnd::Came came = lane.end.Received(static_cast<std::size_t>(n));
    if (came == BulkEnd::Came::kFault) return Fail(lane), worked;
    if (came == BulkEnd::Came::kPiece) {
      lane.lately_until = superstep_ + kLately;
      const BulkHeader& piece = lane.end.piece();
      const PutRecord range{piece.slot, piece.bytes, piece.offset};
      lane.end.Place(lane.end.AsksForLeave() ? delivery_->PutTarget(lane.pid, range)
                                             : delivery_->DirectTarget(lane.pid, range));
    }
    if (static_cast<std::uint32_t>(n) >= left) return worked;
    left -= static_cast<std::uint32_t>(n);
  }
}

// The other one is to notice, too.
void BulkLanes::Fail(Lane& lane) {
  lane.end.Break();
  if (lane.fd >= 0) shutdown(lane.fd, SHUT_RDWR);
  lane.fd = -1;
}

// ---- Both ---------------------------------------------------------------------------------------

bool BulkLanes::Pump(std::uint64_t now_ns) {
  bool any = false;
  for (std::uint32_t i = 0; i < count_; ++i) {
    Lane& lane = of_[i];
    const bool wrote = Write(lane);
    if (!Read(lane) && !wrote) continue;
    lane.moved_ns = now_ns;
    any = true;
  }
  if (any) SeeToLeave();
  return any;
}

bool BulkLanes::CameLately() const {
  return std::any_of(of_, of_ + count_,
                     [this](const Lane& lane) { return superstep_ < lane.lately_until; });
}

std::uint64_t BulkLanes::SeeTo(std::uint64_t now_ns) {
  if (!entered_) return kLooksNever;
  if (since_ns_ == 0) {
    since_ns_ = now_ns;
    due_ns_ = CameLately() ? now_ns : now_ns + kFirstLookNs * std::max(count_, 1u);
  }
  if (now_ns < due_ns_) return due_ns_ - now_ns;
  if (!Open()) {
    due_ns_ = now_ns + kLooksNever;
    return kLooksNever;
  }
  if (Pump(now_ns)) {
    since_ns_ = due_ns_ = now_ns;
    return 0;
  }
  const std::uint64_t rest_ns = std::min((now_ns - since_ns_) / 8 + 1, kLookNsMax);
  due_ns_ = now_ns + rest_ns;
  return rest_ns;
}

SideWork BulkLanes::AsSideWork() {
  static constexpr auto kSelf = [](void* lanes) { return static_cast<BulkLanes*>(lanes); };
  return {.see_to = [](void* lanes, std::uint64_t now_ns) { return kSelf(lanes)->SeeTo(now_ns); },
          .name_sources = [](void* lanes,
                             pollfd* sources) { return kSelf(lanes)->NameSources(sources); },
          .sleep = [](void* lanes) { return kSelf(lanes)->SleepIfExpecting(); },
          .awake = [](void* lanes) { kSelf(lanes)->Awake(); },
          .context = this};
}

}  // namespace bspnow::runtime
