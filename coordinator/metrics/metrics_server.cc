#include "coordinator/metrics/metrics_server.h"

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>

#include <exception>
#include <utility>
#include <vector>

#include <absl/strings/str_cat.h>
#include "coordinator/metrics/metric_families.h"

namespace bspnow::coordinator {
namespace {

class Snapshots final : public prometheus::Collectable {
 public:
  explicit Snapshots(MetricsServer::Snapshot snapshot) : snapshot_(std::move(snapshot)) {}
  std::vector<prometheus::MetricFamily> Collect() const override {
    return MetricFamilies(snapshot_());
  }

 private:
  MetricsServer::Snapshot snapshot_;
};

}  // namespace

struct MetricsServer::Parts {
  std::shared_ptr<Snapshots> snapshots;  ///< The exposer only watches it.
  std::unique_ptr<prometheus::Exposer> exposer;
};

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(const HostPort& listen,
                                                                    Snapshot snapshot) {
  auto parts = std::make_unique<Parts>();
  parts->snapshots = std::make_shared<Snapshots>(std::move(snapshot));
  try {
    parts->exposer = std::make_unique<prometheus::Exposer>(listen.ToString(), 1);
  } catch (const std::exception& error) {  // So civetweb says that it cannot listen.
    return absl::UnavailableError(absl::StrCat("--metrics ", listen.ToString(),
                                               ": cannot listen there; is the address of this "
                                               "machine, and free? (",
                                               error.what(), ")"));
  }
  parts->exposer->RegisterCollectable(parts->snapshots);
  const auto port = static_cast<std::uint16_t>(parts->exposer->GetListeningPorts().at(0));
  return std::make_unique<MetricsServer>(std::move(parts),
                                         HostPort{.host = listen.host, .port = port});
}

MetricsServer::MetricsServer(std::unique_ptr<Parts> parts, HostPort address)
    : parts_(std::move(parts)), address_(std::move(address)) {}

MetricsServer::~MetricsServer() = default;

}  // namespace bspnow::coordinator
