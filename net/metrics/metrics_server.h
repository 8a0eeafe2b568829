// Serves metrics for Prometheus, under /metrics. Nothing is recorded for it: each scrape asks. Some
// clients that are slow, or send nothing, hold nobody up, and are given up after some seconds.
#ifndef NET_METRICS_METRICS_SERVER_H_
#define NET_METRICS_METRICS_SERVER_H_

#include <absl/status/statusor.h>

#include <functional>
#include <memory>

#include "net/metrics/metric_list.h"
#include "net/socket.h"

namespace bspnow {

class MetricsServer {
 public:
  /// Called on threads of the server, one scrape after another.
  using Collect = std::function<void(MetricList& list)>;

  /// Port 0: any.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(const HostPort& listen,
                                                              Collect collect);

  struct Parts;  // Of prometheus-cpp.
  /// For Start.
  MetricsServer(std::unique_ptr<Parts> parts, HostPort address);
  ~MetricsServer();  ///< Takes two seconds.

  /// In place of its end, where the process is about to end: it asks no more. Waits for a scrape
  /// that is under way.
  static void Release(std::unique_ptr<MetricsServer> server);

  /// With the real port.
  const HostPort& address() const { return address_; }

 private:
  std::unique_ptr<Parts> parts_;
  HostPort address_;
};

}  // namespace bspnow

#endif  // NET_METRICS_METRICS_SERVER_H_
