// The worker's figures for Prometheus. A scrape asks the loop for them; so between scrapes they
// cost nothing.
#ifndef WORKER_WORKER_METRICS_H_
#define WORKER_WORKER_METRICS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "net/event_loop.h"
#include "net/metrics/metrics_server.h"
#include "worker/exchange/data_plane.h"
#include "worker/settings.h"

namespace bspnow::worker {

struct WorkerFigures {
  DataPlaneStatistics exchange;
  std::uint32_t jobs = 0;
  std::uint32_t processes = 0;
  std::uint32_t slots = 0;
  std::uint64_t cache_bytes = 0;
  std::uint64_t images_refused = 0;
  bool lease_valid = false;
};

/// Where the settings say. `figures` is called on the loop's thread.
absl::StatusOr<std::unique_ptr<MetricsServer>> ServeMetrics(EventLoop& loop,
                                                            const WorkerSettings& settings,
                                                            std::function<WorkerFigures()> figures);

}  // namespace bspnow::worker

#endif  // WORKER_WORKER_METRICS_H_
