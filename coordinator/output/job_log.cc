#include "coordinator/output/job_log.h"

#include <errno.h>
#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include <absl/strings/str_cat.h>
#include "base/clock.h"
#include "base/failpoint.h"
#include "base/write_all.h"
#include "coordinator/output/log_cut.h"

namespace bspnow::coordinator {
namespace {

constexpr std::chrono::milliseconds kRoomRetry{250};
constexpr int kWriters = 8;  // So many logs may be slow at a time before others wait for them.

std::uint64_t BytesOf(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

/// That of the file, and that in which this one lies.
absl::Status OpenDirectories(std::filesystem::path path, std::array<UniqueFd, 2>& directories) {
  for (UniqueFd& directory : directories) {
    path = path.parent_path();
    directory = UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.valid())
      return absl::ErrnoToStatus(errno, absl::StrCat("opening the directory ", path.string()));
  }
  return absl::OkStatus();
}

absl::Status InFile(const absl::Status& status, const std::string& path) {
  return absl::Status(status.code(), absl::StrCat(status.message(), " ", path));
}

}  // namespace

JobLogs::JobLogs(const StateDirectory& state, std::uint64_t log_bytes_max, PostEvent post)
    : state_(state), log_bytes_max_(log_bytes_max), post_(std::move(post)) {
  for (int i = 0; i < kWriters; ++i) writers_.emplace_back([this] { RunQueued(); });
}

JobLogs::~JobLogs() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_for_work_.notify_all();
  stopped_.notify_all();
}

void JobLogs::Begin(JobId job) {
  auto written = std::make_shared<Written>();
  written->log = std::make_shared<GrowingLog>(state_.log(job));
  written->usable = Load(*written);
  std::error_code error;  // The directory tells that there is such a job, whatever it prints.
  std::filesystem::create_directory(state_.job(job), error);
  Add(job, std::move(written));
}

void JobLogs::BeginNew(JobId job) {
  auto written = std::make_shared<Written>();
  written->log = std::make_shared<GrowingLog>(state_.log(job));
  Add(job, std::move(written));
  Queue(job, [path = state_.job(job)] {
    std::error_code error;  // As in Begin.
    std::filesystem::create_directory(path, error);
  });
}

void JobLogs::Add(JobId job, std::shared_ptr<Written> written) {
  const std::lock_guard lock(mutex_);
  growing_[job] = {.written = std::move(written), .ending = false};
}

/// Reads how far an earlier log goes. RESOURCE_EXHAUSTED: that cannot be told now.
absl::Status JobLogs::Load(Written& written) {
  const std::string& path = written.log->path();
  auto earlier = OpenLog(path, O_RDWR);
  if (!earlier && errno == ENOENT) return absl::OkStatus();
  if (!earlier) return NotOpened(path);
  const auto whole_bytes = ForEachLogRecord(earlier->get(), [&](const LogRecord& record) {
    written.ends[StreamOf(record)] = record.offset + record.text.size();
    return absl::OkStatus();
  });
  if (!whole_bytes.ok()) {
    written.ends.clear();  // All of it is set aside, and its job is to go back to before it.
    spdlog::error("event=log_not_read log={} error=\"{}\"", path, whole_bytes.status().ToString());
    return InFile(whole_bytes.status(), path);
  }
  const off_t had = lseek(earlier->get(), 0, SEEK_END);
  if (had > static_cast<off_t>(*whole_bytes))
    spdlog::warn("event=log_damaged log={} sound_bytes={} lost_bytes={}", path, *whole_bytes,
                 had - static_cast<off_t>(*whole_bytes));
  absl::Status usable;
  if (ftruncate(earlier->get(), static_cast<off_t>(*whole_bytes)) != 0)
    usable = absl::ErrnoToStatus(errno, absl::StrCat("cutting what a crash tore off ", path));
  written.log->Set({.file = std::move(earlier), .bytes = *whole_bytes, .ended = false});
  return usable;
}

/// As an empty one it would be written over, and its job would start over.
void JobLogs::AwaitLoaded(Written& written) {
  if (!absl::IsResourceExhausted(written.usable)) return;
  written.usable = WhenThereIsRoom(written, [&] { return Load(written); });
}

/// The file does not hold any more what was written to it.
void JobLogs::LoadAgain(Written& written) {
  written.ends.clear();
  written.log->Set({});
  written.usable = Load(written);
  AwaitLoaded(written);
}

std::shared_ptr<JobLogs::Written> JobLogs::Find(JobId job) {
  const std::lock_guard lock(mutex_);
  const auto found = growing_.find(job);
  return found == growing_.end() || found->second.ending ? nullptr : found->second.written;
}

void JobLogs::Append(JobId job, LogRecord record, Done done) {
  Queue(job,
        [this, written = Find(job), record = std::move(record), done = std::move(done)]() mutable {
          // Of a job that has ended nobody can read it any more.
          absl::Status outcome;
          if (written) AwaitLoaded(*written);
          if (written) outcome = WriteRecord(*written, std::move(record));
          post_([done, outcome = std::move(outcome)] { done(outcome); });
        });
}

void JobLogs::Cut(JobId job, const std::vector<LogPosition>& positions, CutDone done) {
  Queue(job, [this, written = Find(job), positions, done = std::move(done)] {
    if (written) AwaitLoaded(*written);
    absl::StatusOr<LogCut> outcome = written ? CutFile(*written, positions) : LogCut{};
    post_([done, outcome = std::move(outcome)] { done(outcome); });
  });
}

void JobLogs::Sync(JobId job, const std::vector<LogPosition>& reach, Done done) {
  Queue(job, [this, written = Find(job), reach, done = std::move(done)] {
    absl::Status synced;
    if (written) AwaitLoaded(*written);
    if (written) synced = CheckReach(*written, reach);
    if (written && synced.ok()) synced = SyncFile(*written);
    post_([done, synced] { done(synced); });
  });
}

void JobLogs::End(JobId job) {
  std::shared_ptr<Written> written;
  {
    const std::lock_guard lock(mutex_);
    const auto found = growing_.find(job);
    if (found == growing_.end() || std::exchange(found->second.ending, true)) return;
    written = found->second.written;
  }
  Queue(job, [this, job, written = std::move(written)] { WriteEnd(job, *written); });
}

LogReader JobLogs::Read(JobId job) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = growing_.find(job);
    if (found != growing_.end())
      return LogReader(found->second.written->log, LogReader::OpenedBy::kWriter);
  }
  return LogReader(std::make_shared<GrowingLog>(state_.log(job)), LogReader::OpenedBy::kReader);
}

std::string JobLogs::waits_for(JobId job) const {
  const std::lock_guard lock(mutex_);
  const auto found = growing_.find(job);
  if (found == growing_.end()) return "";
  const auto waits = waiting_.find(found->second.written.get());
  return waits == waiting_.end() ? "" : waits->second;
}

std::uint64_t JobLogs::waits_since_ns(JobId job) const {
  const std::lock_guard lock(mutex_);
  const auto tasks = tasks_.find(job);
  return tasks == tasks_.end() ? 0 : tasks->second.since_ns;
}

// ---- The writing threads ------------------------------------------------------------------------

void JobLogs::Queue(JobId job, Task task) {
  const std::lock_guard lock(mutex_);
  Tasks& tasks = tasks_[job];
  tasks.queue.push_back(std::move(task));
  if (tasks.queue.size() > 1) return;  // The thread that works on this log finds it.
  tasks.since_ns = NowNs();
  ready_.push_back(job);
  ready_for_work_.notify_one();
}

void JobLogs::RunQueued() {
  std::unique_lock lock(mutex_);
  while (true) {
    ready_for_work_.wait(
        lock, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return stopping_ || !ready_.empty(); });
    if (ready_.empty()) return;
    const auto job = tasks_.find(ready_.front());
    ready_.pop_front();
    Tasks& tasks = job->second;
    Task task = std::move(tasks.queue.front());
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    tasks.queue.pop_front();
    if (tasks.queue.empty()) {
      tasks_.erase(job);
    } else {
      tasks.since_ns = NowNs();
      ready_.push_back(job->first);  // After the others. This thread takes one of them.
    }
  }
}

absl::Status JobLogs::WhenThereIsRoom(const Written& written,
                                      const std::function<absl::Status()>& write) {
  absl::Status outcome = write();
  while (absl::IsResourceExhausted(outcome)) {
    std::unique_lock lock(mutex_);
    if (waiting_.empty()) spdlog::error("event=log_waits error=\"{}\"", outcome.ToString());
    waiting_[&written] = std::string(outcome.message());
    const bool stopping = stopped_.wait_for(
        lock, kRoomRetry, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return stopping_; });
    if (stopping) return outcome;
    lock.unlock();
    outcome = write();
  }
  const std::lock_guard lock(mutex_);
  if (waiting_.erase(&written) > 0 && waiting_.empty()) spdlog::info("event=log_goes_on");
  return outcome;
}

absl::Status JobLogs::WriteRecord(Written& written, LogRecord record) {
  if (!written.usable.ok()) return written.usable;
  std::uint64_t& end = written.ends[StreamOf(record)];
  const bool of_launcher = record.origin == LogOrigin::kLauncher;
  if (of_launcher) record.offset = end;
  if (record.offset > end)
    return absl::FailedPreconditionError(
        absl::StrCat("bytes ", end, " to ", record.offset, " of what pid ", record.pid,
                     " printed never came to ", written.log->path()));
  if (record.offset + record.text.size() <= end) return absl::OkStatus();
  record.text.erase(0, end - record.offset);
  record.offset = end;
  const std::string bytes = EncodeLogRecord(record);
  if (written.log->extent().bytes + bytes.size() > log_bytes_max_ && !of_launcher)
    return absl::OutOfRangeError(
        absl::StrCat("the job has printed more than ", log_bytes_max_,
                     " bytes, which is the coordinator's --max-log-bytes"));
  absl::Status put = WhenThereIsRoom(written, [&] { return WriteBytes(written, bytes); });
  if (!put.ok()) return put;
  end += record.text.size();
  return absl::OkStatus();
}

absl::Status JobLogs::WriteBytes(Written& written, const std::string& bytes) {
  if (absl::Status failed = FailpointStatus("coordinator.log.write"); !failed.ok()) return failed;
  GrowingLog& log = *written.log;
  GrowingLog::Extent extent = log.extent();
  if (!extent.file) {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(log.path()).parent_path(), error);
    extent.file = OpenLog(log.path(), O_RDWR | O_CREAT);
    if (!extent.file && error) errno = error.value();  // Else only the directory is missed.
    if (!extent.file) return NotOpened(log.path());
  }
  const std::uint64_t had = extent.bytes;
  const std::string header = had == 0 ? EncodeLogFileHeader() : "";
  if (absl::Status put = WriteAll(extent.file->get(), header + bytes, log.path()); !put.ok()) {
    // No half record stays behind; if that fails too nothing more may follow it.
    if (BytesOf(extent.file->get()) != had &&
        ftruncate(extent.file->get(), static_cast<off_t>(had)) != 0)
      return written.usable = absl::DataLossError(put.message());
    // Be it room, or a disk that has failed or may only be read: what to print is still there. As
    // a loss of the job it would come again at once, until the job has no restarts left.
    return absl::ResourceExhaustedError(put.message());
  }
  extent.bytes += header.size() + bytes.size();
  log.Set(std::move(extent));
  return absl::OkStatus();
}

absl::StatusOr<LogCut> JobLogs::CutFile(Written& written,
                                        const std::vector<LogPosition>& positions) {
  const LogCut cut = PlanCut(written.ends, positions);
  if (cut.missing_bytes > 0) return cut;
  if (cut.dropped_bytes > 0 || !written.usable.ok()) {
    absl::Status shortened = WhenThereIsRoom(written, [&] {
      auto shorter = Shortened(written, cut.kept);
      if (shorter.ok()) written.log->Set(*std::move(shorter));
      return shorter.status();
    });
    if (absl::IsDataLoss(shortened)) {
      LoadAgain(written);
      return CutFile(written, positions);  // The file is shorter, or none: this comes to an end.
    }
    if (!shortened.ok()) return shortened;
    written.usable = written.syncable = absl::OkStatus();  // It is another file.
  }
  for (auto& [stream, end] : written.ends)
    if (stream.origin != LogOrigin::kLauncher) end = EndOf(cut.kept, stream);
  return cut;
}

/// A file that could not be read as a log is kept for whoever wants to know what is in it.
absl::StatusOr<GrowingLog::Extent> JobLogs::Shortened(const Written& written,
                                                      const StreamEnds& keep) {
  if (written.log->extent().file) return WriteShorter(*written.log, keep);
  std::error_code error;
  std::filesystem::rename(written.log->path(), written.log->path() + ".damaged", error);
  if (error)
    return absl::ErrnoToStatus(error.value(), absl::StrCat("setting aside ", written.log->path()));
  return GrowingLog::Extent{};
}

absl::Status JobLogs::CheckReach(const Written& written, const std::vector<LogPosition>& reach) {
  for (const LogPosition& at : reach) {
    for (const auto& [origin, end] : StreamsOf(at)) {
      const std::uint64_t has = EndOf(written.ends, {at.pid, origin});
      if (end <= has) continue;
      return absl::FailedPreconditionError(absl::StrCat("bytes ", has, " to ", end, " of what pid ",
                                                        at.pid, " printed are not in ",
                                                        written.log->path(), " any more"));
    }
  }
  return absl::OkStatus();
}

absl::Status JobLogs::SyncFile(Written& written) {
  if (!written.usable.ok()) return written.usable;
  if (!written.syncable.ok()) return written.syncable;
  const GrowingLog& log = *written.log;
  const GrowingLog::Extent extent = log.extent();
  if (!extent.file) return absl::OkStatus();
  // Opened before anything is synced: for want of descriptors nothing has failed yet.
  std::array<UniqueFd, 2> directories;  // The second one says of which job it is.
  absl::Status opened =
      WhenThereIsRoom(written, [&] { return OpenDirectories(log.path(), directories); });
  if (!opened.ok()) return opened;
  absl::Status synced = FailpointStatus("coordinator.log.sync");
  for (const int fd : {extent.file->get(), directories[0].get(), directories[1].get()})
    if (synced.ok() && fsync(fd) != 0) synced = absl::ErrnoToStatus(errno, "syncing");
  written.syncable = InFile(synced, log.path());
  return written.syncable;
}

void JobLogs::WriteEnd(JobId job, Written& written) {
  if (absl::Status synced = SyncFile(written); !synced.ok())
    spdlog::error("event=log_unsynced job={} reason=\"{}\"", Value(job), synced.ToString());
  GrowingLog::Extent extent = written.log->extent();
  extent.ended = true;
  written.log->Set(std::move(extent));
  const std::lock_guard lock(mutex_);
  growing_.erase(job);
}

}  // namespace bspnow::coordinator
