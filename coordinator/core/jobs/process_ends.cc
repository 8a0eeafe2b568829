#include "coordinator/core/jobs/process_ends.h"

#include <string.h>

#include <utility>

#include "base/exit_status.h"

namespace bspnow::coordinator {
namespace {

std::string Name(Pid pid) { return "pid " + std::to_string(Value(pid)); }

std::string InSuperstep(const ProcessEnd& end) {
  if (end.reached != Reached::kRunning) return "";
  return " in superstep " + std::to_string(Value(end.superstep));
}

}  // namespace

std::string NameOf(Pid pid, const ProcessEnd& end) {
  return end.where.empty() ? Name(pid) : Name(pid) + " (" + end.where + ")";
}

ProcessEnds::ProcessEnds(std::uint32_t nprocs) : members_(nprocs), running_(nprocs) {}

Actions ProcessEnds::Fail(int status, std::string report) {
  Actions actions;
  if (failed_) return actions;  // What follows from the first failure is not news.
  failed_ = true;
  failure_ = status;
  actions.kill_all = true;
  if (!report.empty()) actions.reports.push_back(std::move(report));
  return actions;
}

Actions ProcessEnds::Lose(int status, std::string report, Superstep superstep) {
  Actions actions = Fail(status, std::move(report));
  if (actions.kill_all) actions.lost_at = superstep;
  return actions;
}

Actions ProcessEnds::OnBegun(Pid pid) {
  attached_ = true;
  any_begun_ = true;
  members_[Value(pid)].begun = true;
  return CheckLeftEarly();
}

// A process that left before bsp_begin would be waited for for ever. (Those that bsp_begin did not
// need have begun.)
Actions ProcessEnds::CheckLeftEarly() {
  if (!any_begun_) return {};
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].left_early) continue;
    if (i == 0) {  // The job is pid 0's: it ended without an SPMD part, and that is its right.
      if (failed_) return {};
      failed_ = true;
      return Actions{.reports = {}, .kill_all = true, .lost_at = {}};
    }
    return Fail(kAbortStatus, Name(Pid{i}) +
                                  " left before bsp_begin, while others are in it; all processes"
                                  " must call bsp_begin and bsp_end");
  }
  return {};
}

Actions ProcessEnds::OnExited(Pid pid, const ProcessEnd& end) {
  Member& member = members_[Value(pid)];
  if (member.exited) return {};
  member.exited = true;
  running_ -= 1;
  printed_.push_back(
      {.pid = pid, .output_bytes = end.output_bytes, .error_bytes = end.error_bytes});
  if (end.reached != Reached::kStarted) attached_ = true;
  if (end.reached == Reached::kEnded) ends_ = true;
  if (pid == Pid{0} && !failed_) status_of_pid_0_ = end.exit_status;

  if (end.signal != 0) {
    const std::string report = NameOf(pid, end) + " was killed by signal " +
                               std::to_string(end.signal) + " (" + strsignal(end.signal) + ")" +
                               InSuperstep(end) + (end.killed_for.empty() ? "" : ", ") +
                               end.killed_for;
    if (end.reached == Reached::kAborted) return Fail(kSignalStatus + end.signal, report);
    return Lose(kSignalStatus + end.signal, report,
                end.reached == Reached::kRunning ? end.superstep : Superstep{0});
  }
  if (end.reached == Reached::kAborted) return Fail(end.exit_status, "");
  if (end.reached == Reached::kRunning) {
    return Fail(end.exit_status != 0 ? end.exit_status : kAbortStatus,
                NameOf(pid, end) + " left without bsp_end" + InSuperstep(end) + " (exit status " +
                    std::to_string(end.exit_status) +
                    "); every process must call bsp_end (in PUB bsplib_done), or bsp_abort to end"
                    " the job");
  }
  if (end.exit_status != 0) {
    // After bsp_end nobody waits for it: the others may finish.
    if (end.reached == Reached::kEnded) {
      if (failure_ == 0) failure_ = end.exit_status;
      return {};
    }
    return Fail(end.exit_status, "");
  }
  if (end.reached == Reached::kStarted || end.reached == Reached::kAttached) {
    member.left_early = true;
    return CheckLeftEarly();
  }
  return {};
}

Actions ProcessEnds::OnInterrupted(int signal) { return Fail(kSignalStatus + signal, ""); }

Actions ProcessEnds::OnOutputLost(const std::string& why) { return Fail(kFailureStatus, why); }

Actions ProcessEnds::OnBroken(int exit_status, const std::string& why) {
  return Fail(exit_status, why);
}

Actions ProcessEnds::OnLost(const std::string& why, Superstep superstep) {
  return Lose(kFailureStatus, why, superstep);
}

void ProcessEnds::OnResumed(std::uint32_t participants) {
  attached_ = true;
  any_begun_ = true;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    members_[i].begun = true;
    if (i < participants || members_[i].exited) continue;
    members_[i].exited = true;
    running_ -= 1;
  }
}

}  // namespace bspnow::coordinator
