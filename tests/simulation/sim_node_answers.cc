// Answers to gets by lanes, as libbsp's LaneDriver sends and takes them, and its worker repeats
// them.
#include <utility>

#include "tests/simulation/sim_node.h"

namespace bspnow {
namespace {

using FrameClass = worker::NodeExchange::FrameClass;

constexpr std::uint64_t kSleepNs = 20 * kMillisecond;  // Of who drives, at most.
constexpr std::uint32_t kStopPercent = 30;             // Of repeated frames.
constexpr std::uint64_t kStepNs = 5 * kMicrosecond;
constexpr std::uint32_t kDriver = 0;  // Its pid does not matter.

}  // namespace

// ---- The processes ------------------------------------------------------------------------------

void SimNode::SendAnswersByLanes() {
  answers_by_lanes_ = true;
  lane_.BeginAnswers();
  lane_hosts_[self()].answers_out = nullptr;  // From now on none of them is whole.
  After(loop_.Below(50 * kMicrosecond), &SimNode::ComposeAnswers);
}

void SimNode::ComposeAnswers() {
  const std::uint32_t barrier = Released() - 1;
  const auto asked = asked_.extract(released_superstep());
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    auto frame = std::make_shared<SimLaneFrame>(SimLaneFrame{.host = self(),
                                                             .barrier = barrier,
                                                             .direct = 0,
                                                             .counts = {},
                                                             .messages = {},
                                                             .answers = true});
    if (!asked.empty() && asked.mapped().contains(host)) {
      for (const Request& request : asked.mapped().at(host)) {
        frame->messages.push_back({.job = job_,
                                   .epoch = epoch_,
                                   .superstep = released_superstep(),
                                   .from_host = self(),
                                   .frame_class = FrameClass::kAnswers,
                                   .number = 0,
                                   .from_pid = request.to_pid,
                                   .to_pid = request.from_pid,
                                   .index = request.index,
                                   .value = answers_.at(request.to_pid)});
      }
    }
    lane_hosts_[host].answers_out = std::move(frame);
  }
  lane_.NoteAnswers(barrier);
  if (!lane_.BeginSendingAnswers()) return DriveAnswers();
  lanes_sent_ = 0;
  After(loop_.Below(20 * kMicrosecond), &SimNode::SendNextAnswers);
}

void SimNode::SendNextAnswers() {
  const std::uint32_t host = lanes_sent_++;
  if (host == hosts()) {
    lane_.EndSending();
    return DriveAnswers();
  }
  const SimLaneFramePtr& frame = lane_hosts_[host].answers_out;
  if (host != self() && !frame->messages.empty()) {
    oracle_.Count("answers sent by lanes");
    lanes_.Send(Place(self()), host, frame);
    if (lane_hosts_[host].broken) NoteBroken();
  }
  After(loop_.Below(50 * kMicrosecond), &SimNode::SendNextAnswers);
}

// Unless the worker has seen to all of it.
void SimNode::DriveAnswers() {
  const std::uint32_t barrier = Released() - 1;
  if (driving_) return After(loop_.Below(kStepNs) + 1, &SimNode::DriveAnswers);
  answers_by_lanes_ = false;
  if (!lane_.LacksAnyAnswers(barrier)) return;
  if (!lane_.TryToDrive(kDriver)) return;
  driving_ = drives_answers_ = takes_first_ = true;
  driven_barrier_ = Released();
  NextOfDriver(0, &SimNode::PumpAnswers);
}

void SimNode::PumpAnswers() {
  const std::uint32_t barrier = driven_barrier_ - 1;
  const bool over = lane_.off() || lane_.broken() || !lane_.LacksAnyAnswers(barrier);
  // As LaneDriver: what has come with the frames of the barrier is taken before anything is asked.
  const bool takes = std::exchange(takes_first_, false) || !over;
  for (std::uint32_t host = 0; takes && host < hosts(); ++host) {
    if (!lane_.LacksAnswers(host, barrier)) continue;
    LaneOfHost& lane = lane_hosts_[host];
    if (!lane.stage.empty()) {
      taken_from_ = host;
      return NextOfDriver(loop_.Below(kStepNs), &SimNode::TakeFromLane);
    }
    if (lane.broken) NoteBroken();
  }
  if (over) return NextOfDriver(loop_.Below(kStepNs), &SimNode::StopDriving);
  NextOfDriver(1 + loop_.Below(kSleepNs), &SimNode::PumpAnswers);
  asleep_ = true;
}

void SimNode::NoteAnswersTaken() {
  const SimLaneFrame& frame = *lane_hosts_[taken_from_].answers_in;
  lane_.NoteAnswersHere(taken_from_, frame.barrier);
  PublishAnswers(taken_from_, frame);
  PumpAnswers();
}

// By who drives, or the worker. That may have completed the barrier, too, and then the processes
// are about to leave it, or wait for their lease: they find the answers when they come to look.
void SimNode::PublishAnswers(std::uint32_t host, const SimLaneFrame& frame) {
  if (frame.barrier != Released() - 1 || !(leaving_ || in_gets_))
    return oracle_.Fail("answers of a barrier that is not the last, or was left");
  if (leaving_) oracle_.Count("answers before processes left the barrier");
  if (awaits_.erase(host) == 0) oracle_.Fail("answers that were not asked for");
  for (const SimFrame& answer : frame.messages) inbox_[released_superstep()].push_back(answer);
  After(0, &SimNode::GoOnIfAnswered);
}

// ---- The worker ---------------------------------------------------------------------------------

void SimNode::RepeatAnswers(std::uint32_t host, std::uint32_t barrier) {
  Midway(kStopPercent, [this, host, barrier] {
    const SimLaneFramePtr& copy = lane_hosts_[host].answers_out;
    if (!lane_.StillHasAnswers(barrier)) return;
    if (!lane_hosts_[self()].answers_out || copy->barrier != barrier)
      return oracle_.Fail("answers are repeated while others are written there");
    oracle_.Count("answers repeated by workers");
    SendRepeated(host, copy, LaneWord::kAnswers);
  });
}

}  // namespace bspnow
