// The worker's side of the coordinator's service Workers: keeps this worker registered and attached
// as long as the object lives. CoordinatorSession decides; here are the calls, and two threads that
// post to the loop what they receive.
#ifndef WORKER_COORDINATOR_STUB_H_
#define WORKER_COORDINATOR_STUB_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/ids.h"
#include "net/event_loop.h"
#include "proto/workers.pb.h"
#include "worker/images/cluster_note.h"

namespace bspnow {

/// Called on the loop's thread.
struct CoordinatorEvents {
  /// About to register: fills in what runs and lies here. The coordinator may be one that was
  /// restarted, or may have given this worker up.
  std::function<void(proto::RegisterRequest&)> registering;
  /// Registered, and orders may come. Not for the first time: of the jobs here only the reply's
  /// keep_jobs go on. What they reported and nobody acknowledged is sent again; the rest has been
  /// dropped.
  std::function<void(const proto::RegisterReply&)> registered;
  std::function<void(const proto::Order&)> order;
  /// Output of a job is in its log now: this much of the credit for it is free again.
  std::function<void(JobId, Epoch, std::uint64_t credit_bytes)> output_kept;
};

class CoordinatorStub {
 public:
  /// Registers, again and again until it succeeds, and attaches. `address` is HOST:PORT; `note`
  /// says whose coordinator that must be.
  CoordinatorStub(EventLoop& loop, const std::string& address, proto::RegisterRequest request,
                  ClusterNote& note, CoordinatorEvents events);

  /// Waits for its threads.
  ~CoordinatorStub();

  /// Breaks off all calls: those that wait return soon.
  void Stop();

  /// Sends an event, now or when the stream is back; it is kept until it is acknowledged. On the
  /// loop's thread.
  void Report(proto::WorkerEvent event);

  /// Waits until everything reported has been acknowledged, or for this time. On the loop's thread,
  /// at the end.
  void Drain(std::uint64_t timeout_ms);

 private:
  class Impl;  // So that gRPC stays out of here.
  std::unique_ptr<Impl> impl_;
};

}  // namespace bspnow

#endif  // WORKER_COORDINATOR_STUB_H_
