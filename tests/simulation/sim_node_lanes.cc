// Lanes of a node: its processes send and drive as libbsp's LaneDriver does, and its worker looks
// after them as JobExchange does, both around the product's LaneBarrier and LaneKeeper.
#include <iterator>
#include <utility>

#include "tests/simulation/sim_node.h"

namespace bspnow {
namespace {

using FrameClass = worker::NodeExchange::FrameClass;

constexpr std::uint64_t kLookNs = 250 * kMillisecond;
constexpr std::uint64_t kSleepNs = 20 * kMillisecond;  // Of who drives, at most.
constexpr std::uint32_t kStopPercent = 30;             // Of repeated frames.
constexpr std::uint32_t kUnhandedPercent = 5;          // Of nodes whose lanes are open.
constexpr std::uint64_t kStepNs = 5 * kMicrosecond;
constexpr std::uint64_t kStoppedNs = 30 * kMillisecond;      // Who drives, by its machine.
constexpr std::uint32_t kDriver = 0;                         // Its pid does not matter.
constexpr std::uint64_t kHurries[] = {1, 1, 1, 1, 10, 100};  // By job and epoch.

}  // namespace

void SimNode::JoinLanes() {
  if (!direct_ || hosts() > kLaneHostsMax || program_.barriers_per_superstep() != 1) return;
  keeper_.emplace(lane_, self(), hosts());
  bulk_plan_.hosts = hosts();
  for (std::uint32_t host = 0; host < hosts(); ++host)
    bulk_plan_.processes[host] = static_cast<std::uint32_t>(place(host).pids_size());
  lanes_.Join(Place(self()), bulk_plan_, *this, actors_.processes);
  // Patience is a matter of speed alone: whatever is repeated or given up early, nothing is lost.
  hurry_ = kHurries[(Value(job_) + Value(epoch_)) % std::size(kHurries)];
  LookNowAndThen();
}

// ---- The processes ------------------------------------------------------------------------------

// Nothing that workers have to carry is in this superstep. As LaneDriver::MayCarry has it, votes
// are compared once the barrier is over, so nobody goes ahead of it.
bool SimNode::SendByLanes(const worker::BarrierCounts& counts) {
  const std::uint32_t barrier = Released();
  const bool ahead = program_.counted(shown()) && !repeats(superstep());
  const bool small = !(counts.votes != 0 && ahead) && counts.ending == 0 &&
                     sent_ == std::vector<std::uint64_t>(hosts());
  if (!keeper_ || !small || participants_ != static_cast<std::uint32_t>(start().spec().nprocs()) ||
      !lane_.BeginSending(barrier, counts.groups != 0 ? ImageAt::kNo : ImageAt::kMaybe))
    return false;
  if (lane_.state().hold != kHoldNone) oracle_.Count("barriers by lanes though an image is due");
  if (counts.votes != 0) oracle_.Count("registrations by lanes");
  if (program_.counted(shown()) && !repeats(superstep()))
    arrived_counts_.groups = TakingPart(self());  // They may go ahead of it: no image.
  lane_hosts_[self()].out[barrier & 1] =
      nullptr;  // Nor are those to the others whole, from now on.
  After(loop_.Below(50 * kMicrosecond), &SimNode::ComposeForLanes);
  return true;
}

void SimNode::ComposeForLanes() {
  const std::uint32_t barrier = Released();
  const bool counted = program_.counted(shown()) && !repeats(superstep());
  const bool straight = counted || loop_.Chance(40);  // Each node chooses: lane_route.h.
  std::uint32_t direct = straight ? (1u << hosts()) - 1 : 0;
  SimMessagesByHost messages(hosts());
  for (Outgoing& outgoing : outbox_) {
    outgoing.number = oracle_.OnSent(Place(outgoing.host), superstep());
    direct |= 1u << outgoing.host;
    messages[outgoing.host].push_back(FrameOf(outgoing, superstep()));
    if (outgoing.message.get) lane_.NoteAsked(outgoing.host, barrier);
  }
  const bool is_same = !straight && SaysTheSame();
  if (is_same) direct = kSameToAll;
  const auto same = is_same ? std::make_shared<const SimMessagesByHost>(messages) : nullptr;
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    SimLaneFrame frame{.host = self(),
                       .barrier = barrier,
                       .direct = direct,
                       .counts = arrived_counts_,
                       .messages = std::move(messages[host]),
                       .same = same};
    lane_hosts_[host].out[barrier & 1] = std::make_shared<SimLaneFrame>(std::move(frame));
  }
  sent_on_.clear();
  lane_.NoteComposed(barrier, direct);
  lanes_sent_ = 0;
  After(loop_.Below(20 * kMicrosecond), &SimNode::SendNextByLane);
}

void SimNode::SendNextByLane() {
  const auto barrier = lane_.state().sent.load() - 1;
  const std::uint32_t host = lanes_sent_++;
  if (host < hosts()) {
    const SimLaneFramePtr& frame = lane_hosts_[host].out[barrier & 1];
    if (host != self() && (frame->direct >> host & 1) != 0) {
      lanes_.Send(Place(self()), host, frame);
      if (lane_hosts_[host].broken) NoteBroken();
    }
    return After(loop_.Below(50 * kMicrosecond), &SimNode::SendNextByLane);
  }
  if (SendOn(barrier)) return After(loop_.Below(50 * kMicrosecond), &SimNode::SendNextByLane);
  lane_.EndSending();
  if (!lane_.LeftToWorker(barrier)) return Drive();
  OnDaemon(kBellNs, [this, barrier] { TakeOver(barrier); });
}

void SimNode::NoteBroken() {
  if (lane_.state().broken.exchange(1) != 0) return;
  OnDaemon(kBellNs, [this] { LookAfterLanes(); });
}

bool SimNode::Done() const {
  return Released() != driven_barrier_ || lane_.MustStop(driven_barrier_);
}

void SimNode::Drive() {
  if (!lane_.TryToDrive(kDriver)) return;
  driving_ = true;
  driven_barrier_ = lane_.state().sent.load() - 1;
  NextOfDriver(0, &SimNode::Pump);
}

// Each step that who drives makes is an event: the worker and the network have turns in between.
void SimNode::NextOfDriver(std::uint64_t delay_ns, void (SimNode::*step)()) {
  asleep_ = false;
  if (loop_.Chance(1)) {
    oracle_.Count("drivers stopped midway");
    delay_ns += loop_.Below(kStoppedNs);
  }
  OnProcesses(delay_ns, [this, step, turn = ++driver_turn_] {
    if (!stuck_ && turn == driver_turn_) (this->*step)();
  });
}

void SimNode::WakeDriver() {
  if (asleep_) NextOfDriver(loop_.Below(kBellNs), &SimNode::PumpAgain);
}

void SimNode::PumpAgain() { drives_answers_ ? PumpAnswers() : Pump(); }

void SimNode::Pump() {
  const std::uint32_t barrier = driven_barrier_;
  enough_ = Enough();
  if (Done() || lane_.Finished(barrier) || enough_)
    return NextOfDriver(loop_.Below(kStepNs), &SimNode::CompleteOrStop);
  if (SendOn(barrier)) return NextOfDriver(loop_.Below(50 * kMicrosecond), &SimNode::Pump);
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    if ((lane_.Awaited(barrier) >> host & 1) == 0) continue;
    LaneOfHost& lane = lane_hosts_[host];
    // Answers come from who has passed this barrier, and wait until it is over here.
    const bool too_early = !lane.stage.empty() && lane.stage.front()->answers &&
                           lane.stage.front()->barrier >= driven_barrier_;
    if (!lane.stage.empty() && !too_early) {
      taken_from_ = host;
      return NextOfDriver(loop_.Below(kStepNs), &SimNode::TakeFromLane);
    }
    if (lane.broken) NoteBroken();
  }
  NextOfDriver(1 + loop_.Below(kSleepNs), &SimNode::Pump);
  asleep_ = true;
}

void SimNode::TakeFromLane() {
  LaneOfHost& lane = lane_hosts_[taken_from_];
  const SimLaneFramePtr frame = lane.stage.front();
  lane.stage.erase(lane.stage.begin());
  if (frame->answers) {
    if (!drives_answers_ || frame->barrier >= driven_barrier_)
      return oracle_.Fail("answers come before the barrier of their gets is over");
    if (!lane_.LacksAnswers(taken_from_, frame->barrier)) return PumpAgain();
    lane.answers_in = frame;
    return NextOfDriver(loop_.Below(kStepNs), &SimNode::NoteAnswersTaken);
  }
  taken_ = {
      .by = taken_from_, .host = frame->host, .barrier = frame->barrier, .direct = frame->direct};
  if (!lane_.Takes(taken_, driven_barrier_)) {
    if (frame->barrier > driven_barrier_ + 1)
      oracle_.Fail("a frame of a lane is two barriers ahead");
    return PumpAgain();
  }
  lane_hosts_[frame->host].in[frame->barrier & 1] = frame;
  NextOfDriver(loop_.Below(kStepNs), &SimNode::NoteTaken);
}

void SimNode::NoteTaken() {
  lane_.NoteHere(taken_);
  PumpAgain();
}

void SimNode::CompleteOrStop() {
  const bool complete = !Done() && lane_.Finished(driven_barrier_);
  const bool ahead = !complete && !Done() && enough_;
  NextOfDriver(loop_.Below(kStepNs), complete ? &SimNode::CompleteByLanes
                                     : ahead  ? &SimNode::GoAhead
                                              : &SimNode::StopDriving);
}

void SimNode::CompleteByLanes() {
  if (Released() != driven_barrier_)
    return oracle_.Fail("a barrier is completed that is released already");
  if (!HasSentOn(driven_barrier_))
    return oracle_.Fail("a node ends a barrier, and another waits for a head that it has");
  oracle_.Count("barriers passed by lanes");
  Complete();
  NextOfDriver(loop_.Below(kStepNs), &SimNode::StopDriving);
}

void SimNode::StopDriving() {
  lane_.StopDriving();
  driving_ = drives_answers_ = false;
}

void SimNode::OnLaneFrame(std::uint32_t from_host, const SimLaneFramePtr& frame) {
  lane_hosts_[from_host].stage.push_back(frame);
  WakeDriver();
}

void SimNode::OnLaneBroken(std::uint32_t to_host) {
  lane_hosts_[to_host].broken = true;
  WakeDriver();
}

// By the processes, or by their worker.
void SimNode::Complete() {
  const std::uint32_t barrier = Released();
  const std::uint64_t s = SuperstepOf(passed_);
  worker::BarrierCounts counts = arrived_counts_;
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    if (host == self()) continue;
    const SimLaneFrame& frame = *lane_hosts_[host].in[barrier & 1];
    if (frame.barrier != barrier || frame.host != host)
      return oracle_.Fail("a frame of a lane lies in another's place");
    counts.data += frame.counts.data;
    counts.gets += frame.counts.gets;
    counts.votes += frame.counts.votes;
    counts.groups += frame.counts.groups;
    for (const SimFrame& message : frame.messages) {
      oracle_.OnTaken(Place(self()), s, message.number);
      if (message.frame_class == FrameClass::kGets) {
        asked_[s][host].push_back({message.from_pid, message.to_pid, message.index});
      } else {
        inbox_[s].push_back(message);
      }
    }
  }
  (ahead_ ? outbox_before_ : outbox_).clear();
  release_ = {};
  if (counts.gets != 0) lane_.NoteGets(barrier);
  GoOnFrom(passed_ + 1, counts);
}

// ---- The worker ---------------------------------------------------------------------------------

// Its machine stops it in the middle of what it does, and the processes go on. What it would do
// next has to wait, too.
void SimNode::Midway(std::uint32_t percent, std::function<void()> rest) {
  if (stopped_) return after_stop_.push_back(std::move(rest));
  if (!keeper_ || !lane_.on() || !loop_.Chance(percent)) return rest();
  oracle_.Count("workers stopped midway");
  const std::uint64_t ns = loop_.Below(30 * kMillisecond);
  stopped_ = true;
  loop_.Pause(actors_.daemon, ns + 1);
  loop_.After(ns, [this, alive = std::weak_ptr(alive_), rest = std::move(rest)] {
    if (alive.expired() || daemon_dead_) return;
    stopped_ = false;
    rest();
    while (!stopped_ && !after_stop_.empty()) {
      const std::function<void()> next = std::move(after_stop_.front());
      after_stop_.pop_front();
      next();
    }
  });
}

void SimNode::CatchUp() {
  if (!keeper_ || !lane_.on() || exchange_.waiting() || passed_ <= exchange_.barrier()) return;
  direct_->OnPassed(passed_);
  Perform(exchange_.OnPassed(passed_));
}

bool SimNode::LeavesToWorker(const SimFrame& frame) {
  if (!keeper_ || frame.frame_class == FrameClass::kAnswers ||
      frame.frame_class == FrameClass::kAnswersEnd)
    return false;
  return keeper_->OnPartByWorker(static_cast<std::uint32_t>(frame.superstep + 1));
}

void SimNode::TakeOver(std::uint64_t barrier) {
  CatchUp();
  if (exchange_.waiting() || exchange_.barrier() != barrier) return;
  oracle_.Count("barriers taken over by workers");
  for (const Outgoing& outgoing : std::exchange(ahead_ ? outbox_before_ : outbox_, {})) {
    sent_[outgoing.host] += 1;
    streams_.Send(WorkerId{place(outgoing.host).worker()},
                  LentFrameOf(outgoing, SuperstepOf(passed_)));
  }
  OnArrival(passed_);
}

// At a release by the worker.
void SimNode::HoldLanes() {
  if (!keeper_) return;
  if (release_.checkpoint != 0 && release_.checkpoint >= wanted_.checkpoint()) wanted_.Clear();
  lane_.state().hold = wanted_.checkpoint() != 0 ? kHoldForImage : kHoldNone;
  if (!std::exchange(lanes_ready_, false) || lane_.on()) return;
  if (loop_.Chance(kUnhandedPercent)) {
    oracle_.Count("lanes that could not be handed over");
    lanes_.ShutDown(Place(self()));
    lane_.TurnOff();
  }
  lane_.TurnOn(static_cast<std::uint32_t>(exchange_.released_barriers() - 1));
}

void SimNode::LookNowAndThen() {
  OnDaemon(kLookNs / hurry_, [this] {
    if (!exchanging_) return;
    LookAfterLanes();
    LookNowAndThen();
  });
}

void SimNode::LookAfterLanes() {
  if (!exchanging_) return;
  CatchUp();
  Midway(kStopPercent, [this, released = Released()] { LookAfterLanesAt(released); });
}

void SimNode::LookAfterLanesAt(std::uint32_t released) {
  const worker::LaneKeeper::Actions actions = keeper_->Look(released, host_.clock_ns() * hurry_);
  if (actions.shut_down) {
    oracle_.Count("lanes given up");
    lanes_.ShutDown(Place(self()));
  }
  for (std::uint32_t host = 0; actions.repeat && host < hosts(); ++host) {
    if (host == self()) continue;
    for (const std::uint32_t barrier : {released - 1, released})
      if (keeper_->Repeatable(barrier, released)) Repeat(host, barrier, LaneWord::kAsks);
  }
  for (std::uint32_t host = 0; actions.repeat_answers && host < hosts(); ++host)
    if (host != self()) RepeatAnswers(host, released - 1);
  if (actions.look_again) return LookAfterLanes();
  if (actions.install) {
    for (std::uint32_t host = 0; host < hosts(); ++host)
      for (std::uint32_t parity = 0; parity < 2; ++parity)
        if (keeper_->TakeRepeated(host, parity, released))
          lane_hosts_[host].in[parity] = lane_hosts_[host].repeated[parity];
    for (std::uint32_t host = 0; host < hosts(); ++host)
      if (keeper_->TakeAnswers(host, released))
        PublishAnswers(host, *lane_hosts_[host].answers_repeated);
    return LookAfterLanes();
  }
  if (!actions.complete || exchange_.waiting()) return;
  if (Released() != released) return oracle_.Fail("a worker completes a barrier that is over");
  oracle_.Count("barriers completed by workers");
  Complete();
  CatchUp();
}

// Copies it while the processes go on, and may write the next frame there.
void SimNode::Repeat(std::uint32_t host, std::uint32_t barrier, LaneWord word) {
  Midway(kStopPercent, [this, host, barrier, word] {
    const SimLaneFramePtr& copy = lane_hosts_[host].out[barrier & 1];
    if (!lane_.StillComposed(barrier)) return;
    if (!lane_hosts_[self()].out[barrier & 1] || copy->barrier != barrier)
      return oracle_.Fail("a frame of a lane is repeated while another is written there");
    SendRepeated(host, copy, word);
  });
}

void SimNode::SendRepeated(std::uint32_t host, const SimLaneFramePtr& frame, LaneWord word) {
  oracle_.Count("frames of lanes repeated");
  streams_.Send(WorkerId{place(host).worker()}, {.job = job_,
                                                 .epoch = epoch_,
                                                 .superstep = exchange_.superstep(),
                                                 .from_host = self(),
                                                 .frame_class = FrameClass::kArrival,
                                                 .number = 0,
                                                 .from_pid = 0,
                                                 .to_pid = 0,
                                                 .index = 0,
                                                 .value = 0,
                                                 .arrival = {},
                                                 .lane = frame,
                                                 .asks = word == LaneWord::kAsks});
}

void SimNode::OnRepeated(const SimFrame& frame) {
  if (!keeper_) return oracle_.Fail("a frame of a lane where there are none");
  const std::uint32_t barrier = frame.lane->barrier;
  if (frame.lane->answers) {
    if (!keeper_->OnAnswers(frame.from_host, barrier, Released())) return;
    lane_hosts_[frame.from_host].answers_repeated = frame.lane;
    return LookAfterLanes();
  }
  if (frame.asks && lane_.Composed(barrier)) Repeat(frame.from_host, barrier, LaneWord::kAnswers);
  if (frame.asks && lane_.HasAnswers(barrier)) RepeatAnswers(frame.from_host, barrier);
  if (!keeper_->OnRepeated(frame.from_host, barrier, Released())) return;
  lane_hosts_[frame.from_host].repeated[barrier & 1] = frame.lane;
  LookAfterLanes();
}

}  // namespace bspnow
