// The worker's end of one bsp-host: starts it, receives what happens to the processes of a job on
// this node, passes on orders. Runs on the loop's thread and never waits for the host, which a
// process of the job may stop: a bsp-host that was told to end, and has not, is killed. What it
// had to kill then comes to the worker, as the next subreaper.
#ifndef WORKER_HOST_HOST_LINK_H_
#define WORKER_HOST_HOST_LINK_H_

#include <absl/status/statusor.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "base/raised_limits.h"
#include "base/unique_fd.h"
#include "net/event_loop.h"
#include "worker/host/host_channel.h"

namespace bspnow::worker {

/// The bsp-host to start.
struct HostProgram {
  std::string path;
  std::string name;  ///< For lists of processes.
  const RaisedLimits& limits;
  std::vector<int> cgroups{};  ///< As in SpawnRequest.
};

/// How long a bsp-host that was told to end may take, with all that it has to kill.
inline constexpr std::uint64_t kKillGraceMs = 10'000;

struct StartedHost {
  pid_t os_pid;
  UniqueFd process;  ///< A pidfd: readable when bsp-host has ended.
  UniqueFd socket;
  std::uint64_t kill_grace_ms = kKillGraceMs;
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
  void OnToldToEnd();
  void Flush();
  bool ReadEvent();
  void OnPacket(std::string_view packet);
  void OnEnded();

  EventLoop& loop_;
  StartedHost host_;  ///< Its os_pid is 0 once it is reaped.
  const std::function<void(proto::WorkerEvent)> report_;
  std::function<void()> gone_;
  std::deque<std::string> unsent_;
  EventJoiner joiner_;
  TimerId kill_timer_ = kNoTimer;
};

}  // namespace bspnow::worker

#endif  // WORKER_HOST_HOST_LINK_H_
