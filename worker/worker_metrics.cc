#include "worker/worker_metrics.h"

#include <absl/strings/str_cat.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

#include <chrono>
#include <exception>
#include <future>
#include <utility>
#include <vector>

#include "net/socket.h"

namespace bspnow::worker {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::chrono::seconds kLoopTimeout{1};  // A loop that has ended does not answer.
constexpr std::size_t kThreads = 1;

class Families {
 public:
  void Counter(const std::string& name, const std::string& help) {
    families_.push_back(MetricFamily{name, help, MetricType::Counter, {}});
  }
  void Gauge(const std::string& name, const std::string& help, double value) {
    families_.push_back(MetricFamily{name, help, MetricType::Gauge, {}});
    ClientMetric metric;
    metric.gauge.value = value;
    families_.back().metric.push_back(metric);
  }
  /// One series of the last Counter.
  void Series(const std::string& label, const std::string& value, std::uint64_t count) {
    ClientMetric metric;
    if (!label.empty()) metric.label.push_back({label, value});
    metric.counter.value = static_cast<double>(count);
    families_.back().metric.push_back(metric);
  }
  std::vector<MetricFamily> Take() { return std::move(families_); }

 private:
  std::vector<MetricFamily> families_;
};

std::vector<MetricFamily> FamiliesOf(const WorkerFigures& figures) {
  const DataPlaneStatistics& exchange = figures.exchange;
  Families out;
  out.Counter("bspnow_worker_bytes_total", "Payload of frames to and from other workers.");
  out.Series("direction", "in", exchange.bytes_in);
  out.Series("direction", "out", exchange.bytes_out);
  out.Counter("bspnow_worker_frames_total", "Frames to and from other workers.");
  out.Series("direction", "in", exchange.frames_in);
  out.Series("direction", "out", exchange.frames_out);
  out.Counter("bspnow_reconnects_total", "Streams that broke and were made again.");
  out.Series("", "", exchange.reconnects);
  out.Counter("bspnow_resent_bytes_total", "Bytes that were sent again after a reconnect.");
  out.Series("", "", exchange.resent_bytes);
  out.Counter("bspnow_frames_refused_total", "Frames that were dropped, or closed their stream.");
  for (const auto& [reason, count] : exchange.refused_frames) out.Series("reason", reason, count);
  out.Gauge("bspnow_slots", "Processes that this worker takes.", figures.slots);
  out.Gauge("bspnow_processes", "Processes that run.", figures.processes);
  out.Gauge("bspnow_worker_jobs", "Jobs that have processes, files or memory here.", figures.jobs);
  out.Gauge("bspnow_cache_bytes", "Programs and files that are kept.",
            static_cast<double>(figures.cache_bytes));
  out.Gauge("bspnow_lease_valid", "1 while the coordinator has renewed the lease in time.",
            figures.lease_valid ? 1 : 0);
  return out.Take();
}

/// Asks the loop for the figures.
class Scrape final : public prometheus::Collectable {
 public:
  Scrape(EventLoop& loop, std::function<WorkerFigures()> figures)
      : loop_(loop), figures_(std::move(figures)) {}

  std::vector<MetricFamily> Collect() const override {
    const auto answer = std::make_shared<std::promise<WorkerFigures>>();
    std::future<WorkerFigures> figures = answer->get_future();
    loop_.Post([this, answer] { answer->set_value(figures_()); });
    if (figures.wait_for(kLoopTimeout) != std::future_status::ready) return {};
    return FamiliesOf(figures.get());
  }

 private:
  EventLoop& loop_;
  const std::function<WorkerFigures()> figures_;
};

}  // namespace

absl::StatusOr<WorkerMetrics> WorkerMetrics::Serve(EventLoop& loop, const std::string& address,
                                                   std::function<WorkerFigures()> figures) {
  absl::StatusOr<HostPort> wanted = ParseHostPort(address);
  if (!wanted.ok()) return wanted.status();
  WorkerMetrics metrics;
  try {
    metrics.exposer_ = std::make_unique<prometheus::Exposer>(wanted->ToString(), kThreads);
  } catch (const std::exception& error) {
    return absl::UnavailableError(
        absl::StrCat("cannot serve metrics on ", address, ": ", error.what()));
  }
  wanted->port = static_cast<std::uint16_t>(metrics.exposer_->GetListeningPorts().at(0));
  metrics.address_ = wanted->ToString();
  metrics.scrape_ = std::make_shared<Scrape>(loop, std::move(figures));
  metrics.exposer_->RegisterCollectable(metrics.scrape_);
  return metrics;
}

WorkerMetrics::WorkerMetrics(WorkerMetrics&&) noexcept = default;

// Scrapes have ended when the exposer is gone.
WorkerMetrics::~WorkerMetrics() { exposer_.reset(); }

}  // namespace bspnow::worker
