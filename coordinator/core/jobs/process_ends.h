// How the processes of a job end, and the job with them: a pure state machine. Events of the
// processes go in, what must be done comes out. It has no socket, no clock and no process; the
// owner performs the actions.
#ifndef COORDINATOR_CORE_JOBS_PROCESS_ENDS_H_
#define COORDINATOR_CORE_JOBS_PROCESS_ENDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"

namespace bspnow::coordinator {

/// How far a process had come when it ended.
enum class Reached {
  kStarted,   ///< Never spoke to the worker: no BSP process, or an early end.
  kAttached,  ///< Made a BSP call, but not bsp_begin.
  kUnneeded,  ///< bsp_begin asked for fewer processes.
  kRunning,   ///< Between bsp_begin and bsp_end.
  kEnded,     ///< After bsp_end.
  kAborted,   ///< bsp_abort or a misuse; its message is out.
};

struct ProcessEnd {
  Reached reached;
  Superstep superstep;  ///< Meaningful for kRunning.
  int exit_status;      ///< As given to exit; 0 if killed.
  int signal;           ///< That killed it, or 0.
  /// Sent on standard output and error, in all epochs.
  std::uint64_t output_bytes = 0;
  std::uint64_t error_bytes = 0;
  std::string killed_for{};  ///< By a signal: "for want of memory ..."; empty: not known.
  std::string where{};       ///< "OS pid 4711 on w2", for its user; empty: that is not known.
};

/// What a process that has ended had printed.
struct Printed {
  Pid pid;
  std::uint64_t output_bytes;
  std::uint64_t error_bytes;
};

/// "pid 3 (OS pid 4711 on w2)".
std::string NameOf(Pid pid, const ProcessEnd& end);

/// What the owner must do now.
struct Actions {
  std::vector<std::string> reports;  ///< Lines for the job's standard error.
  bool kill_all = false;             ///< End every process that still runs, at once.
  /// Where the processes were lost, through no fault of the program (`reports` says how): it may be
  /// started again, and then what failed here is forgotten.
  std::optional<Superstep> lost_at{};
};

class ProcessEnds {
 public:
  explicit ProcessEnds(std::uint32_t nprocs);

  Actions OnBegun(Pid pid);
  Actions OnExited(Pid pid, const ProcessEnd& end);

  /// The user, or the system, wants the job to end: SIGINT, SIGTERM, a closed output.
  Actions OnInterrupted(int signal);

  /// The output cannot be delivered any more.
  Actions OnOutputLost(const std::string& why);

  /// The job cannot go on: it could not start, an h-relation is too large.
  Actions OnBroken(int exit_status, const std::string& why);

  /// Processes were lost: with their worker, or because its service failed them.
  Actions OnLost(const std::string& why, Superstep superstep);

  /// Its processes are back in the middle of their SPMD part; those from `participants` on have
  /// left.
  void OnResumed(std::uint32_t participants);

  /// All processes have ended.
  bool finished() const { return running_ == 0; }

  /// Of those that have ended in this epoch.
  const std::vector<Printed>& printed() const { return printed_; }

  /// A process has left after bsp_end, so nobody takes a checkpoint any more.
  bool ends() const { return ends_; }

  /// No process made a BSP call.
  bool never_attached() const { return !attached_; }

  /// The exit status of the job: that of pid 0, or the first failure's (docs/design.md);
  /// 128 + signal for a killed process, 6 where BSPlib ended it.
  int exit_status() const { return failure_ != 0 ? failure_ : status_of_pid_0_; }

 private:
  struct Member {
    bool begun = false;
    bool exited = false;
    bool left_early = false;  ///< Ended, well, before bsp_begin.
  };

  Actions Fail(int status, std::string report);
  Actions Lose(int status, std::string report, Superstep superstep);
  Actions CheckLeftEarly();

  std::vector<Member> members_;
  std::vector<Printed> printed_;
  std::uint32_t running_;
  bool attached_ = false;
  bool any_begun_ = false;
  bool ends_ = false;
  bool failed_ = false;
  int failure_ = 0;
  int status_of_pid_0_ = 0;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_JOBS_PROCESS_ENDS_H_
