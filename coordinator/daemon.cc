#include "coordinator/daemon.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/start_thread.h"
#include "coordinator/core/jobs/job_spec.h"
#include "coordinator/stream_key_file.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kCleaningMs = 3'600'000;
constexpr std::uint64_t kCountingMs = 60'000;  // With a quota of bytes.

PostEvent PostTo(EventLoop& loop) {
  return [&loop](Timers::Event event) { loop.Post(std::move(event)); };
}

/// A job that has a directory was there, whatever has become of the journal.
StoredState WithDirectories(StoredState stored, const StateDirectory& state) {
  for (const JobId job : state.jobs()) stored.last_job = std::max(stored.last_job, job);
  return stored;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Daemon>> Daemon::Start(EventLoop& loop, const StateDirectory& state,
                                                      DaemonSettings settings) {
  auto store = JobStore::Open(state.path(), PostTo(loop));
  if (!store.ok()) return store.status();
  auto stream_key = OpenStreamKey(state.stream_key());
  if (!stream_key.ok()) return stream_key.status();
  if (settings.data_tls) stream_key = stream_key->Encrypting();
  auto frames = BarrierServer::Listen(loop, settings.barrier_listen);
  if (!frames.ok()) return frames.status();
  return std::make_unique<Daemon>(
      loop, state, std::move(settings),
      Opened{.store = *std::move(store), .stream_key = *stream_key, .frames = *std::move(frames)});
}

Daemon::Daemon(EventLoop& loop, const StateDirectory& state, DaemonSettings settings, Opened opened)
    : loop_(loop),
      state_(state),
      settings_(std::move(settings)),
      stream_key_(opened.stream_key),
      kept_(settings_.quotas.bytes),
      uploads_(state, kept_),
      content_checks_(uploads_, PostTo(loop)),
      frames_(std::move(opened.frames)),
      logs_(state, settings_.log_bytes_max, PostTo(loop)),
      store_(std::move(opened.store)),
      core_timers_(loop),
      cluster_({.timers = core_timers_,
                .journal = *store_,
                .logs = logs_,
                .frames = *frames_,
                .start_anew = settings_.start_anew,
                .ended_by_client = settings_.ended_by_client,
                .find_missing =
                    [this](const std::string& user, std::set<std::string> contents,
                           ContentChecks::Missing missing) {
                      content_checks_.FindMissing(user, std::move(contents), std::move(missing));
                    },
                .has_room = [this](const std::string& user) { return kept_.Check(user); }},
               CoreSettings(), WithDirectories(store_->TakeLoaded(), state)) {
  frames_->Serve(cluster_.barriers(), stream_key_);
  CleanUp();
}

Daemon::~Daemon() {
  loop_.CancelTimer(cleaning_);
  frames_->EndService();
}

ClusterSettings Daemon::CoreSettings() const {
  return {.barrier_address = settings_.barrier_advertise.empty() ? frames_->address().ToString()
                                                                 : settings_.barrier_advertise,
          .checkpoint_limits = settings_.checkpoint_limits,
          .checkpoint_copies = settings_.checkpoint_copies,
          .stream_key = stream_key_,
          .own_key = StreamKey::Random(),
          .quotas = settings_.quotas};
}

LogReader Daemon::ReadLog(JobId job) {
  LogReader reader = logs_.Read(job);
  const absl::StatusOr<proto::Job> shown = cluster_.Show(job);
  if (shown.ok() && shown->output_bytes() != 0) reader.RequireFile();
  return reader;
}

KnownJobs Daemon::JobsNow() const {
  KnownJobs jobs;
  for (const JobRecord* record : cluster_.table().records()) {
    KnownJob& job = jobs[IdOf(*record)];
    job = {.user = record->job().spec().user(), .has_ended = HasEnded(*record)};
    if (!job.has_ended) job.contents = ContentsOf(record->job().spec());
  }
  return jobs;
}

void Daemon::CleanUp() {
  if (settings_.quotas.bytes == 0) return CleanUp(JobsNow());
  CleanOnThread([this] {
    loop_.Post([this, kept = state_.jobs()] {
      archived_.AddTo(JobsNow(), kept, [this](KnownJobs jobs) { CleanUp(std::move(jobs)); });
    });
  });
}

void Daemon::CleanOnThread(std::function<void()> work) {
  auto thread = StartThread(std::move(work));
  if (thread) {
    cleaner_ = *std::move(thread);
    return;
  }
  spdlog::warn("event=not_cleaned reason=\"there is no thread to be had\"");
  cleaning_ = loop_.AddTimer(kCountingMs, [this] { CleanUp(); });
}

void Daemon::CleanUp(KnownJobs known) {
  const std::uint64_t user_bytes = settings_.quotas.bytes;
  CleanOnThread([this, user_bytes, jobs = std::move(known), unix_s = UnixMs() / 1000] {
    const RemovedFiles removed = RemoveOldFiles(
        state_, uploads_, jobs,
        {.now_unix_s = unix_s, .days = settings_.keep_days, .user_bytes = user_bytes});
    if (removed.contents + removed.jobs != 0)
      spdlog::info("event=old_files_removed contents={} jobs={}", removed.contents, removed.jobs);
    if (user_bytes != 0) kept_.SetStored(CountKept(state_, uploads_, jobs));
    loop_.Post([this, after_ms = user_bytes == 0 ? kCleaningMs : kCountingMs] {
      cleaning_ = loop_.AddTimer(after_ms, [this] { CleanUp(); });
    });
  });
}

ClusterFigures Daemon::Figures() const {
  ClusterFigures figures = cluster_.Figures();
  for (std::uint8_t i = 1; i < kFrameFaults; ++i)  // 0 is none.
    figures.refused[FaultName(FrameFault{i})] += frames_->faults(FrameFault{i});
  figures.bytes_read = frames_->bytes_read();
  figures.bytes_written = frames_->bytes_written();
  figures.journal_sync_ns = store_->sync_ns();
  return figures;
}

}  // namespace bspnow::coordinator
