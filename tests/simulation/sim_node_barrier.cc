// What processes do from the release of a barrier to the next superstep: wait for a lease, answer
// gets, save themselves.
#include <algorithm>
#include <utility>

#include "net/frame_check.h"
#include "tests/simulation/sim_node.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kLookNs = kMillisecond;  // At the lease, while it is over.

}  // namespace

void SimNode::SetLease(std::uint64_t until_ns) {
  lease_until_ns_ = until_ns;
  if (!std::exchange(waits_for_lease_, false)) return;
  After(loop_.Below(kLookNs), &SimNode::LeaveBarrier);
}

void SimNode::LeaveBarrier() {
  if (host_.clock_ns() >= lease_until_ns_) {
    oracle_.Count("barriers held by leases");
    waits_for_lease_ = true;
    return;
  }
  if (abandoned()) oracle_.Fail("processes of an epoch pass a barrier though it was abandoned");
  if (std::exchange(leaves_ahead_, false)) {
    oracle_.OnAhead(Place(self()));
    return FinishSuperstep();
  }
  leaving_ = false;
  for (const std::uint32_t pid : PidsTakingPart())
    if (SimBulk* const bulk = processes_[pid].bulk.get()) bulk->Leave();
  oracle_.OnPassed(Place(self()), passed_ - 1);
  if (!released_ends_superstep()) return Compute();
  oracle_.OnSuperstepOver(Place(self()), released_superstep());
  if (passed_counts_.gets == 0) return FinishSuperstep();
  in_gets_ = true;
  answering_ = true;
  After(loop_.Below(kMillisecond), &SimNode::AnswerGets);
}

// ---- Nodes that release themselves --------------------------------------------------------------

// As JobExchange does it.
void SimNode::ArriveDirectly(const worker::BarrierCounts& counts) {
  const std::uint64_t superstep = exchange_.superstep();
  const bool saves = exchange_.ends_superstep() && !repeats(superstep);
  arrived_order_ = saves ? wanted_ : proto::TakeCheckpoint();
  PeerArrival body{.barrier = exchange_.barrier(),
                   .checkpoint = arrived_order_.checkpoint(),
                   .frames = 0,
                   .processes = TakingPart(self()),
                   .with_data = counts.data,
                   .with_gets = counts.gets,
                   .with_votes = counts.votes,
                   .ending = counts.ending,
                   .with_groups = counts.groups,
                   .has_sums = 0,
                   .by_count = 0,
                   .lanes_ready = keeper_ && lanes_.Ready(Place(self())) ? 1u : 0u,
                   .sums = {}};
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    if (TakingPart(host) == 0) continue;
    body.frames = exchange_.arrival().frames[host];
    const auto bytes = BytesOf(body);
    if (host == self()) {
      if (!direct_->OnArrival(host, bytes, body.processes))
        return oracle_.Fail("an arrival of its own that cannot be");
      continue;
    }
    streams_.Send(WorkerId{place(host).worker()},
                  {.job = job_,
                   .epoch = epoch_,
                   .superstep = superstep,
                   .from_host = self(),
                   .frame_class = worker::NodeExchange::FrameClass::kArrival,
                   .number = 0,
                   .from_pid = 0,
                   .to_pid = 0,
                   .index = 0,
                   .value = 0,
                   .arrival = {bytes.begin(), bytes.end()}});
  }
  PassDirectly();
}

void SimNode::PassDirectly() {
  if (!Directly() || !exchange_.waiting() || exchange_.release_known()) return;
  std::vector<std::uint32_t> taking_part;
  for (std::uint32_t host = 0; host < hosts(); ++host) taking_part.push_back(TakingPart(host));
  const auto outcome = direct_->Finish(taking_part);
  if (!outcome) return;
  oracle_.Count("barriers passed directly");
  lanes_ready_ = outcome->lanes_ready;
  release_ = {};
  if (outcome->checkpoint != 0) {
    release_.checkpoint = arrived_order_.checkpoint();
    release_.base = arrived_order_.base();
    release_.hold = arrived_order_.hold() ? 1 : 0;
    ordered_ = std::max(ordered_, outcome->checkpoint);
    oracle_.Count("checkpoints decided by nodes");
  }
  Perform(exchange_.OnRelease(exchange_.barrier(), outcome->counts, outcome->frames));
}

// ---- Gets ---------------------------------------------------------------------------------------

void SimNode::AnswerGets() {
  answering_ = false;
  for (const std::uint32_t pid : PidsTakingPart()) {
    answers_[pid] = processes_[pid].state.digest;
  }
  if (lane_.HasGets(Released() - 1)) {
    SendAnswersByLanes();
  } else {
    OnDaemon(0, [this, s = released_superstep()] {
      CatchUp();
      // Else nobody asked here, and barriers were passed by lanes since.
      if (s + 1 == exchange_.superstep()) Perform(exchange_.OnLocalAnswers(s));
    });
  }
  After(1, &SimNode::GoOnIfAnswered);
}

void SimNode::SendAnswers() {
  const std::uint64_t s = exchange_.answers_superstep();
  const auto asked = asked_.extract(s);
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    const bool has_asked = !asked.empty() && asked.mapped().contains(host);
    if (TakingPart(host) > 0 && exchange_.Asked(host) != has_asked) {
      return oracle_.Fail("a node does not know who has asked it");
    }
    if (!has_asked) continue;
    SimFrame frame{.job = job_,
                   .epoch = epoch_,
                   .superstep = s,
                   .from_host = self(),
                   .frame_class = worker::NodeExchange::FrameClass::kAnswers,
                   .number = 0,
                   .from_pid = 0,
                   .to_pid = 0,
                   .index = 0,
                   .value = 0};
    for (const Request& request : asked.mapped().at(host)) {
      frame.from_pid = request.to_pid;
      frame.to_pid = request.from_pid;
      frame.index = request.index;
      frame.value = answers_.at(request.to_pid);
      streams_.Send(WorkerId{place(host).worker()}, frame);
    }
    frame.frame_class = worker::NodeExchange::FrameClass::kAnswersEnd;
    streams_.Send(WorkerId{place(host).worker()}, frame);
  }
}

void SimNode::TakeAnswers() {
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    if (!exchange_.TakeAnswered(host)) continue;
    if (awaits_.erase(host) == 0) oracle_.Fail("answers that were not asked for");
  }
  After(0, &SimNode::GoOnIfAnswered);
}

void SimNode::GoOnIfAnswered() {
  if (!in_gets_ || answering_ || !awaits_.empty()) return;
  in_gets_ = false;
  FinishSuperstep();
}

// ---- The end of bsp_sync ------------------------------------------------------------------------

void SimNode::FinishSuperstep() {
  const std::uint64_t superstep = released_superstep();
  const bool ahead = std::exchange(received_ahead_, false);
  for (const std::uint64_t frame : lent_[superstep - 1])
    if (!oracle_.IsTaken(frame)) oracle_.Fail("processes write where their worker sends from");
  lent_.erase(superstep - 1);
  if (!repeats(superstep)) {
    std::uint64_t votes = 0;
    for (const SimFrame& frame : ahead ? messages_ahead_ : inbox_[superstep]) {
      Process& process = processes_[frame.to_pid];
      if (frame.vote) {
        votes += SimProgram::Received(frame.from_pid, frame.index, frame.value);
      } else if (frame.put) {
        if (process.area.Put(frame.from_pid, frame.index, frame.value))
          oracle_.Count("puts that came twice");
      } else {
        process.received += SimProgram::Received(frame.from_pid, frame.index, frame.value);
      }
    }
    if (!ahead) CheckVotes(votes);
    for (const std::uint32_t pid : PidsTakingPart()) {
      TakePuts(pid);
      Process& process = processes_[pid];
      const std::uint64_t received = std::exchange(process.received, 0);
      process.state.digest =
          SimProgram::After(process.state.digest, first_superstep_ + superstep, received);
      oracle_.OnState(job_, shown(), pid, process.state);
    }
  }
  if (!ahead) inbox_.erase(superstep);
  Save();
}

std::uint32_t SimNode::InGroups(std::uint64_t superstep) const {
  const auto pids = PidsTakingPart();
  return static_cast<std::uint32_t>(std::count_if(
      pids.begin(), pids.end(),
      [this, superstep](std::uint32_t pid) { return program_.in_groups(superstep, pid); }));
}

// As it is asked for in the Release, or since by the coordinator.
void SimNode::Save() {
  std::uint64_t checkpoint = release_.checkpoint;
  std::uint64_t base = release_.base;
  bool hold = release_.hold != 0;
  release_ = {};
  if (alone()) {
    const bool may = shown() < program_.supersteps() && superstep() > (resumes() ? 1 : 0) &&
                     InGroups(shown() - 1) == 0;
    const proto::TakeCheckpoint wanted = may ? std::exchange(wanted_, {}) : proto::TakeCheckpoint();
    checkpoint = wanted.checkpoint();
    base = wanted.base();
    hold = wanted.hold();
  }
  if (checkpoint == 0) return GoOn();
  std::string refusal = no_room_;
  if (loop_.Chance(3)) refusal = "a socket";
  if (!refusal.empty()) oracle_.Count("images refused");
  if (writing_ != 0) refusal = "one is still being written";
  if (!refusal.empty()) {
    ReportImageFailed(checkpoint, refusal);
    return GoOn();
  }
  if (InGroups(shown() - 1) != 0)
    return oracle_.Fail("an image of a process that has another group open");
  writing_ = checkpoint;
  std::map<std::uint32_t, SimImage> images;
  for (const std::uint32_t pid : PidsTakingPart()) {
    images[pid] = {.superstep = shown(), .base = base, .state = processes_[pid].state};
  }
  OnProcesses(loop_.Below(30 * kMillisecond),
              [this, checkpoint, images = std::move(images)] { Write(checkpoint, images); });
  if (!hold) return GoOn();
  oracle_.Count("processes held behind images");
  holds_ = checkpoint;
  GoOnIfReleased();
}

// Though a process may be dead by now: of its image, too, everything is there.
void SimNode::Write(std::uint64_t checkpoint, const std::map<std::uint32_t, SimImage>& images) {
  if (std::exchange(writing_, 0) == 0) return;  // The writer was killed.
  OnDaemon(0, [this, checkpoint, images] { host_.OnWritten(job_, checkpoint, images); });
  proto::WorkerEvent event;
  proto::CheckpointStored& stored = *event.mutable_checkpoint_stored();
  stored.set_checkpoint(checkpoint);
  stored.set_participants(participants_);
  for (const auto& [pid, image] : images) {
    proto::StoredImage& message = *stored.add_images();
    message.set_pid(pid);
    message.set_file_bytes(1);
    message.set_output_bytes(image.state.printed * SimProgram::kWordBytes);
    message.set_pause_ns(kMillisecond);
    message.set_cpu_ns(kMillisecond);
  }
  Report(std::move(event));
}

void SimNode::ReportImageFailed(std::uint64_t checkpoint, const std::string& reason) {
  proto::WorkerEvent event;
  event.mutable_checkpoint_failed()->set_checkpoint(checkpoint);
  event.mutable_checkpoint_failed()->set_reason(reason);
  Report(std::move(event));
}

void SimNode::OrderImage(const proto::TakeCheckpoint& order) {
  wanted_ = order;
  lane_state_.hold = kHoldForImage;
  if (alone()) ordered_ = std::max(ordered_, order.checkpoint());
}

void SimNode::ReleaseHeld(std::uint64_t checkpoint) {
  if (!alone() && wanted_.checkpoint() <= checkpoint) {
    wanted_.Clear();
    if (lane_state_.hold == kHoldForImage) lane_state_.hold = kHoldNone;
  }
  image_.ReleaseHeld(checkpoint);
  After(0, &SimNode::GoOnIfReleased);
}

void SimNode::GoOnIfReleased() {
  if (holds_ == 0 || image_.Holds(holds_)) return;
  holds_ = 0;
  GoOn();
}

void SimNode::GoOn() {
  if (shown() < program_.supersteps()) return Compute();
  for (const std::uint32_t pid : PidsTakingPart()) Print(pid);
  Leave(0, 0);
}

}  // namespace bspnow
