// Lanes (runtime/link/lane.h): what the worker does while the processes drive them, and when they
// can do so no longer.
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "runtime/link/lane_pieces.h"
#include "worker/exchange/job_exchange.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kAsks = 1;  // BatchPiece::chunk_offset of a kLaneFrame.
constexpr std::uint64_t kAnswers = 0;

// Not more than it has: to read what nobody has written makes pages of it. Whether the length is
// right whoever uses the copy finds.
std::vector<std::byte> CopyOfFrame(const std::byte* frame) {
  const std::uint32_t bytes = ReadOnce(reinterpret_cast<const LaneFrame*>(frame)->bytes);
  return {frame, frame + std::clamp<std::size_t>(bytes, sizeof(LaneFrame), kLaneFrameBytesMax)};
}

// Supersteps are slower then, and the log alone says so.
const char* WhyBroken(const LaneState& state) {
  if (LaneFault{state.broken.load(std::memory_order_relaxed)} != LaneFault::kNoDescriptors)
    return "one of them has failed";
  return "a process has no room for their descriptors: raise ulimit -n where the worker starts, or "
         "let the program close what it does not need";
}

}  // namespace

void JobExchange::TakeLanes() {
  const auto hosts = static_cast<std::uint32_t>(shape_.hosts.size());
  if (!IsRoot() || !direct_ || hosts > kLaneHostsMax || segment_.layout().check_full != 0) return;
  const LaneBarrier barrier(segment_.lanes().state, shape_.self, hosts);
  lanes_.emplace(Lanes{.barrier = barrier,
                       .keeper = LaneKeeper(barrier, shape_.self, hosts),
                       .shape = {.segment = &segment_,
                                 .self = shape_.self,
                                 .hosts = hosts,
                                 .p = static_cast<std::uint32_t>(shape_.host_of.size()),
                                 .host_of = shape_.host_of.data()},
                       .repeated = std::vector<std::array<std::vector<std::byte>, 2>>(hosts),
                       .answers = std::vector<std::vector<std::byte>>(hosts)});
}

// ---- While the processes drive ------------------------------------------------------------------

// Before anything else that an event asks for: the processes do not say what they do by lanes.
void JobExchange::CatchUp() {
  if (!lanes_ || broken_ || !lanes_->barrier.on() || exchange_.waiting()) return;
  const std::uint32_t passed = Released() - static_cast<std::uint32_t>(exchange_.barrier());
  if (passed == 0) return;
  if (passed >= kLongAgo) {
    return Break(ExchangeFault::kProgram,
                 "a process has damaged the communication memory: barriers were taken back");
  }
  const std::uint64_t barrier = exchange_.barrier() + passed;
  const std::uint64_t first = exchange_.superstep();
  direct_->OnPassed(barrier);
  const NodeExchange::Actions actions = exchange_.OnPassed(barrier);
  Perform(actions);
  source_.OnPassed(first, exchange_.superstep() - 1);
}

// The worker may have taken the barrier over before the last process to arrive rang for it.
bool JobExchange::IsOld(std::uint32_t barriers) const {
  if (!lanes_) return false;
  const auto now = static_cast<std::uint32_t>(exchange_.barrier() + 1);
  return now - barriers < kLongAgo && (now != barriers || exchange_.waiting());
}

bool JobExchange::LeavesToWorker(std::uint64_t superstep, NodeExchange::FrameClass frame_class) {
  using FrameClass = NodeExchange::FrameClass;
  if (!lanes_ || frame_class == FrameClass::kAnswers || frame_class == FrameClass::kAnswersEnd)
    return false;
  const bool taken = lanes_->keeper.OnPartByWorker(static_cast<std::uint32_t>(superstep + 1));
  WakeDriver();  // It has early puts to write meanwhile.
  return taken;
}

// The processes may have come to it by lanes, through the barrier before, since CatchUp was called.
void JobExchange::TakeOver(std::uint64_t barrier) {
  CatchUp();
  if (broken_ || exchange_.waiting() || exchange_.barrier() != barrier) return;
  OnArrival(static_cast<std::uint32_t>(barrier + 1));
}

void JobExchange::OrderImage(const ImagePlan& order) {
  order_ = order;
  if (!lanes_) return;
  std::atomic<std::uint32_t>& hold = lanes_->barrier.state().hold;
  if (hold.load(std::memory_order_relaxed) == kHoldNone)
    hold.store(kHoldForImage, std::memory_order_relaxed);
}

void JobExchange::WithdrawImage(std::uint64_t checkpoint) {
  if (order_.checkpoint == 0 || order_.checkpoint > checkpoint) return;
  order_ = {};
  if (!lanes_) return;
  std::atomic<std::uint32_t>& hold = lanes_->barrier.state().hold;
  if (hold.load(std::memory_order_relaxed) == kHoldForImage)
    hold.store(kHoldNone, std::memory_order_relaxed);
}

// Where the coordinator releases it alone knows whether one is due.
ImageWait JobExchange::image_wait() const {
  const ImageOrder& order = segment_.header().image;
  const bool due = alone()   ? order.wanted.load() > order.taken.load()
                   : direct_ ? order_.checkpoint != 0
                             : true;
  return {.due = due, .chances = image_chances_};
}

// At the release of a barrier that the worker carries.
void JobExchange::TurnLanesOn(std::uint64_t barrier) {
  if (!lanes_) return;
  LaneState& state = lanes_->barrier.state();
  if (exchange_.released_ends_superstep()) {
    const std::uint64_t superstep = exchange_.released_superstep();
    state.published[superstep & 1].store(inbox_.Published(superstep) ? 1 : 0,
                                         std::memory_order_relaxed);
  }
  if (release_.checkpoint != 0 && release_.checkpoint >= order_.checkpoint) order_ = {};
  state.hold.store(order_.checkpoint != 0 ? kHoldForImage : kHoldNone, std::memory_order_relaxed);
  HoldToGiveBack();
  if (!std::exchange(lanes_ready_, false) || lanes_->barrier.on()) return;
  // Off before on: no process looks for lanes that nobody could hand over. The other nodes turn
  // theirs on, and find them shut down.
  if (!owner_.HandLanesOver()) lanes_->barrier.TurnOff();
  lanes_->barrier.TurnOn(static_cast<std::uint32_t>(barrier));
}

// What a large superstep took is given back in those that the worker carries.
void JobExchange::HoldToGiveBack() {
  if (lanes_ && inbox_.much_memory())
    lanes_->barrier.state().hold.store(kHoldAll, std::memory_order_relaxed);
}

void JobExchange::WakeDriver() {
  if (!lanes_ || plan_.doorbell < 0) return;
  if (lanes_->barrier.state().asleep.load(std::memory_order_seq_cst) == 0) return;
  // A full socket wakes as well, and who drives looks now and then.
  if (send(plan_.doorbell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return;
}

// ---- When they fail -----------------------------------------------------------------------------

void JobExchange::LookAfterLanes() {
  if (!lanes_ || broken_) return;
  CatchUp();
  const std::uint32_t released = Released();
  lanes_->barrier.KeepUp(released - 1);
  const LaneKeeper::Actions actions = lanes_->keeper.Look(released, NowNs());
  if (actions.shut_down) owner_.ShutDownLanes(WhyBroken(lanes_->barrier.state()));
  if (actions.repeat) {
    for (std::uint32_t host = 0; host < shape_.hosts.size(); ++host) {
      if (host == shape_.self) continue;
      for (const std::uint32_t barrier : {released - 1, released})
        if (lanes_->keeper.Repeatable(barrier, released)) SendLaneFrame(host, barrier, kAsks);
    }
  }
  for (std::uint32_t host = 0; actions.repeat_answers && host < shape_.hosts.size(); ++host)
    if (host != shape_.self) SendLaneAnswers(host, released - 1);
  if (broken_) return;
  if (actions.look_again) return LookAfterLanes();
  if (actions.install) {
    InstallLaneFrames();
    return LookAfterLanes();
  }
  if (actions.complete && !exchange_.waiting()) CompleteByFrames(released);
}

// The processes go on while it is copied, and may end the barrier after it: then they use the heaps
// again in which parts of it lie, and write the next but one frame there. Nobody needs this one
// then: who ends that barrier has had the others' frames of it.
void JobExchange::SendLaneFrame(std::uint32_t host, std::uint32_t barrier, std::uint64_t asks) {
  iovec parts[kLanePartsMax];
  const std::uint32_t count = PartsOfLaneFrame(segment_, host, barrier & 1, parts);
  std::vector<std::byte> copy;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto* const part = static_cast<const std::byte*>(parts[i].iov_base);
    copy.insert(copy.end(), part, part + parts[i].iov_len);
  }
  if (lanes_->barrier.StillComposed(barrier) && lanes_->keeper.Repeatable(barrier, Released()))
    SendLaneCopy(host, std::move(copy), asks);
}

// To who asked for none, too: he drops them.
void JobExchange::SendLaneAnswers(std::uint32_t host, std::uint32_t barrier) {
  const std::byte* const out = segment_.lanes().answers_out[host];
  std::vector<std::byte> copy(out, out + kLaneShortBytesMax);
  if (lanes_->barrier.StillHasAnswers(barrier)) SendLaneCopy(host, std::move(copy), kAnswers);
}

void JobExchange::SendLaneCopy(std::uint32_t host, std::vector<std::byte> copy,
                               std::uint64_t asks) {
  std::uint32_t bytes = 0;
  LaneShape receiver = lanes_->shape;
  receiver.self = host;
  if (LookAtLaneBytes(receiver, shape_.self, copy.data(), copy.size(), bytes) !=
      LaneBytes::kWhole) {
    return Break(ExchangeFault::kProgram,
                 "a process has damaged the communication memory: its own frame of a lane");
  }
  copy.resize(bytes);
  std::vector<OutgoingBatch> frames;
  frames.push_back(source_.Word(BatchContent::kLaneFrame, host));
  frames.back().superstep = Superstep{exchange_.superstep()};
  frames.back().piece.chunk_bytes = copy.size();
  frames.back().piece.chunk_offset = asks;
  frames.back().owned = std::move(copy);
  streams_.Send(host, frames);
}

FrameFault JobExchange::OnLaneFrame(std::uint32_t host, const BatchPiece& piece,
                                    std::span<const std::byte> data) {
  if (!lanes_ || host == shape_.self || data.size() > kLaneFrameBytesMax)
    return FrameFault::kMalformed;
  std::vector<std::byte> copy(data.begin(), data.end());  // Aligned.
  std::uint32_t bytes = 0;
  if (LookAtLaneBytes(lanes_->shape, host, copy.data(), copy.size(), bytes) != LaneBytes::kWhole ||
      bytes != copy.size())
    return FrameFault::kMalformed;
  const auto& frame = *reinterpret_cast<const LaneFrame*>(copy.data());
  const auto barrier = static_cast<std::uint32_t>(frame.barrier);
  const std::uint32_t released = Released();
  if (frame.magic == kLaneAnswersMagic) {
    if (!lanes_->keeper.OnAnswers(host, barrier, released)) return FrameFault::kNone;
    lanes_->answers[host] = std::move(copy);
    LookAfterLanes();
    return FrameFault::kNone;
  }
  if (piece.chunk_offset == kAsks) {
    if (lanes_->barrier.Composed(barrier)) SendLaneFrame(host, barrier, kAnswers);
    if (lanes_->barrier.HasAnswers(barrier)) SendLaneAnswers(host, barrier);
  }
  if (!lanes_->keeper.OnRepeated(host, barrier, released)) return FrameFault::kNone;
  lanes_->repeated[host][barrier & 1] = std::move(copy);
  LookAfterLanes();
  return FrameFault::kNone;
}

void JobExchange::InstallLaneFrames() {
  const std::uint32_t released = Released();
  for (std::uint32_t host = 0; host < shape_.hosts.size(); ++host) {
    for (std::uint32_t parity = 0; parity < 2; ++parity) {
      if (!lanes_->keeper.TakeRepeated(host, parity, released)) continue;
      const std::vector<std::byte> frame = std::exchange(lanes_->repeated[host][parity], {});
      memcpy(segment_.lanes().in[host][parity], frame.data(), frame.size());
    }
    if (!lanes_->keeper.TakeAnswers(host, released)) continue;
    const std::vector<std::byte> answers = std::exchange(lanes_->answers[host], {});
    memcpy(segment_.lanes().answers_in[host], answers.data(), answers.size());
    PublishLaneAnswers(lanes_->shape, host, answers.data());
  }
}

// From copies that no process can change, since it reads lengths in them.
void JobExchange::CompleteByFrames(std::uint32_t barrier) {
  std::vector<std::vector<std::byte>> copies(shape_.hosts.size());
  LaneFrames frames = FramesInSegment(lanes_->shape, barrier);
  for (std::uint32_t host = 0; host < copies.size(); ++host) {
    copies[host] = CopyOfFrame(frames.of[host]);
    std::uint32_t bytes = 0;
    if (LookAtLaneBytes(lanes_->shape, host, copies[host].data(), copies[host].size(), bytes) !=
            LaneBytes::kWhole ||
        reinterpret_cast<const LaneFrame*>(copies[host].data())->magic != kLaneMagic ||
        reinterpret_cast<const LaneFrame*>(copies[host].data())->barrier != barrier) {
      return Break(ExchangeFault::kProgram,
                   "a process has damaged the communication memory: a frame of a lane");
    }
    frames.of[host] = copies[host].data();
  }
  CompleteLaneBarrier(lanes_->shape, barrier, frames);
  WakeDriver();
  CatchUp();
}

}  // namespace bspnow::worker
