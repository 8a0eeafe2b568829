#include "coordinator/metrics/metric_families.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/version.h"

namespace bspnow::coordinator {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

// Divided by, not multiplied with the reciprocal: 4000 ns are 4e-06 s, not 4.000000000000001e-06.
constexpr double kNsPerSecond = 1e9;
constexpr double kBytesPerByte = 1;

MetricFamily Family(const char* name, const char* help, MetricType type) {
  return {.name = name, .help = help, .type = type, .metric = {}};
}

/// The value of a counter or a gauge.
void Add(MetricFamily& family, Labels labels, double value) {
  ClientMetric& metric = family.metric.emplace_back();
  metric.label = std::move(labels);
  (family.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
}

MetricFamily One(const char* name, const char* help, MetricType type, double value) {
  MetricFamily family = Family(name, help, type);
  Add(family, {}, value);
  return family;
}

MetricFamily PerLabel(MetricFamily family, const char* label,
                      const std::map<std::string, std::uint64_t>& values) {
  for (const auto& [name, value] : values) Add(family, {{label, name}}, static_cast<double>(value));
  return family;
}

ClientMetric HistogramOf(const Histogram::Snapshot& snapshot, double per_unit) {
  ClientMetric metric;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i + 1 < Histogram::kBuckets; ++i) {
    count += snapshot.counts[i];
    metric.histogram.bucket.push_back({count, static_cast<double>(snapshot.bounds[i]) / per_unit});
  }
  count += snapshot.counts.back();  // Without an upper bound.
  metric.histogram.sample_count = count;
  metric.histogram.sample_sum = static_cast<double>(snapshot.sum) / per_unit;
  return metric;
}

struct JobHistogram {
  const char* name;
  const char* help;
  double per_unit;  ///< Of what is recorded, in the unit that is shown.
  Histogram::Snapshot (SuperstepStats::*look)() const;
};

constexpr JobHistogram kJobHistograms[] = {
    {"bspnow_superstep_seconds", "How long the supersteps of a job took.", kNsPerSecond,
     &SuperstepStats::superstep_time_ns},
    {"bspnow_compute_seconds", "Computing in a superstep, of a process on average.", kNsPerSecond,
     &SuperstepStats::compute_ns},
    {"bspnow_exchange_seconds", "Delivery behind the barrier, of a process on average.",
     kNsPerSecond, &SuperstepStats::exchange_ns},
    {"bspnow_barrier_wait_seconds", "Waiting at the barrier, of a process on average.",
     kNsPerSecond, &SuperstepStats::wait_ns},
    {"bspnow_h_relation_bytes", "The h-relations: the most bytes that a process sent or received.",
     kBytesPerByte, &SuperstepStats::h_bytes},
};

void AddJobs(const ClusterFigures& figures, std::vector<MetricFamily>& families) {
  MetricFamily supersteps = Family(
      "bspnow_superstep", "The superstep that a running job has reached.", MetricType::Gauge);
  MetricFamily messages =
      Family("bspnow_messages_total", "Puts, gets and messages of a running job's processes.",
             MetricType::Counter);
  for (const auto& [job, stats] : figures.running) {
    const Labels labels = {{"bsp_job", std::to_string(Value(job))}};
    const proto::JobTotals totals = stats->totals();
    Add(supersteps, labels, static_cast<double>(totals.supersteps()));
    Add(messages, labels, static_cast<double>(totals.messages()));
  }
  families.push_back(std::move(supersteps));
  families.push_back(std::move(messages));
  for (const JobHistogram& histogram : kJobHistograms) {
    MetricFamily family = Family(histogram.name, histogram.help, MetricType::Histogram);
    for (const auto& [job, stats] : figures.running) {
      ClientMetric& metric = family.metric.emplace_back(
          HistogramOf(std::invoke(histogram.look, *stats), histogram.per_unit));
      metric.label = {{"bsp_job", std::to_string(Value(job))}};
    }
    families.push_back(std::move(family));
  }
}

MetricFamily OneHistogram(const char* name, const char* help, const Histogram& histogram) {
  MetricFamily family = Family(name, help, MetricType::Histogram);
  family.metric.push_back(HistogramOf(histogram.Look(), kNsPerSecond));
  return family;
}

void AddCheckpoints(const CheckpointFigures& figures, std::vector<MetricFamily>& families) {
  families.push_back(
      PerLabel(Family("bspnow_checkpoints_total", "Checkpoints that were committed, or given up.",
                      MetricType::Counter),
               "end", figures.ended));
  families.push_back(One("bspnow_checkpoint_bytes_total", "Bytes of committed images.",
                         MetricType::Counter, static_cast<double>(figures.bytes)));
  families.push_back(
      OneHistogram("bspnow_checkpoint_pause_seconds",
                   "For how long a committed checkpoint held the process that it held longest.",
                   *figures.pause_ns));
  families.push_back(One("bspnow_checkpoints_damaged_total",
                         "Committed checkpoints that could not be put back.", MetricType::Counter,
                         static_cast<double>(figures.damaged)));
  families.push_back(
      PerLabel(Family("bspnow_recoveries_total", "Times that jobs went back, by what was lost.",
                      MetricType::Counter),
               "lost", figures.recoveries));
  families.push_back(OneHistogram("bspnow_recovery_seconds",
                                  "From a loss until the job's processes ran again.",
                                  *figures.recovery_ns));
  families.push_back(One("bspnow_suspensions_total", "Jobs that users suspended.",
                         MetricType::Counter, static_cast<double>(figures.suspensions)));
}

}  // namespace

std::vector<MetricFamily> MetricFamilies(const ClusterFigures& figures) {
  std::vector<MetricFamily> families;
  MetricFamily build = Family("bspnow_build_info", "The version that runs.", MetricType::Gauge);
  Add(build, {{"version", kVersion}}, 1);
  families.push_back(std::move(build));
  families.push_back(
      PerLabel(Family("bspnow_jobs", "Jobs by state; ended ones as far as they are listed.",
                      MetricType::Gauge),
               "state", figures.jobs));
  families.push_back(PerLabel(Family("bspnow_workers", "Workers by state.", MetricType::Gauge),
                              "state", figures.workers));
  families.push_back(
      PerLabel(Family("bspnow_slots", "Slots of workers that are up: taken by jobs, or free.",
                      MetricType::Gauge),
               "state", {{"used", figures.slots_used}, {"free", figures.slots_free}}));
  MetricFamily leases =
      Family("bspnow_lease_age_seconds", "Since a worker renewed its lease.", MetricType::Gauge);
  for (const auto& lease : figures.leases)
    Add(leases, {{"worker", lease.name}}, static_cast<double>(lease.age_ns) / kNsPerSecond);
  families.push_back(std::move(leases));
  AddJobs(figures, families);
  families.push_back(PerLabel(Family("bspnow_frames_refused_total",
                                     "Frames of workers that were refused.", MetricType::Counter),
                              "reason", figures.refused));
  families.push_back(One("bspnow_calls_refused_total",
                         "Calls whose caller did not prove who he is, or may not do that.",
                         MetricType::Counter, static_cast<double>(figures.calls_refused)));
  families.push_back(
      PerLabel(Family("bspnow_connections", "Connections of workers: for frames, and for orders.",
                      MetricType::Gauge),
               "plane", {{"barrier", figures.connections}, {"control", figures.control_streams}}));
  families.push_back(PerLabel(Family("bspnow_frame_bytes_total",
                                     "Bytes of frames from and to workers.", MetricType::Counter),
                              "direction",
                              {{"in", figures.bytes_read}, {"out", figures.bytes_written}}));
  families.push_back(One("bspnow_barriers_total", "Barriers released, of jobs over several nodes.",
                         MetricType::Counter, static_cast<double>(figures.barriers)));
  families.push_back(One("bspnow_output_bytes_total", "Bytes that jobs printed.",
                         MetricType::Counter, static_cast<double>(figures.output_bytes)));
  families.push_back(One("bspnow_term", "Starts of this coordinator, with this state directory.",
                         MetricType::Gauge, static_cast<double>(figures.term)));
  AddCheckpoints(figures.checkpoints, families);
  std::erase_if(families, [](const MetricFamily& family) { return family.metric.empty(); });
  return families;
}

}  // namespace bspnow::coordinator
