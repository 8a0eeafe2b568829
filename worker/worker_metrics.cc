#include "worker/worker_metrics.h"

#include <utility>
#include <vector>

#include "net/ask_loop.h"
#include "net/metrics/metric_list.h"
#include "net/metrics/process_metrics.h"
#include "net/socket.h"

namespace bspnow::worker {
namespace {

/// Of the counter that has begun.
void AddDirections(std::uint64_t in, std::uint64_t out, MetricList& list) {
  list.Add({{"direction", "in"}}, static_cast<double>(in));
  list.Add({{"direction", "out"}}, static_cast<double>(out));
}

std::vector<WatchedDirectory> DirectoriesOf(const WorkerSettings& settings) {
  std::vector<WatchedDirectory> directories = {{.use = "state", .path = settings.state_dir}};
  // A share is no disk of this machine.
  if (!settings.checkpoint_dir.empty() && settings.checkpoint_share.empty())
    directories.push_back({.use = "images", .path = settings.checkpoint_dir});
  return directories;
}

void AddMetrics(const WorkerFigures& figures, MetricList& list) {
  const DataPlaneStatistics& exchange = figures.exchange;
  const auto counter = [&list](const char* name, const char* help, std::uint64_t value) {
    list.Counter(name, help);
    list.Add({}, static_cast<double>(value));
  };
  const auto gauge = [&list](const char* name, const char* help, double value) {
    list.Gauge(name, help);
    list.Add({}, value);
  };
  list.Counter("bspnow_worker_bytes_total", "Payload of frames to and from other workers.");
  AddDirections(exchange.bytes_in, exchange.bytes_out, list);
  list.Counter("bspnow_worker_frames_total", "Frames to and from other workers.");
  AddDirections(exchange.frames_in, exchange.frames_out, list);
  counter("bspnow_worker_reconnects_total",
          "Streams to workers and the coordinator that were made again.", exchange.reconnects);
  counter("bspnow_worker_resent_bytes_total", "Bytes that were sent again after a reconnect.",
          exchange.resent_bytes);
  list.Counter("bspnow_worker_frames_refused_total",
               "Frames that were dropped, or closed their stream.");
  for (const auto& [reason, count] : exchange.refused_frames)
    list.Add({{"reason", reason}}, static_cast<double>(count));
  counter("bspnow_worker_image_calls_refused_total",
          "Calls for images whose caller did not prove to be a worker of this cluster.",
          figures.images_refused);
  gauge("bspnow_worker_slots", "Processes that this worker takes.", figures.slots);
  gauge("bspnow_worker_processes", "Processes that run.", figures.processes);
  gauge("bspnow_worker_jobs", "Jobs that have processes, files or memory here.", figures.jobs);
  gauge("bspnow_worker_cache_bytes", "Programs and files that are kept.",
        static_cast<double>(figures.cache_bytes));
  gauge("bspnow_lease_valid", "1 while the coordinator answers the heartbeats in time.",
        figures.lease_valid ? 1 : 0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsServer>> ServeMetrics(
    EventLoop& loop, const WorkerSettings& settings, std::function<WorkerFigures()> figures) {
  const absl::StatusOr<HostPort> listen = ParseHostPort(settings.metrics);
  if (!listen.ok()) return listen.status();
  return MetricsServer::Start(*listen, [&loop, figures = std::move(figures),
                                        directories = DirectoriesOf(settings)](MetricList& list) {
    AddProcessMetrics(directories, list);
    if (const auto told = AskLoop(loop, figures)) AddMetrics(*told, list);
  });
}

}  // namespace bspnow::worker
