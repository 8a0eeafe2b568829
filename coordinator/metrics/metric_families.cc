#include "coordinator/metrics/metric_families.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "coordinator/core/histogram.h"

namespace bspnow::coordinator {
namespace {

// Divided by, not multiplied with the reciprocal: 4000 ns are 4e-06 s, not 4.000000000000001e-06.
constexpr double kNsPerSecond = 1e9;
constexpr double kMsPerSecond = 1e3;
constexpr double kBytesPerByte = 1;

double Number(std::uint64_t n) { return static_cast<double>(n); }
double Seconds(std::uint64_t ns) { return static_cast<double>(ns) / kNsPerSecond; }

void AddCounter(const char* name, const char* help, double value, MetricList& list) {
  list.Counter(name, help);
  list.Add({}, value);
}

void AddGauge(const char* name, const char* help, double value, MetricList& list) {
  list.Gauge(name, help);
  list.Add({}, value);
}

/// To the family that has begun.
void AddEach(const char* label, const std::map<std::string, std::uint64_t>& values,
             MetricList& list) {
  for (const auto& [name, value] : values) list.Add({{label, name}}, Number(value));
}

prometheus::ClientMetric::Histogram HistogramOf(const Histogram::Snapshot& snapshot,
                                                double per_unit) {
  prometheus::ClientMetric::Histogram histogram;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i + 1 < Histogram::kBuckets; ++i) {
    count += snapshot.counts[i];
    histogram.bucket.push_back({count, static_cast<double>(snapshot.bounds[i]) / per_unit});
  }
  count += snapshot.counts.back();  // Without an upper bound.
  histogram.sample_count = count;
  histogram.sample_sum = static_cast<double>(snapshot.sum) / per_unit;
  return histogram;
}

void AddHistogram(const char* name, const std::string& help, const Histogram::Snapshot& snapshot,
                  double per_unit, MetricList& list) {
  list.Histogram(name, help);
  list.Add({}, HistogramOf(snapshot, per_unit));
}

/// Of the help of what SuperstepStats records in histograms: see RecordProgress.
std::string WithAverages(const char* help) {
  return std::string(help) +
         " Of a job on few nodes, averages between its reports, one each 250 ms.";
}

// ---- Jobs ---------------------------------------------------------------------------------------

std::string IdText(const JobFigures& job) { return std::to_string(job.shown.job()); }

/// One series of each job; none of jobs of which there is nothing to say.
struct JobSeries {
  const char* name;
  const char* help;
  const char* label;  ///< Beside bsp_job; empty: none.
  const char* label_value;
  std::optional<double> (*value)(const JobFigures& job);
};

std::optional<double> UnlessZero(double value) {
  return value == 0 ? std::nullopt : std::optional<double>(value);
}

constexpr char kPartsHelp[] =
    "What the supersteps of a job took, by part, of a process on average; repeated ones included.";
constexpr char kBytesHelp[] = "Bytes that the processes of a job sent to others, and got of them.";
constexpr char kMessagesHelp[] =
    "Puts, gets and messages that the processes of a job issued, and received.";

constexpr char kGroupBytesHelp[] = "Bytes in these supersteps; in no other series.";
constexpr char kGroupMessagesHelp[] = "Puts, gets and messages in these; in no other series.";

/// Nothing of a job without groups.
std::optional<double> OfGroups(const JobFigures& job, double value) {
  if (job.counters.sums.group_supersteps() == 0) return std::nullopt;
  return value;
}

constexpr char kCheckpointsHelp[] = "Checkpoints of a job that were committed, or given up.";

/// Series of one name follow each other.
constexpr JobSeries kJobCounters[] = {
    {"bspnow_job_supersteps_total", "Supersteps of a job, repeated ones included.", "", "",
     [](const JobFigures& job) -> std::optional<double> {
       return Number(job.counters.sums.supersteps());
     }},
    {"bspnow_job_time_seconds_total", kPartsHelp, "part", "computing",
     [](const JobFigures& job) -> std::optional<double> {
       return Seconds(job.counters.sums.compute_ns());
     }},
    {"bspnow_job_time_seconds_total", kPartsHelp, "part", "waiting",
     [](const JobFigures& job) -> std::optional<double> {
       return Seconds(job.counters.sums.waiting_ns());
     }},
    {"bspnow_job_time_seconds_total", kPartsHelp, "part", "release",
     [](const JobFigures& job) -> std::optional<double> {
       return Seconds(job.counters.sums.release_ns());
     }},
    {"bspnow_job_time_seconds_total", kPartsHelp, "part", "exchange",
     [](const JobFigures& job) -> std::optional<double> {
       return Seconds(job.counters.sums.exchange_ns());
     }},
    {"bspnow_job_bytes_total", kBytesHelp, "direction", "out",
     [](const JobFigures& job) -> std::optional<double> {
       return Number(job.counters.sums.bytes_out());
     }},
    {"bspnow_job_bytes_total", kBytesHelp, "direction", "in",
     [](const JobFigures& job) -> std::optional<double> {
       return Number(job.counters.sums.bytes_in());
     }},
    {"bspnow_job_messages_total", kMessagesHelp, "direction", "out",
     [](const JobFigures& job) -> std::optional<double> {
       return Number(job.counters.sums.messages());
     }},
    {"bspnow_job_messages_total", kMessagesHelp, "direction", "in",
     [](const JobFigures& job) -> std::optional<double> {
       return Number(job.counters.sums.messages_in());
     }},
    {"bspnow_job_group_supersteps_total",
     "Supersteps of groups but for the root group, each counted by each member.", "", "",
     [](const JobFigures& job) {
       return OfGroups(job, Number(job.counters.sums.group_supersteps()));
     }},
    {"bspnow_job_group_seconds_total",
     "In the calls that ended them, of a process on average: a part of computing.", "", "",
     [](const JobFigures& job) {
       return OfGroups(job, Seconds(job.counters.sums.group_sync_ns()));
     }},
    {"bspnow_job_group_bytes_total", kGroupBytesHelp, "direction", "out",
     [](const JobFigures& job) {
       return OfGroups(job, Number(job.counters.sums.group_bytes_out()));
     }},
    {"bspnow_job_group_bytes_total", kGroupBytesHelp, "direction", "in",
     [](const JobFigures& job) {
       return OfGroups(job, Number(job.counters.sums.group_bytes_in()));
     }},
    {"bspnow_job_group_messages_total", kGroupMessagesHelp, "direction", "out",
     [](const JobFigures& job) {
       return OfGroups(job, Number(job.counters.sums.group_messages()));
     }},
    {"bspnow_job_group_messages_total", kGroupMessagesHelp, "direction", "in",
     [](const JobFigures& job) {
       return OfGroups(job, Number(job.counters.sums.group_messages_in()));
     }},
    {"bspnow_job_checkpoints_total", kCheckpointsHelp, "end", "committed",
     [](const JobFigures& job) -> std::optional<double> {
       return Number(job.counters.checkpoints_committed);
     }},
    {"bspnow_job_checkpoints_total", kCheckpointsHelp, "end", "given_up",
     [](const JobFigures& job) -> std::optional<double> {
       return Number(job.counters.checkpoints_given_up);
     }},
    {"bspnow_job_checkpoint_seconds_total", "Of a job's time that its checkpoints have cost.", "",
     "", [](const JobFigures& job) -> std::optional<double> { return Seconds(job.checkpoint_ns); }},
    {"bspnow_job_recoveries_total", "Times that a job went back.", "", "",
     [](const JobFigures& job) -> std::optional<double> {
       return Number(job.counters.recoveries);
     }},
    {"bspnow_job_recovery_seconds_total", "From losses until the job's processes ran again.", "",
     "",
     [](const JobFigures& job) -> std::optional<double> {
       return Seconds(job.counters.recovery_ns);
     }},
};

constexpr JobSeries kJobGauges[] = {
    {"bspnow_job_superstep", "Supersteps of a job that count: a recovery goes back.", "", "",
     [](const JobFigures& job) -> std::optional<double> {
       return Number(job.shown.totals().supersteps());
     }},
    {"bspnow_job_measured_seconds", "What these supersteps took.", "", "",
     [](const JobFigures& job) -> std::optional<double> {
       return Seconds(job.shown.totals().total_ns());
     }},
    {"bspnow_job_predicted_seconds", "What the cost model says of them: w + h*g + l.", "", "",
     [](const JobFigures& job) { return UnlessZero(Seconds(job.shown.totals().predicted_ns())); }},
    {"bspnow_job_g_seconds_per_byte", "g, as the job's supersteps show it.", "", "",
     [](const JobFigures& job) -> std::optional<double> {
       const proto::CostFit& fit = job.shown.totals().fit();
       if (!fit.has_g_ns_per_byte()) return std::nullopt;
       return fit.g_ns_per_byte() / kNsPerSecond;
     }},
    {"bspnow_job_l_seconds", "l, as the job's supersteps show it.", "", "",
     [](const JobFigures& job) -> std::optional<double> {
       const proto::CostFit& fit = job.shown.totals().fit();
       if (!fit.has_l_ns()) return std::nullopt;
       return fit.l_ns() / kNsPerSecond;
     }},
    {"bspnow_job_imbalance_ratio",
     "Computing of the slowest process, to that of a process on average: 1 is even.", "", "",
     [](const JobFigures& job) { return UnlessZero(job.shown.totals().imbalance()); }},
    {"bspnow_job_committed_superstep", "With which a job goes on after a loss.", "", "",
     [](const JobFigures& job) -> std::optional<double> {
       if (job.shown.checkpoints().committed() == 0) return std::nullopt;
       return Number(job.shown.checkpoints().superstep());
     }},
    {"bspnow_job_commit_age_seconds",
     "Since the last committed checkpoint of a job that runs, or else since it runs.", "", "",
     [](const JobFigures& job) -> std::optional<double> {
       if (!job.unsaved_ns) return std::nullopt;
       return Seconds(*job.unsaved_ns);
     }},
    {"bspnow_job_checkpoint_interval_seconds", "After which a job's next checkpoint is due.", "",
     "",
     [](const JobFigures& job) {
       return UnlessZero(Seconds(job.shown.checkpoints().interval_ns()));
     }},
};

void AddSeries(const ClusterFigures& figures, const JobSeries& series, MetricList& list) {
  for (const JobFigures& job : figures.of_jobs) {
    const std::optional<double> value = series.value(job);
    if (!value) continue;
    MetricList::Labels labels = {{"bsp_job", IdText(job)}};
    if (*series.label != '\0') labels.push_back({series.label, series.label_value});
    list.Add(labels, *value);
  }
}

// Whom a job's barrier waits for now, and for how long.
void AddBarrierWaits(const ClusterFigures& figures, MetricList& list) {
  list.Gauge("bspnow_job_barrier_wait_seconds",
             "For how long the barrier of a job has waited for this process; only where it is "
             "unusual.");
  for (const JobFigures& job : figures.of_jobs) {
    int named = 0;
    for (const proto::BarrierWait& wait : job.shown.barrier_waits())
      for (const proto::LateProcess& late : wait.late())
        if (named++ < kNamedMax)
          list.Add({{"bsp_job", IdText(job)},
                    {"pid", std::to_string(late.pid())},
                    {"node", wait.node()}},
                   static_cast<double>(wait.for_ms()) / kMsPerSecond);
  }
}

void AddStragglers(const ClusterFigures& figures, MetricList& list) {
  list.Gauge("bspnow_job_straggler_seconds",
             "That this process computed longer than a process on average, where it was the last.");
  for (const JobFigures& job : figures.of_jobs) {
    int named = 0;
    for (const proto::Straggler& straggler : job.shown.totals().stragglers())
      if (named++ < kNamedMax)
        list.Add({{"bsp_job", IdText(job)},
                  {"pid", std::to_string(straggler.pid())},
                  {"node", straggler.node()}},
                 Seconds(straggler.cost_ns()));
  }
}

void AddJobs(const ClusterFigures& figures, MetricList& list) {
  list.Gauge("bspnow_job_info", "Name and user of a job.");
  for (const JobFigures& job : figures.of_jobs)
    list.Add({{"bsp_job", IdText(job)},
              {"name", job.shown.spec().name()},
              {"user", job.shown.spec().user()}},
             1);
  std::string_view begun;
  for (const JobSeries& series : kJobCounters) {
    if (begun != series.name) list.Counter(series.name, series.help);
    begun = series.name;
    AddSeries(figures, series, list);
  }
  for (const JobSeries& series : kJobGauges) {
    list.Gauge(series.name, series.help);
    AddSeries(figures, series, list);
  }
  list.Histogram("bspnow_job_superstep_seconds",
                 WithAverages("What the supersteps of a job took."));
  for (const JobFigures& job : figures.of_jobs)
    list.Add({{"bsp_job", IdText(job)}},
             HistogramOf(job.counters.superstep_ns->Look(), kNsPerSecond));
  AddBarrierWaits(figures, list);
  AddStragglers(figures, list);
}

// ---- Of all -------------------------------------------------------------------------------------

void AddSupersteps(const SuperstepHistograms& all, MetricList& list) {
  const auto add = [&list](const char* name, const char* help, const Histogram& of,
                           double per_unit) {
    AddHistogram(name, WithAverages(help), of.Look(), per_unit, list);
  };
  add("bspnow_superstep_seconds", "What the supersteps of all jobs took.", all.superstep_ns,
      kNsPerSecond);
  add("bspnow_computing_seconds", "Computing in a superstep, of a process on average.",
      all.computing_ns, kNsPerSecond);
  add("bspnow_waiting_seconds", "Waiting for the last process to arrive, of a process on average.",
      all.waiting_ns, kNsPerSecond);
  add("bspnow_release_seconds", "From the last arrival to the release, of a process on average.",
      all.release_ns, kNsPerSecond);
  add("bspnow_exchange_seconds", "Delivery after the barrier, of a process on average.",
      all.exchange_ns, kNsPerSecond);
  add("bspnow_hrelation_bytes", "The h-relations: the most bytes that a process sent or received.",
      all.h_bytes, kBytesPerByte);
}

void AddNodes(const ClusterFigures& figures, MetricList& list) {
  list.Gauge("bspnow_workers", "Workers by state.");
  AddEach("state", figures.workers, list);
  list.Gauge("bspnow_slots", "Slots of workers that are up: taken by jobs, or free.");
  AddEach("state", {{"used", figures.slots_used}, {"free", figures.slots_free}}, list);
  list.Gauge("bspnow_node_up", "1 while the node's worker holds a lease, 0 once it is lost.");
  for (const NodeFigures& node : figures.nodes) list.Add({{"node", node.name}}, node.up ? 1 : 0);
  list.Gauge("bspnow_node_resting", "1 while a node gets no jobs, since it could not start some.");
  for (const NodeFigures& node : figures.nodes) list.Add({{"node", node.name}}, node.rests ? 1 : 0);
  list.Gauge("bspnow_lease_age_seconds", "Since a worker renewed its lease.");
  for (const NodeFigures& node : figures.nodes)
    if (node.up) list.Add({{"node", node.name}}, Seconds(node.lease_age_ns));
}

void AddCheckpoints(const CheckpointFigures& figures, MetricList& list) {
  list.Counter("bspnow_checkpoints_total", "Checkpoints that were committed, or given up.");
  AddEach("end", figures.ended, list);
  AddCounter("bspnow_checkpoint_bytes_total", "Bytes of committed images.", Number(figures.bytes),
             list);
  AddHistogram("bspnow_checkpoint_pause_seconds",
               "For how long a committed checkpoint held the process that it held longest.",
               figures.pause_ns->Look(), kNsPerSecond, list);
  AddCounter("bspnow_checkpoints_damaged_total",
             "Committed checkpoints that could not be put back.", Number(figures.damaged), list);
  list.Counter("bspnow_recoveries_total", "Times that jobs went back, by what was lost.");
  AddEach("lost", figures.recoveries, list);
  AddHistogram("bspnow_recovery_seconds", "From a loss until the job's processes ran again.",
               figures.recovery_ns->Look(), kNsPerSecond, list);
  AddCounter("bspnow_suspensions_total", "Jobs that users suspended.", Number(figures.suspensions),
             list);
}

void AddQueue(const ClusterFigures& figures, MetricList& list) {
  list.Gauge("bspnow_jobs", "Jobs by state; ended ones as far as they are listed.");
  AddEach("state", figures.jobs, list);
  list.Counter("bspnow_jobs_ended_total", "Jobs that ended, by outcome.");
  AddEach("outcome", figures.queue.ended, list);
  AddHistogram("bspnow_queue_wait_seconds", "From the submission of a job to its first start.",
               figures.queue.wait_ns->Look(), kNsPerSecond, list);
  AddGauge("bspnow_queue_oldest_wait_seconds", "Of the job that has waited longest.",
           Seconds(figures.oldest_wait_ns), list);
}

}  // namespace

void AddMetrics(const ClusterFigures& figures, MetricList& list) {
  AddQueue(figures, list);
  AddNodes(figures, list);
  AddJobs(figures, list);
  AddSupersteps(*figures.supersteps, list);
  AddCheckpoints(figures.checkpoints, list);
  list.Counter("bspnow_frames_refused_total", "Frames of workers that were refused.");
  AddEach("reason", figures.refused, list);
  AddCounter("bspnow_calls_refused_total",
             "Calls whose caller did not prove who he is, or may not do that.",
             Number(figures.calls_refused), list);
  list.Gauge("bspnow_connections", "Connections of workers: for frames, and for orders.");
  AddEach("plane", {{"barrier", figures.connections}, {"control", figures.control_streams}}, list);
  list.Counter("bspnow_frame_bytes_total", "Bytes of frames from and to workers.");
  AddEach("direction", {{"in", figures.bytes_read}, {"out", figures.bytes_written}}, list);
  AddCounter("bspnow_barriers_total", "Barriers released, of jobs over several nodes.",
             Number(figures.barriers), list);
  AddCounter("bspnow_output_bytes_total", "Bytes that jobs printed.", Number(figures.output_bytes),
             list);
  AddGauge("bspnow_term", "Starts of this coordinator, with this state directory.",
           Number(figures.term), list);
  if (figures.journal_sync_ns)
    AddHistogram(
        "bspnow_journal_sync_seconds",
        "Until a transaction of the journal was on the disk, that of its records included.",
        *figures.journal_sync_ns, kNsPerSecond, list);
}

}  // namespace bspnow::coordinator
