// Hosts the processes of one job on this node: starts them, speaks the link with them, reads their
// output, reaps them. Nothing that they start outlives the job: their descendants are killed, too.
// Runs on the loop's thread; calls its owner, decides nothing.
#ifndef WORKER_HOST_PROCESS_HOST_H_
#define WORKER_HOST_PROCESS_HOST_H_

#include <absl/status/status.h>
#include <linux/filter.h>
#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/raised_limits.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "runtime/link/link.h"
#include "worker/host/account.h"
#include "worker/host/link_answer.h"
#include "worker/host/reaped_child.h"

namespace bspnow::worker {

enum class Stream { kOutput = 1, kError = 2 };

/// What a process gets when it says hello.
struct SharedMemory {
  int segment;
  std::uint64_t segment_bytes;
  int doorbell;  ///< -1: none, the whole job lives here.
  int mailbox;   ///< The same.
};

/// What to start. No HostPlan, though it says the same: bsprun would load protobuf for each local
/// job, which takes it a quarter longer to start.
struct ProcessPlan {
  std::string program;                   ///< The file that is executed.
  std::vector<std::string> arguments;    ///< argv, [0] included.
  std::vector<std::string> environment;  ///< Complete: NAME=VALUE.
  std::string directory;                 ///< Empty: this process's.
  std::string other_directory{};         ///< As in SpawnRequest.
  std::vector<Pid> pids;
  /// In place of `arguments`, of those that differ.
  std::map<Pid, std::vector<std::string>> arguments_by_pid{};
  int input;  ///< Standard input of pid 0, or -1. The others have none.
  std::uint32_t processors;
  std::uint64_t memory_bytes = 0;    ///< Of one process; 0: not limited.
  bool core = false;                 ///< As in SpawnRequest.
  const RaisedLimits& limits;        ///< That they get back.
  const Account* account = nullptr;  ///< As in SpawnRequest.
  std::span<const sock_filter> filter{};
};

/// The descriptors that hosting one process takes, and those that it takes besides.
inline constexpr std::uint64_t kDescriptorsPerProcess = 3;
inline constexpr std::uint64_t kDescriptorsBesides = 32;

/// Who hosts processes is called when something happens to them. Output of a process comes before
/// its end.
class ProcessOwner {
 public:
  virtual void OnAttached(Pid) {}  ///< The process has said hello.
  virtual void OnBegun(Pid pid) = 0;
  virtual void OnOutput(Pid pid, Stream stream, std::string_view bytes) = 0;
  virtual void OnOutputEnded(Pid pid, Stream stream) = 0;
  virtual void OnExited(Pid pid, int wait_status, const ProcessUsage& usage) = 0;
  // Who takes no checkpoints needs none of these. True: AnswerImagePlace will follow.
  virtual bool OnSaving(Pid) { return false; }
  virtual bool OnResume(Pid) { return false; }
  virtual void OnImageReported(Pid, const LinkImageReport&) {}
  virtual void OnLinkLost(Pid, const std::string& /*why*/) {}  ///< It reports no image any more.
  virtual void OnOtherExited(pid_t, int /*wait_status*/) {}    ///< A child that is none of these.

 protected:
  ~ProcessOwner() = default;
};

class ProcessHost {
 public:
  ProcessHost(EventLoop& loop, const SharedMemory& memory, ProcessOwner& owner);
  ~ProcessHost();

  /// Starts all processes.
  absl::Status Start(const ProcessPlan& plan);

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
    bool begun = false;
    std::uint64_t messages_since_ns = 0;  ///< A while of kLinkWhileMs.
    std::uint32_t messages = 0;           ///< Over the link, since then.
    std::uint64_t printed_ns = 0;         ///< When output was last read.
    std::uint32_t pieces = 0;             ///< Of output, each soon after the one before.
    UniqueFd link;
    UniqueFd output;
    UniqueFd error;
  };

  absl::Status StartOne(const ProcessPlan& plan, Pid pid);
  void WatchLink(Pid pid);
  void OnLink(Pid pid);
  void MeterLink(Pid pid);
  void Welcome(Pid pid);
  void Answer(Pid pid, std::span<const std::byte> text, std::span<const int> descriptors);
  void AnswerLater(Pid pid, std::shared_ptr<LinkAnswer> answer, std::uint64_t until_ns);
  void LoseLink(Pid pid, const std::string& why);
  void OnHello(Pid pid, const LinkHello& hello);
  void OnSignals();
  void Reap();
  void ReadStream(Pid pid, Stream stream);
  void TakeEndOfOutput(Pid pid);
  void LetGather(Pid pid, Stream stream);
  void ReadGathered();
  void WatchOutput(Pid pid);
  void WatchStream(Pid pid, Stream stream);
  UniqueFd& descriptor(Pid pid, Stream stream);
  Hosted& hosted(Pid pid) { return processes_.at(pid); }

  EventLoop& loop_;
  const SharedMemory memory_;
  ProcessOwner& owner_;
  std::map<Pid, Hosted> processes_;
  std::unordered_map<pid_t, Pid> by_os_pid_;
  std::uint32_t processors_ = 1;
  UniqueFd child_signals_;
  bool output_paused_ = false;
  std::vector<std::pair<Pid, Stream>> gathering_;  ///< Streams that are not read for a while.
  TimerId gather_timer_ = kNoTimer;
};

}  // namespace bspnow::worker

#endif  // WORKER_HOST_PROCESS_HOST_H_
