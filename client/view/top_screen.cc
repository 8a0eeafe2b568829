#include "client/view/top_screen.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <utility>

#include "client/view/barrier_view.h"
#include "client/view/job_view.h"
#include "client/view/quantities.h"

namespace bspnow::client {
namespace {

constexpr double kNsPerSecond = 1e9;

/// What a job did between two looks.
struct Progress {
  double seconds;
  proto::JobTotals totals;
};

Progress Since(const proto::JobTotals& now, const proto::JobTotals& before, double seconds) {
  Progress progress{.seconds = seconds, .totals = now};
  // The counts of a job that was started again begin at 0.
  if (now.supersteps() < before.supersteps()) return progress;
  progress.totals.set_supersteps(now.supersteps() - before.supersteps());
  progress.totals.set_total_ns(now.total_ns() - before.total_ns());
  progress.totals.set_compute_ns(now.compute_ns() - before.compute_ns());
  progress.totals.set_waiting_ns(now.waiting_ns() - before.waiting_ns());
  progress.totals.set_release_ns(now.release_ns() - before.release_ns());
  progress.totals.set_exchange_ns(now.exchange_ns() - before.exchange_ns());
  progress.totals.set_h_bytes(now.h_bytes() - before.h_bytes());
  progress.totals.set_group_supersteps(now.group_supersteps() -
                                       std::min(before.group_supersteps(), now.group_supersteps()));
  progress.totals.set_group_sync_ns(now.group_sync_ns() -
                                    std::min(before.group_sync_ns(), now.group_sync_ns()));
  return progress;
}

std::string Rate(std::uint64_t supersteps, const Progress& progress) {
  if (progress.seconds <= 0) return "-";
  const double rate = static_cast<double>(supersteps) / progress.seconds;
  return rate < 10 ? absl::StrFormat("%.1f", rate) : absl::StrFormat("%.0f", rate);
}

std::string Share(std::uint64_t part_ns, const Progress& progress) {
  if (progress.totals.total_ns() == 0) return "-";
  const double share =
      static_cast<double>(part_ns) / static_cast<double>(progress.totals.total_ns());
  return absl::StrFormat("%.0f", 100 * std::min(share, 1.0));
}

std::string MeanH(const Progress& progress) {
  if (progress.totals.supersteps() == 0) return "-";
  return BytesText(static_cast<double>(progress.totals.h_bytes()) /
                   static_cast<double>(progress.totals.supersteps()));
}

// What the columns have as computing alone.
std::string GroupsLine(const proto::Job& job, const Progress& progress) {
  const proto::JobTotals& totals = progress.totals;
  if (totals.group_supersteps() == 0) return "";
  return absl::StrFormat("job %d in groups: %s supersteps a second, which took %s %% of the time\n",
                         job.job(), Rate(totals.group_supersteps(), progress),
                         Share(totals.group_sync_ns(), progress));
}

std::string ClusterLine(const TopSample& sample) {
  std::map<proto::NodeState, int> nodes;
  std::uint64_t slots = 0;
  std::uint64_t used = 0;
  for (const proto::Node& node : sample.nodes.nodes()) {
    nodes[node.state()] += 1;
    if (node.state() != proto::NODE_LOST) used += node.slots_used();
    if (node.state() == proto::NODE_UP) slots += node.spec().slots();
  }
  std::map<proto::JobState, int> jobs;
  for (const proto::Job& job : sample.jobs) jobs[job.state()] += 1;
  std::string line = absl::StrFormat(
      "%s   nodes: %d up, %d drained, %d lost   slots: %d used of %d   jobs: %d running, "
      "%d waiting",
      LocalTimeText(sample.taken_unix_ms), nodes[proto::NODE_UP], nodes[proto::NODE_DRAINED],
      nodes[proto::NODE_LOST], used, slots, jobs[proto::RUNNING] + jobs[proto::ENDING],
      jobs[proto::WAITING]);
  for (const proto::JobState state : {proto::RECOVERING, proto::SUSPENDED}) {
    if (jobs[state] != 0) absl::StrAppend(&line, ", ", jobs[state], " ", StateName(state));
  }
  for (const proto::NodeState state : {proto::NODE_RESTING, proto::NODE_CONNECTING}) {
    if (nodes[state] != 0) absl::StrAppend(&line, ", ", nodes[state], " nodes ", StateName(state));
  }
  absl::StrAppend(&line, "\n");
  return line;
}

}  // namespace

std::string TopScreen::Show(const TopSample& sample, Colours colours) {
  TextTable table({{"JOB", Align::kRight},
                   {"NAME", Align::kLeft},
                   {"STATE", Align::kLeft},
                   {"P", Align::kRight},
                   {"SUPERSTEPS", Align::kRight},
                   {"PER S", Align::kRight},
                   {"MEAN h", Align::kRight},
                   {"COMPUTE %", Align::kRight},
                   {"WAIT %", Align::kRight},
                   {"RELEASE %", Align::kRight},
                   {"EXCHANGE %", Align::kRight},
                   {"TIME", Align::kRight},
                   {"REASON", Align::kLeft}});
  std::map<std::uint64_t, Earlier> now;
  std::string below;
  for (const proto::Job& job : sample.jobs) {
    const auto before = earlier_.find(job.job());
    const std::int64_t elapsed = RunSeconds(job);
    const Progress progress =
        before == earlier_.end()
            ? Since(job.totals(), proto::JobTotals(), static_cast<double>(elapsed))
            : Since(job.totals(), before->second.totals,
                    static_cast<double>(sample.taken_ns - before->second.taken_ns) / kNsPerSecond);
    table.AddRow({{absl::StrCat(job.job())},
                  {ShortNameOf(job)},
                  {StateName(job.state()), ColourOf(job.state())},
                  {absl::StrCat(job.spec().nprocs())},
                  {absl::StrCat(job.totals().supersteps())},
                  {Rate(progress.totals.supersteps(), progress)},
                  {MeanH(progress)},
                  {Share(progress.totals.compute_ns(), progress)},
                  {Share(progress.totals.waiting_ns(), progress)},
                  {Share(progress.totals.release_ns(), progress)},
                  {Share(progress.totals.exchange_ns(), progress)},
                  {DurationText(elapsed)},
                  {job.reason()}});
    below += GroupsLine(job, progress);
    const AwaitedProcesses awaited = AwaitedOf(job);
    if (IsNews(awaited)) {
      absl::StrAppend(&below, "job ", job.job(), " waits for ",
                      absl::StrJoin(AwaitedLines(awaited), "; "), "\n");
    }
    now[job.job()] = Earlier{.totals = job.totals(), .taken_ns = sample.taken_ns};
  }
  earlier_ = std::move(now);
  return ClusterLine(sample) + "\n" + table.Text(colours) + (below.empty() ? "" : "\n" + below);
}

}  // namespace bspnow::client
