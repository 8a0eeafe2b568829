#include "net/metrics/metrics_server.h"

#include <absl/strings/str_cat.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

namespace bspnow {
namespace {

// Who connects and says nothing has a thread for so long: somebody else is served meanwhile.
constexpr int kThreads = 8;
constexpr int kRequestMs = 5'000;

/// Of civetweb, by its names.
std::vector<std::string> OptionsFor(const SocketAddress& listen) {
  return {"listening_ports",        listen.ToString(),    "num_threads",
          std::to_string(kThreads), "request_timeout_ms", std::to_string(kRequestMs)};
}

/// The first of IPv4: Debian's civetweb is built without IPv6, and says neither that nor another
/// reason for which it cannot listen.
absl::StatusOr<SocketAddress> AddressFor(const HostPort& listen) {
  const auto addresses = ResolveAll(listen);
  if (!addresses.ok()) return addresses.status();
  for (const SocketAddress& address : *addresses) {
    if (address.family() != AF_INET) continue;
    const absl::Status free = Listen(address, {}).status();
    if (!free.ok()) return free;
    return address;
  }
  return absl::UnavailableError(
      absl::StrCat(listen.ToString(), ": metrics are served on IPv4 alone; name an IPv4 address"));
}

class Scrape final : public prometheus::Collectable {
 public:
  explicit Scrape(MetricsServer::Collect collect) : collect_(std::move(collect)) {}
  std::vector<prometheus::MetricFamily> Collect() const override {
    const std::lock_guard lock(one_at_a_time_);
    MetricList list;
    if (!closed_) collect_(list);
    return list.Take();
  }
  /// Whom it asks may go then.
  void Close() {
    closed_ = true;
    const std::lock_guard lock(one_at_a_time_);  // Who asks now.
  }

 private:
  const MetricsServer::Collect collect_;
  mutable std::mutex one_at_a_time_;
  std::atomic<bool> closed_ = false;
};

}  // namespace

struct MetricsServer::Parts {
  std::shared_ptr<Scrape> scrape;  ///< The exposer only watches it.
  std::unique_ptr<prometheus::Exposer> exposer;
};

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(const HostPort& listen,
                                                                    Collect collect) {
  const absl::StatusOr<SocketAddress> address = AddressFor(listen);
  if (!address.ok())
    return absl::UnavailableError(
        absl::StrCat("--metrics: ", std::string(address.status().message())));
  auto parts = std::make_unique<Parts>();
  parts->scrape = std::make_shared<Scrape>(std::move(collect));
  try {
    parts->exposer = std::make_unique<prometheus::Exposer>(OptionsFor(*address));
  } catch (const std::exception& error) {  // So civetweb says that it has no thread, say.
    return absl::UnavailableError(
        absl::StrCat("--metrics ", listen.ToString(), ": cannot serve there: ", error.what()));
  }
  parts->exposer->RegisterCollectable(parts->scrape);
  const auto port = static_cast<std::uint16_t>(parts->exposer->GetListeningPorts().at(0));
  return std::make_unique<MetricsServer>(std::move(parts),
                                         HostPort{.host = listen.host, .port = port});
}

MetricsServer::MetricsServer(std::unique_ptr<Parts> parts, HostPort address)
    : parts_(std::move(parts)), address_(std::move(address)) {}

void MetricsServer::Release(std::unique_ptr<MetricsServer> server) {
  if (server == nullptr) return;
  server->parts_->scrape->Close();
  static_cast<void>(server.release());
}

// Scrapes have ended when the exposer is gone.
MetricsServer::~MetricsServer() { parts_->exposer.reset(); }

}  // namespace bspnow
