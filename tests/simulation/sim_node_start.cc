// How the processes of a simulated node begin and end.
#include <utility>

#include "tests/simulation/sim_node.h"

namespace bspnow {

void SimNode::Start() {
  OnDaemon(loop_.Below(20 * kMillisecond), [this] {
    if (ending_) return;
    plan_.resume ? Restore() : RunProcesses();
  });
}

void SimNode::RunProcesses() {
  for (const Pid pid : pids()) {
    processes_here_[Value(pid)].state = plan_.program.Begin(Value(pid));
  }
  ReportRunning();
  After(loop_.Below(10 * kMillisecond), &SimNode::BeginProcesses);
}

void SimNode::ReportRunning() {
  proto::WorkerEvent event = Event();
  if (plan_.resume) {
    event.mutable_resumed();
  } else {
    event.mutable_started();
  }
  Report(std::move(event));
}

void SimNode::BeginProcesses() {
  there_ = true;
  for (const auto& [pid, process] : processes_here_) {
    OnDaemon(kBellNs, [this, pid = Pid{pid}] { begun_.insert(pid); });
    proto::WorkerEvent event = Event();
    event.mutable_begun()->set_pid(pid);
    Report(std::move(event));
  }
  if (plan_.resume) ReportRunning();
  OnDaemon(kBellNs, [this] {
    if (!plan_.resume && pids().front() == Pid{0}) {
      Learn(plan_.program.processes(nprocs()));
      SendBegin();
    }
    BeginIfAllThere();
  });
}

void SimNode::OnBegin(std::uint32_t processes) {
  if (processes_ != 0) return;
  Learn(processes);
  BeginIfAllThere();
}

void SimNode::Learn(std::uint32_t processes) {
  processes_ = processes;
  std::uint32_t hosts_taking_part = 0;
  for (std::uint32_t i = 0; i < hosts(); ++i) hosts_taking_part += TakingPart(i) > 0 ? 1 : 0;
  oracle_.OnParticipants(job(), epoch(), hosts_taking_part);
  if (TakingPart(plan_.self) > 0) oracle_.OnTakesPart(Place(plan_.self));
}

void SimNode::BeginIfAllThere() {
  if (!there_ || processes_ == 0 || gone_ || stuck_ || std::exchange(began_, true)) return;
  Leave(processes_, Reached::kUnneeded, 0);
  if (TakingPart(plan_.self) > 0) After(0, &SimNode::ReachBarrier);
}

void SimNode::Leave(std::uint32_t first_pid, Reached reached, int status) {
  for (const auto& [pid, process] : processes_here_) {
    if (pid >= first_pid && !process.left) LeaveOne(Pid{pid}, reached, status, 0);
  }
}

void SimNode::LeaveOne(Pid pid, Reached reached, int status, int signal) {
  processes_here_[Value(pid)].left = true;
  proto::WorkerEvent event = Event();
  proto::ProcessExited& exited = *event.mutable_exited();
  exited.set_pid(Value(pid));
  exited.set_reached(static_cast<std::uint32_t>(reached));
  exited.set_superstep(shown());
  exited.set_exit_status(status);
  exited.set_signal(signal);
  OnDaemon(kBellNs, [this, exited] { exited_.push_back(exited); });
  Report(std::move(event));
}

bool SimNode::KillOne() {
  if (!there_ || gone_ || ending_ || silent_) return false;
  std::vector<std::uint32_t> alive;
  for (const auto& [pid, process] : processes_here_) {
    const bool needed = pid < plan_.program.processes(nprocs());  // Nobody waits for the others.
    if (needed && !process.left) alive.push_back(pid);
  }
  if (alive.empty()) return false;
  stuck_ = true;
  const bool begun = exchange_.barrier() != 0;
  LeaveOne(Pid{alive[loop_.Below(alive.size())]}, begun ? Reached::kRunning : Reached::kStarted, 0,
           9);
  if (writing_ != 0) given_up_.insert(writing_);
  return true;
}

void SimNode::End(std::function<void()> cleared) {
  if (std::exchange(ending_, true)) return;
  loop_.On(plan_.actors.processes, loop_.Below(5 * kMillisecond),
           [self = shared_from_this(), cleared = std::move(cleared)] {
             if (std::exchange(self->gone_, true)) return;
             for (auto& [pid, process] : self->processes_here_) {
               if (!process.left) self->LeaveOne(Pid{pid}, Reached::kRunning, 0, 9);
             }
             self->OnDaemon(self->loop_.Below(20 * kMillisecond) + kBellNs,
                            [self, cleared = std::move(cleared)] {
                              self->streams_.DropJob(self->job());
                              cleared();
                            });
           });
}

void SimNode::Abandon() {
  if (std::exchange(silent_, true)) return;
  streams_.DropJob(job());
  loop_.On(plan_.actors.processes, loop_.Below(20 * kMillisecond),
           [self = shared_from_this()] { self->gone_ = true; });
}

void SimNode::Die() {
  silent_ = true;
  gone_ = true;
}

}  // namespace bspnow
