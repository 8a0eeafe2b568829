// The worker's side of the coordinator's service Workers: keeps this worker registered and attached
// as long as the object lives. It has threads of its own and posts what it hears to the loop.
#ifndef WORKER_COORDINATOR_STUB_H_
#define WORKER_COORDINATOR_STUB_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

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
  /// Pieces of a job's output that are in its log now: how many bytes each had.
  std::function<void(JobId, Epoch, const std::vector<std::size_t>& pieces)> output_kept;
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

  /// Waits until everything reported has been acknowledged, or so long. On the loop's thread, at
  /// the end.
  void Drain(std::uint64_t timeout_ms);

 private:
  class Rim;
  std::unique_ptr<Rim> rim_;
};

}  // namespace bspnow

#endif  // WORKER_COORDINATOR_STUB_H_
