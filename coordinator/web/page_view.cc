#include "coordinator/web/page_view.h"

#include <functional>
#include <initializer_list>
#include <utility>

#include "base/clock.h"
#include "base/units.h"
#include "coordinator/core/lease.h"
#include "net/ask_loop.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kSampleMs = 1000;
constexpr std::uint64_t kFreshNs = 900 * kNsPerMs;
constexpr std::size_t kEndedSeriesMax = 64;
/// A younger lease is as good as new, and would make all news at each look: of a node with jobs,
/// and of one at rest.
constexpr std::int64_t kLeaseAgeShownMs = kLeaseNs / kNsPerMs;
constexpr std::int64_t kIdleLeaseAgeShownMs = kHeardNs / kNsPerMs;

proto::ListJobsRequest Listed(std::initializer_list<proto::JobState> states) {
  proto::ListJobsRequest request;
  request.set_all(HasEnded(*states.begin()));
  request.set_page_size(Overview::kListedMax);
  for (const proto::JobState state : states) request.add_states(state);
  return request;
}

/// What the page shows of a job in a list, once a second: it needs no environment, and no names of
/// files. Its user is who may see the rest.
proto::Job RowOf(const proto::Job& job) {
  proto::Job row;
  row.set_job(job.job());
  row.set_state(job.state());
  row.set_reason(job.reason());
  row.set_run_ms(job.run_ms());
  row.mutable_totals()->set_supersteps(job.totals().supersteps());
  proto::JobSpec& spec = *row.mutable_spec();
  spec.set_name(job.spec().name());
  spec.set_user(job.spec().user());
  spec.set_nprocs(job.spec().nprocs());
  spec.mutable_program()->set_name(job.spec().program().name());
  return row;
}

void Shorten(proto::ListNodesReply& nodes) {
  for (proto::Node& node : *nodes.mutable_nodes()) {
    node.mutable_spec()->clear_cpu_features();
    const auto shown_ms = node.slots_used() != 0 ? kLeaseAgeShownMs : kIdleLeaseAgeShownMs;
    if (node.lease_age_ms() < shown_ms) node.clear_lease_age_ms();
  }
}

}  // namespace

PageView::PageView(EventLoop& loop, Daemon& daemon) : loop_(loop), daemon_(daemon) { Sample(); }

PageView::~PageView() { loop_.CancelTimer(sampling_); }

std::shared_ptr<const Overview> PageView::Look() {
  const std::lock_guard lock(mutex_);
  if (NowNs() - overview_ns_ < kFreshNs) return overview_;
  overview_ = AskLoopForLater<std::shared_ptr<const Overview>>(loop_, [this](OnOverview done) {
                Gather(done);
              }).value_or(nullptr);
  overview_ns_ = NowNs();
  return overview_;
}

void PageView::Gather(const OnOverview& done) const {
  const auto found = std::make_shared<Overview>();
  found->nodes = daemon_.cluster().ListNodes();
  Shorten(found->nodes);
  const auto take = [this, found](std::initializer_list<proto::JobState> states,
                                  proto::ListJobsReply Overview::*kind,
                                  std::function<void()> then) {
    daemon_.cluster().List(
        Listed(states), RowOf,
        [found, kind, then = std::move(then)](absl::StatusOr<proto::ListJobsReply> listed) {
          if (listed.ok()) *found.*kind = *std::move(listed);
          then();
        });
  };
  take({proto::RUNNING, proto::ENDING, proto::RECOVERING, proto::SUSPENDED}, &Overview::running,
       [] {});
  take({proto::WAITING}, &Overview::waiting, [] {});
  // Who have ended may be in the journal alone, which answers later.
  take({proto::SUCCEEDED, proto::FAILED, proto::CANCELLED}, &Overview::ended,
       [found, done] { done(found); });
}

std::optional<PageView::JobLook> PageView::LookAt(const Caller& caller, JobId job,
                                                  JobSeries::Seen seen) {
  auto look = AskLoopForLater<JobLook>(loop_, [this, job, seen](std::function<void(JobLook)> done) {
    daemon_.cluster().Recall(job, [this, job, seen, done] { done(LookNow(job, seen)); });
  });
  if (!look || !look->job.ok()) return look;
  HideFrom(caller, *look->job);
  look->job->mutable_spec()->clear_environment();  // It is not shown, and may hold secrets.
  return look;
}

PageView::JobLook PageView::LookNow(JobId job, JobSeries::Seen seen) const {
  JobLook look{.job = daemon_.cluster().Show(job), .series = {}, .seen = seen};
  const auto known = series_.find(job);
  if (look.job.ok() && known != series_.end()) look.series = known->second.Since(look.seen);
  return look;
}

std::optional<absl::StatusOr<std::shared_ptr<LogReader>>> PageView::OpenLog(const Caller& caller,
                                                                            JobId job) {
  using Opened = absl::StatusOr<std::shared_ptr<LogReader>>;
  return AskLoopForLater<Opened>(loop_, [this, caller, job](std::function<void(Opened)> done) {
    daemon_.cluster().Recall(job, [this, caller, job, done] { done(OpenNow(caller, job)); });
  });
}

absl::StatusOr<std::shared_ptr<LogReader>> PageView::OpenNow(const Caller& caller, JobId job) {
  const absl::Status may = CheckOwner(caller, daemon_.cluster().OwnerOf(job), Value(job));
  if (!may.ok()) return may;
  return std::make_shared<LogReader>(daemon_.ReadLog(job));
}

// ---- Series -------------------------------------------------------------------------------------

void PageView::Sample() {
  const std::int64_t unix_ms = UnixMs();
  for (const auto& [id, job] : daemon_.cluster().table().jobs()) {
    if (job.live && job.live->running) {
      JobSeries& series = series_[id];
      series.Add(unix_ms, job.live->running->epoch, job.live->running->stats->totals());
      series.AddRecoveries(job.shown());
      if (const Checkpoint* last = job.live->checkpoints.last())
        series.AddCheckpoint(last->number, last->committed_unix_ms, last->superstep);
    }
  }
  KeepNewestEnded();
  sampling_ = loop_.AddTimer(kSampleMs, [this] { Sample(); });
}

void PageView::KeepNewestEnded() {
  const Jobs& jobs = daemon_.cluster().table().jobs();
  std::size_t ended = 0;
  for (auto each = series_.end(); each != series_.begin();) {
    --each;
    const auto job = jobs.find(each->first);
    if (job != jobs.end() && job->second.live) continue;
    if (job != jobs.end()) {
      each->second.Add(job->second.shown().ended_unix_ms(), job->second.epoch(),
                       job->second.shown().totals());
      each->second.AddRecoveries(job->second.shown());
    }
    if (++ended > kEndedSeriesMax) each = series_.erase(each);
  }
}

}  // namespace bspnow::coordinator
