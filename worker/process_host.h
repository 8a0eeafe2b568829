// Hosts the processes of one job on this node: starts them, speaks the link with them, reads their
// output, reaps them. Nothing that they start outlives the job: their descendants are killed, too.
// Runs on the loop's thread; tells its owner what happens, decides nothing.
#ifndef WORKER_PROCESS_HOST_H_
#define WORKER_PROCESS_HOST_H_

#include <absl/status/status.h>
#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "proto/host.pb.h"
#include "runtime/link/link.h"
#include "worker/limits.h"

namespace bspnow {

enum class Stream { kOutput = 1, kError = 2 };

/// What a process gets when it says hello.
struct SharedMemory {
  int segment;
  std::uint64_t segment_bytes;
  int doorbell;  ///< -1: none, the whole job lives here.
};

/// The descriptors that hosting one process takes, and those that it takes besides.
inline constexpr std::uint64_t kDescriptorsPerProcess = 3;
inline constexpr std::uint64_t kDescriptorsBesides = 32;

/// What the owner hears. Output of a process comes before its end.
struct ProcessEvents {
  std::function<void(Pid)> attached;  ///< It has said hello.
  std::function<void(Pid)> begun;
  std::function<void(Pid, Stream, std::string_view)> output;
  std::function<void(Pid, Stream)> output_ended;
  std::function<void(Pid, int wait_status)> exited;
  // Without these there are no checkpoints: who asks is told so.
  std::function<void(Pid)> saving{};  ///< Waits for AnswerImagePlace, as does:
  std::function<void(Pid)> resume{};
  std::function<void(Pid, const LinkImageReport&)> image_reported{};
  std::function<void(Pid, const std::string& why)> link_lost{};  ///< It reports no image any more.
  std::function<void(pid_t, int wait_status)> other_exited{};    ///< A child that is none of these.
};

class ProcessHost {
 public:
  ProcessHost(EventLoop& loop, const SharedMemory& memory, ProcessEvents events);
  ~ProcessHost();

  /// Starts all processes. `input`: standard input of pid 0, or -1; the others have none. They get
  /// back `limits`.
  absl::Status Start(const proto::HostPlan& plan, int input, const RaisedLimits& limits);

  /// Hands the descriptor to a process that asked for it; -1: there is none.
  void AnswerImagePlace(Pid pid, int descriptor);

  /// Reads what is in its pipes now.
  void DrainOutput(Pid pid);

  /// 0 if it has exited.
  pid_t os_pid(Pid pid) const { return processes_.at(pid).os_pid; }

  /// Sends a signal to every process that still runs.
  void Signal(int signal);

  /// Kills every process, and what they started.
  void KillAll();

  /// Kills and reaps what the processes started and left behind, and reads the last of the output.
  /// When all processes have exited.
  void Finish();

  /// While paused, output stays in the pipes, and the processes wait.
  void PauseOutput();
  void ResumeOutput();

 private:
  struct Hosted {
    pid_t os_pid = 0;  ///< 0 once reaped.
    bool welcomed = false;
    UniqueFd link;
    UniqueFd output;
    UniqueFd error;
  };

  absl::Status StartOne(const proto::HostPlan& plan, const proto::HostedProcess& process, int input,
                        const RaisedLimits& limits);
  void OnLink(Pid pid);
  void Welcome(Pid pid);
  void OnHello(Pid pid, const LinkHello& hello);
  void OnSignals();
  void Reap();
  void ReadStream(Pid pid, Stream stream);
  void WatchOutput(Pid pid);
  UniqueFd& descriptor(Pid pid, Stream stream);
  Hosted& hosted(Pid pid) { return processes_.at(pid); }

  EventLoop& loop_;
  const SharedMemory memory_;
  ProcessEvents events_;
  std::map<Pid, Hosted> processes_;
  std::unordered_map<pid_t, Pid> by_os_pid_;
  std::uint32_t processors_ = 1;
  UniqueFd child_signals_;
  bool output_paused_ = false;
};

}  // namespace bspnow

#endif  // WORKER_PROCESS_HOST_H_
