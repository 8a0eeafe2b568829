// Serves the metrics for Prometheus. Nothing is recorded for it: each scrape asks for a snapshot.
#ifndef COORDINATOR_METRICS_METRICS_SERVER_H_
#define COORDINATOR_METRICS_METRICS_SERVER_H_

#include <functional>
#include <memory>

#include <absl/status/statusor.h>
#include "coordinator/core/cluster_figures.h"
#include "net/socket.h"

namespace bspnow::coordinator {

class MetricsServer {
 public:
  /// Called on threads of the server.
  using Snapshot = std::function<ClusterFigures()>;

  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(const HostPort& listen,
                                                              Snapshot snapshot);

  struct Parts;  // Of prometheus-cpp.
  /// For Start.
  MetricsServer(std::unique_ptr<Parts> parts, HostPort address);
  ~MetricsServer();  ///< Takes two seconds; a process that ends need not wait for it.

  /// With the real port.
  const HostPort& address() const { return address_; }

 private:
  std::unique_ptr<Parts> parts_;
  HostPort address_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_METRICS_METRICS_SERVER_H_
