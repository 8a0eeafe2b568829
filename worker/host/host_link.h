// The worker's end of one bsp-host: starts it, receives what happens to the processes of a job on
// this node, passes on orders. Runs on the loop's thread and never waits for the host.
#ifndef WORKER_HOST_HOST_LINK_H_
#define WORKER_HOST_HOST_LINK_H_

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
#include "worker/host/host_channel.h"
#include "worker/host/limits.h"

namespace bspnow::worker {

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
  /// `report` is called with what happens to the processes; `gone` last, when nothing of the job is
  /// left on this node. The owner may destroy the link in that.
  HostLink(EventLoop& loop, StartedHost started, std::function<void(proto::WorkerEvent)> report,
           std::function<void()> gone);
  ~HostLink();
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;

  void Send(const proto::HostOrder& order);

  /// Of bsp-host; 0 if it has ended.
  pid_t os_pid() const { return host_.os_pid; }

 private:
  void Flush();
  bool ReadEvent();
  void OnEnded();

  EventLoop& loop_;
  StartedHost host_;  ///< Its os_pid is 0 once it is reaped.
  const std::function<void(proto::WorkerEvent)> report_;
  std::function<void()> gone_;
  std::deque<std::string> unsent_;
};

}  // namespace bspnow::worker

#endif  // WORKER_HOST_HOST_LINK_H_
