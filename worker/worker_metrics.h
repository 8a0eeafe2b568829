// The worker's figures for Prometheus, served on an address of their own. A scrape asks the loop
// for them; so between scrapes they cost nothing.
#ifndef WORKER_WORKER_METRICS_H_
#define WORKER_WORKER_METRICS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "net/event_loop.h"
#include "worker/exchange/data_plane.h"

namespace prometheus {
class Collectable;
class Exposer;
}  // namespace prometheus

namespace bspnow::worker {

struct WorkerFigures {
  DataPlaneStatistics exchange;
  std::uint32_t jobs = 0;
  std::uint32_t processes = 0;
  std::uint32_t slots = 0;
  std::uint64_t cache_bytes = 0;
  bool lease_valid = false;
};

class WorkerMetrics {
 public:
  /// Serves on `address`, HOST:PORT, port 0: any. `figures` is called on the loop's thread.
  static absl::StatusOr<WorkerMetrics> Serve(EventLoop& loop, const std::string& address,
                                             std::function<WorkerFigures()> figures);

  WorkerMetrics(WorkerMetrics&&) noexcept;
  ~WorkerMetrics();

  /// With the real port.
  const std::string& address() const { return address_; }

 private:
  WorkerMetrics() = default;

  std::string address_;
  std::shared_ptr<prometheus::Collectable> scrape_;  ///< Shared, because the exposer asks for that.
  std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace bspnow::worker

#endif  // WORKER_WORKER_METRICS_H_
