// The streams of one job of a worker: to the workers of its other processes, and to the
// coordinator.
#ifndef WORKER_EXCHANGE_JOB_STREAMS_H_
#define WORKER_EXCHANGE_JOB_STREAMS_H_

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "worker/exchange/job_exchange.h"
#include "worker/exchange/job_plan.h"
#include "worker/exchange/job_shape.h"
#include "worker/exchange/peer_streams.h"

namespace bspnow {

struct JobStreamsEvents {
  /// Lost if there is no connection.
  std::function<void(const FrameHeader&, std::span<const std::byte> payload)> to_coordinator;
  std::function<void(ExchangeFault, const std::string& reason)> broken;
};

class JobStreams final : public ExchangeRim {
 public:
  /// `self` is among the hosts of the plan. `peers` is the caller's and stays.
  JobStreams(const JobPlan& plan, WorkerId self, PeerStreams& peers, JobStreamsEvents events);
  ~JobStreams();
  JobStreams(const JobStreams&) = delete;
  JobStreams& operator=(const JobStreams&) = delete;

  const JobPlan& plan() const { return plan_; }
  JobShape Shape() const;

  /// Why a stream cannot be; empty if all can.
  const std::string& fault() const { return fault_; }

  void SendToCoordinator(const FrameHeader& header, std::span<const std::byte> payload) override {
    events_.to_coordinator(header, payload);
  }
  void SendToHost(std::uint32_t host, std::vector<OutgoingBatch>& frames) override;
  void Prune(Superstep superstep) override;
  WorkerId WorkerOf(std::uint32_t host) const override { return plan_.hosts[host].worker; }
  std::uint32_t HostOf(WorkerId worker) const override;
  void OnBroken(ExchangeFault fault, const std::string& reason) override {
    events_.broken(fault, reason);
  }

 private:
  JobPlan plan_;
  WorkerId self_;
  PeerStreams& peers_;
  JobStreamsEvents events_;
  std::vector<SendingStream*> streams_;  ///< By host; nullptr for this one.
  std::unordered_map<WorkerId, std::uint32_t> host_of_;
  std::string fault_;
};

}  // namespace bspnow

#endif  // WORKER_EXCHANGE_JOB_STREAMS_H_
