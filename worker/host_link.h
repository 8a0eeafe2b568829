// The worker's end of one bsp-host: starts it, hears what happens to the processes of a job on this
// node, passes on orders. Runs on the loop's thread and never waits for the host.
#ifndef WORKER_HOST_LINK_H_
#define WORKER_HOST_LINK_H_

#include <absl/status/statusor.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "worker/host_channel.h"
#include "worker/limits.h"

namespace bspnow {

/// What the owner hears; `gone` is the last, when nothing of the job is left on this node.
struct HostLinkEvents {
  std::function<void()> started;
  std::function<void(int exit_status, const std::string& reason)> not_started;
  std::function<void(Pid)> begun;
  /// `offset`: of the text in all that the process has sent to the stream.
  std::function<void(Pid, Stream, std::string text, std::uint64_t offset)> output;
  std::function<void(Pid, int wait_status)> exited;
  std::function<void(const HostReport&)> checkpoint;  ///< kSaving, kImage, kFiles.
  std::function<void(Pid, const std::string& reason)> not_resumed;
  std::function<void()> gone;  ///< The owner may destroy the link in it.
};

/// The bsp-host to start.
struct HostProgram {
  std::string path;
  std::string name;  ///< For lists of processes.
  const RaisedLimits& limits;
};

struct StartedHost {
  pid_t os_pid;
  UniqueFd process;  ///< A pidfd: readable when bsp-host has ended.
  UniqueFd socket;
};

/// Starts bsp-host and hands it plan and descriptors.
absl::StatusOr<StartedHost> StartHost(const HostProgram& program, const proto::HostPlan& plan,
                                      const PlanDescriptors& descriptors);

class HostLink {
 public:
  HostLink(EventLoop& loop, StartedHost started, HostLinkEvents events);
  ~HostLink();
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;

  void KillAll();
  void Signal(int signal);

  /// Of bsp-host; 0 if it has ended.
  pid_t os_pid() const { return host_.os_pid; }

  /// So many bytes of output have found their place.
  void Grant(std::uint64_t bytes);

  /// Why there is no room for checkpoints; empty: there is.
  void SetRoom(const std::string& refusal);

 private:
  void Send(const proto::HostOrder& order);
  void Flush();
  void OnReadable();
  bool ReadReport();
  void Handle(HostReport report);
  void OnEnded();

  EventLoop& loop_;
  StartedHost host_;  ///< Its os_pid is 0 once it is reaped.
  HostLinkEvents events_;
  std::deque<std::string> unsent_;
};

}  // namespace bspnow

#endif  // WORKER_HOST_LINK_H_
