// The worker's side of the coordinator's service Workers: keeps this worker registered and attached
// as long as the object lives. The only part of the worker that knows gRPC; it has threads of its
// own and posts what it hears to the loop.
#ifndef WORKER_COORDINATOR_STUB_H_
#define WORKER_COORDINATOR_STUB_H_

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "net/event_loop.h"
#include "proto/workers.pb.h"
#include "worker/job_directory.h"

namespace bspnow {

/// Called on the loop's thread.
struct CoordinatorEvents {
  /// Registered, and orders may come. Not for the first time: the coordinator had forgotten this
  /// worker and knows nothing of its jobs; what was not acknowledged has been dropped.
  std::function<void(const proto::RegisterReply&)> registered;
  std::function<void(const proto::Order&)> order;
  /// Pieces of a job's output that are in its log now: how many bytes each had.
  std::function<void(JobId, Epoch, const std::vector<std::size_t>& pieces)> output_kept;
};

class CoordinatorStub {
 public:
  /// Registers, again and again until it succeeds, and attaches. `address` is HOST:PORT.
  CoordinatorStub(EventLoop& loop, const std::string& address, proto::RegisterRequest request,
                  CoordinatorEvents events);

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

  /// Writes a content to a file. Waits; for threads other than the loop's.
  absl::Status ReadBlob(const std::string& sha256, int file);

  /// Sends what a job left in its directory. Waits, as above.
  absl::Status StoreFiles(JobId job, const std::string& directory,
                          const std::vector<LeftFile>& files);

 private:
  class Rim;
  std::unique_ptr<Rim> rim_;
};

}  // namespace bspnow

#endif  // WORKER_COORDINATOR_STUB_H_
