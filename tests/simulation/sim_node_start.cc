// How the processes of a simulated node begin and end, and what bsp-host does about it.
#include <signal.h>

#include <algorithm>
#include <utility>

#include "coordinator/core/jobs/process_ends.h"
#include "tests/simulation/sim_node.h"

namespace bspnow {

using coordinator::Reached;

// ---- The beginning ------------------------------------------------------------------------------

// As NodeJob has it.
void SimNode::Prepare() {
  awaits_older_ = host_.HasOlderEpoch(*this);
  if (!awaits_older_) return BeginPreparing();
  oracle_.Count("starts that wait for an older epoch");
}

void SimNode::PrepareAfterOlder() {
  if (std::exchange(awaits_older_, false)) BeginPreparing();
}

void SimNode::BeginPreparing() {
  if (stops_preparing_) return NotPrepared();
  waits_for_files_ = std::make_shared<bool>(true);
  const std::uint64_t hanging_ns = host_.hanging_ns();
  if (hanging_ns != 0) oracle_.Count("starts that hang");
  hangs_for_good_ = hanging_ns == SimNodeHost::kForGood;
  if (!hangs_for_good_)
    return PrepareWithin({.least_ns = hanging_ns, .most_ns = hanging_ns + 20 * kMillisecond});
  oracle_.Count("starts that hang for good");
  if (files_only_) BringFilesOnly();
}

void SimNode::PrepareWithin(const Time& time) {
  OnDaemon(loop_.Between(time.least_ns, time.most_ns), [this, waits = waits_for_files_] {
    if (std::exchange(*waits, false)) Prepared();
  });
}

// They may take an hour: so long no schedule is.
void SimNode::BringFilesOnly() {
  files_only_ = true;
  if (hangs()) PrepareWithin({.least_ns = 0, .most_ns = 5 * kSecond});
}

void SimNode::StopPreparing() {
  stops_preparing_ = true;
  if (waits_for_files_ && std::exchange(*waits_for_files_, false)) NotPrepared();
}

void SimNode::NotPrepared() {
  OnDaemon(loop_.Below(20 * kMillisecond), [this] {
    oracle_.Count("starts that are stopped");
    hosted_.OnPrepared(absl::CancelledError("it ends"), proto::RestoreFailed(), {});
  });
}

void SimNode::Prepared() {
  proto::RestoreFailed failed;
  if (host_.sick()) {
    oracle_.Count("starts refused by sick nodes");
    return hosted_.OnPrepared(absl::ResourceExhaustedError("no space left on device"), failed, {});
  }
  if (resumes() && !hosted_.StartedPids().empty()) FindImages(failed);
  hosted_.OnPrepared(absl::OkStatus(), failed, failed.reason());
}

void SimNode::FindImages(proto::RestoreFailed& failed) {
  const proto::Resume& resume = start().resume();
  for (const proto::ImageOfPid& plan : resume.images()) {
    if (HostOf(plan.pid()) != self()) continue;
    if (processes_.contains(plan.pid())) oracle_.Fail("two images of one process");
    const absl::StatusOr<SimImage> image = host_.Collect(job_, resume, plan);
    if (!image.ok()) {
      failed.set_reason(std::string(image.status().message()));
      if (absl::IsDataLoss(image.status())) failed.add_pids(plan.pid());
      continue;
    }
    if (image->superstep != resume.superstep()) oracle_.Fail("images of several supersteps");
    oracle_.OnRestored(job_, resume.checkpoint(), image->superstep);
    oracle_.OnState(job_, image->superstep, plan.pid(), image->state);
    processes_[plan.pid()].state = image->state;
  }
  if (loop_.Chance(1)) failed.set_reason("simulated");
  if (!failed.reason().empty()) oracle_.Count("failed restores");
}

absl::Status SimNode::Start(std::uint64_t lease_until_ns) {
  lease_until_ns_ = lease_until_ns;
  exchanging_ = true;
  JoinLanes();
  const std::uint32_t early = host_.TakeEarlyBegin(job_, epoch_);
  if (resumes()) {
    Learn(start().resume().participants());
    if (has_pid_0()) SendBegin();
  }
  if (!resumes() && early != 0) Learn(early);
  oracle_.OnStarted(Place(self()), hosts(), loop_.now_ns());
  const std::vector<std::uint32_t> started = hosted_.StartedPids();
  if (started.empty()) return absl::OkStatus();
  if (!resumes()) {
    for (const std::uint32_t pid : started) processes_[pid].state = program_.Begin(pid);
  }
  proto::WorkerEvent event;
  event.mutable_started();
  Report(std::move(event));
  After(loop_.Below(10 * kMillisecond), &SimNode::BeginProcesses);
  return absl::OkStatus();
}

void SimNode::BeginProcesses() {
  if (resumes() && loop_.Chance(1)) return FailToResume();
  there_ = true;
  for (const auto& [pid, process] : processes_) {
    proto::WorkerEvent event;
    event.mutable_begun()->set_pid(pid);
    Report(std::move(event));
  }
  OnDaemon(kBellNs, [this] {
    if (!resumes() && has_pid_0()) {
      Learn(program_.processes(start().spec().nprocs()));
      SendBegin();
    }
    BeginIfAllThere();
  });
}

// bsp-restore says why, and ends.
void SimNode::FailToResume() {
  oracle_.Count("failed restores");
  proto::WorkerEvent event;
  event.mutable_restore_failed()->set_reason("simulated");
  Report(std::move(event));
  Leave(0, 1);
}

void SimNode::OnBegin(std::uint32_t participants) {
  if (participants_ != 0) return;
  Learn(participants);
  BeginIfAllThere();
}

void SimNode::Learn(std::uint32_t participants) {
  participants_ = participants;
  std::uint32_t hosts_taking_part = 0;
  for (std::uint32_t i = 0; i < hosts(); ++i) hosts_taking_part += TakingPart(i) > 0 ? 1 : 0;
  oracle_.OnParticipants(job_, epoch_, hosts_taking_part);
  if (TakingPart(self()) > 0) oracle_.OnTakesPart(Place(self()));
}

void SimNode::BeginIfAllThere() {
  if (!there_ || participants_ == 0 || gone_ || stuck_ || std::exchange(began_, true)) return;
  Leave(participants_, 0);
  if (TakingPart(self()) > 0) After(0, &SimNode::ReachBarrier);
}

proto::HeldJob SimNode::Progress() const {
  proto::HeldJob progress;
  if (!exchanging_) return progress;
  progress.set_participants(participants_);
  progress.set_barriers(passed_);
  return progress;
}

// ---- The end ------------------------------------------------------------------------------------

void SimNode::Leave(std::uint32_t first_pid, int status) {
  for (const auto& [pid, process] : processes_) {
    if (pid >= first_pid && !process.left) LeaveOne(pid, status, 0);
  }
}

void SimNode::LeaveOne(std::uint32_t pid, int status, int signal) {
  processes_[pid].left = true;
  Reached reached = signal != 0 && passed_ == 0 ? Reached::kStarted : Reached::kRunning;
  if (signal == 0 && status == 0) {
    reached = pid < participants_ ? Reached::kEnded : Reached::kUnneeded;
  }
  proto::WorkerEvent event;
  proto::ProcessExited& exited = *event.mutable_exited();
  exited.set_pid(pid);
  exited.set_reached(static_cast<std::uint32_t>(reached));
  exited.set_superstep(shown());
  exited.set_exit_status(status);
  exited.set_signal(signal);
  exited.set_output_bytes(processes_[pid].state.printed * SimProgram::kWordBytes);
  Report(std::move(event));
  const bool last = std::all_of(processes_.begin(), processes_.end(),
                                [](const auto& each) { return each.second.left; });
  if (last) EndHost();
}

// bsp-host ends when none of its processes is left.
void SimNode::EndHost() {
  gone_ = true;
  OnDaemon(loop_.Below(2 * kMillisecond) + kBellNs, [this] { hosted_.OnHostGone(ordered_); });
}

void SimNode::KillAll() {
  for (const auto& [pid, process] : processes_) {
    if (!process.left) LeaveOne(pid, 0, SIGKILL);
  }
}

void SimNode::Send(const proto::HostOrder& order) {
  if (order.has_no_room()) no_room_ = order.no_room();
  if (order.credit_bytes() != 0)
    OnProcesses(kBellNs, [this, bytes = order.credit_bytes()] { Grant(bytes); });
  if (order.signal() != 0 && program_.obeys())
    OnProcesses(loop_.Below(3 * kSecond), [this] { Obey(); });  // Or it is killed before.
  if (order.kill_all())
    OnProcesses(host_.jammed_ns() + loop_.Below(5 * kMillisecond), [this] { KillAll(); });
}

bool SimNode::TakeInput(const proto::Input& input) {
  const std::uint64_t end = input.offset() + input.data().size();
  if (!input.data().empty()) oracle_.OnInput(job_, epoch_, input.offset(), end);
  proto::WorkerEvent event;
  event.mutable_input_taken()->set_bytes(end);
  Report(std::move(event));
  return true;
}

// It cleans up and ends.
void SimNode::Obey() {
  if (!there_ || gone_) return;
  oracle_.Count("programs that end at a signal");
  stuck_ = true;
  if (writing_ != 0) ReportImageFailed(std::exchange(writing_, 0), "its process has ended");
  Leave(0, 1);
}

void SimNode::StopExchange() {
  if (std::exchange(exchanging_, false)) streams_.DropJob(job_);
}

void SimNode::Clear(Left kept) {
  StopExchange();
  const bool slow = kept == Left::kFilesAndProfile && loop_.Chance(10);
  if (slow) oracle_.Count("files that take their time");
  const std::string lost = slow && loop_.Chance(30) ? "no space left on device" : "";
  OnDaemon(loop_.Below(slow ? 5 * kSecond : 20 * kMillisecond),
           [this, lost] { hosted_.OnCleared(lost); });
}

// ---- Faults -------------------------------------------------------------------------------------

bool SimNode::KillOne() {
  if (!there_ || gone_) return false;
  std::vector<std::uint32_t> alive;
  for (const auto& [pid, process] : processes_) {
    const bool needed = pid < program_.processes(start().spec().nprocs());
    if (needed && !process.left) alive.push_back(pid);  // Nobody waits for the others.
  }
  if (alive.empty()) return false;
  stuck_ = true;
  if (writing_ != 0) {
    ReportImageFailed(std::exchange(writing_, 0), "the writer of its image was killed");
  }
  LeaveOne(alive[loop_.Below(alive.size())], 0, SIGKILL);
  return true;
}

bool SimNode::KillHost() {
  if (!there_ || gone_) return false;
  EndHost();
  return true;
}

void SimNode::OnDaemonDead(std::uint64_t delay_ns) {
  daemon_dead_ = true;
  OnProcesses(delay_ns, [this] { gone_ = true; });
}

}  // namespace bspnow
