// What processes do from the release of a barrier to the next superstep: wait for a lease, answer
// gets, save themselves.
#include <algorithm>
#include <utility>

#include "tests/simulation/sim_node.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kLookNs = kMillisecond;  // At the lease, while it is over.

}  // namespace

void SimNode::OnLeaseRenewed(std::uint64_t until_ns) {
  lease_until_ns_ = until_ns;
  if (!std::exchange(waits_for_lease_, false)) return;
  After(loop_.Below(kLookNs), &SimNode::LeaveBarrier);
}

void SimNode::LeaveBarrier() {
  if (loop_.now_ns() >= lease_until_ns_) {
    oracle_.Count("barriers held by leases");
    waits_for_lease_ = true;
    return;
  }
  oracle_.OnPassed(Place(plan_.self), exchange_.released_barriers() - 1);
  if (!exchange_.released_ends_superstep()) return Compute();
  oracle_.OnSuperstepOver(Place(plan_.self), exchange_.released_superstep());
  if (exchange_.global_counts().gets == 0) return FinishSuperstep();
  in_gets_ = true;
  answering_ = true;
  After(loop_.Below(kMillisecond), &SimNode::AnswerGets);
}

// ---- Gets ---------------------------------------------------------------------------------------

void SimNode::AnswerGets() {
  answering_ = false;
  for (const std::uint32_t pid : PidsTakingPart()) {
    answers_[pid] = processes_here_[pid].state.digest;
  }
  OnDaemon(0, [this] { Perform(exchange_.OnLocalAnswers(exchange_.superstep() - 1)); });
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
    SimFrame frame{.job = job(),
                   .epoch = epoch(),
                   .superstep = s,
                   .from_host = plan_.self,
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
      streams_.Send(plan_.hosts[host].worker, frame);
    }
    frame.frame_class = worker::NodeExchange::FrameClass::kAnswersEnd;
    streams_.Send(plan_.hosts[host].worker, frame);
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
  const std::uint64_t superstep = exchange_.released_superstep();
  if (!repeats(superstep)) {
    for (const SimFrame& frame : inbox_[superstep]) {
      processes_here_[frame.to_pid].received +=
          SimProgram::Received(frame.from_pid, frame.index, frame.value);
    }
    for (const std::uint32_t pid : PidsTakingPart()) {
      Process& process = processes_here_[pid];
      const std::uint64_t received = std::exchange(process.received, 0);
      process.state.digest =
          SimProgram::After(process.state.digest, first_superstep_ + superstep, received);
      oracle_.OnState(job(), shown(), pid, process.state);
    }
  }
  inbox_.erase(superstep);
  Save();
}

// As it is asked for in the Release, or since by the coordinator.
void SimNode::Save() {
  std::uint64_t checkpoint = release_.checkpoint;
  std::uint64_t base = release_.base;
  bool hold = release_.hold != 0;
  release_ = {};
  if (alone()) {
    const bool may =
        shown() < plan_.program.supersteps() && exchange_.superstep() > (plan_.resume ? 1 : 0);
    checkpoint = may ? std::exchange(wanted_.checkpoint, 0) : 0;
    base = wanted_.base;
    hold = wanted_.hold != 0;
  }
  if (checkpoint == 0) return GoOn();
  const bool refused = loop_.Chance(3);
  if (writing_ != 0 || refused) {
    if (refused) oracle_.Count("images refused");
    ReportFailed(checkpoint, writing_ != 0 ? "one is still being written" : "a socket");
    return GoOn();
  }
  writing_ = checkpoint;
  std::map<std::uint32_t, SimImage> images;
  for (const std::uint32_t pid : PidsTakingPart()) {
    images[pid] = {.superstep = shown(), .base = base, .state = processes_here_[pid].state};
  }
  OnDaemon(loop_.Below(30 * kMillisecond),
           [this, checkpoint, images = std::move(images)] { OnWritten(checkpoint, images); });
  if (!hold) return GoOn();
  oracle_.Count("processes held behind images");
  holds_ = checkpoint;
  GoOnIfReleased();
}

void SimNode::OnWritten(std::uint64_t checkpoint, const std::map<std::uint32_t, SimImage>& images) {
  writing_ = 0;
  if (given_up_.contains(checkpoint)) {
    host_.Discard(job(), checkpoint);
    return ReportFailed(checkpoint, "it was given up");
  }
  host_.Settle(job(), checkpoint, images,
               [self = shared_from_this(), checkpoint, images](const std::string& failure) {
                 if (!self->silent_) return self->OnSettled(checkpoint, failure, images);
                 self->host_.Discard(self->job(), checkpoint);
               });
}

void SimNode::OnSettled(std::uint64_t checkpoint, const std::string& failure,
                        const std::map<std::uint32_t, SimImage>& images) {
  if (!failure.empty()) return ReportFailed(checkpoint, failure);
  proto::WorkerEvent event = Event();
  proto::CheckpointStored& stored = *event.mutable_checkpoint_stored();
  stored.set_checkpoint(checkpoint);
  stored.set_superstep(images.begin()->second.superstep);
  stored.set_participants(processes_);
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

void SimNode::ReportFailed(std::uint64_t checkpoint, const std::string& reason) {
  proto::WorkerEvent event = Event();
  event.mutable_checkpoint_failed()->set_checkpoint(checkpoint);
  event.mutable_checkpoint_failed()->set_reason(reason);
  Report(std::move(event));
}

void SimNode::TakeCheckpoint(const ReleaseDirective& directive) { wanted_ = directive; }

void SimNode::ReleaseHeld(std::uint64_t checkpoint) {
  released_checkpoint_ = checkpoint;
  if (writing_ == checkpoint) {
    given_up_.insert(checkpoint);
  } else {
    host_.Discard(job(), checkpoint);
  }
  After(0, &SimNode::GoOnIfReleased);
}

void SimNode::GoOnIfReleased() {
  if (holds_ == 0 || released_checkpoint_ < holds_) return;
  holds_ = 0;
  GoOn();
}

void SimNode::GoOn() {
  if (shown() < plan_.program.supersteps()) return Compute();
  for (const std::uint32_t pid : PidsTakingPart()) Print(pid);
  Leave(0, Reached::kEnded, 0);
}

// ---- Going back ---------------------------------------------------------------------------------

void SimNode::Restore() {
  const proto::Resume& resume = *plan_.resume;
  if (Value(pids().front()) >= resume.participants()) {  // None of its processes goes on.
    Learn(resume.participants());
    return ReportRunning();
  }
  std::vector<std::uint32_t> missing;
  for (const proto::ImageOfPid& plan : resume.images()) {
    if (HostOf(plan.pid()) != plan_.self) continue;
    if (processes_here_.contains(plan.pid())) oracle_.Fail("two images of one process");
    const std::optional<SimImage> image = host_.Collect(job(), resume, plan);
    if (!image) {
      missing.push_back(plan.pid());
      continue;
    }
    if (image->superstep != resume.superstep()) oracle_.Fail("images of several supersteps");
    oracle_.OnRestored(job(), resume.checkpoint(), image->superstep);
    oracle_.OnState(job(), image->superstep, plan.pid(), image->state);
    processes_here_[plan.pid()].state = image->state;
  }
  if (!missing.empty() || loop_.Chance(2)) {
    processes_here_.clear();
    oracle_.Count("failed restores");
    proto::WorkerEvent event = Event();
    proto::RestoreFailed& failed = *event.mutable_restore_failed();
    failed.set_checkpoint(resume.checkpoint());
    failed.set_reason("simulated");
    failed.mutable_pids()->Assign(missing.begin(), missing.end());
    return Report(std::move(event));
  }
  Learn(resume.participants());
  After(loop_.Below(10 * kMillisecond), &SimNode::BeginProcesses);
}

}  // namespace bspnow
