#include "coordinator/access/audit_log.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>
#include "base/clock.h"

namespace bspnow::coordinator {
namespace {

constexpr std::size_t kFileBytes = std::size_t{16} << 20;
constexpr std::size_t kOlderFiles = 7;
constexpr std::uint64_t kPeriodNs = 1'000'000'000;
constexpr std::size_t kRepeatedMax = 4096;  // Acts in a second; of more, repetitions have lines.
constexpr std::size_t kQuotedMax = 500;
constexpr std::size_t kEscapedBytesMax = 4;  // Of one byte.

/// Cut, so that what is escaped is cut too, and no escape in two.
std::string Quoted(const std::string& whole) {
  std::string text = whole.substr(0, kQuotedMax);
  std::string escaped = absl::CHexEscape(text);
  while (escaped.size() > kQuotedMax) {
    const std::size_t over = escaped.size() - kQuotedMax;
    text.erase(text.size() - (over + kEscapedBytesMax - 1) / kEscapedBytesMax);
    escaped = absl::CHexEscape(text);
  }
  return absl::StrCat("\"", escaped, "\"");
}

/// Whichever port he calls from.
std::string HostIn(const AuditEntry& entry) { return entry.from.substr(0, entry.from.rfind(':')); }

std::string LineOf(const std::string& from, const AuditEntry& entry) {
  std::string line =
      absl::StrCat("user=", Quoted(entry.user), " from=", Quoted(from), " call=", entry.call);
  if (!entry.what.empty()) absl::StrAppend(&line, " what=", Quoted(entry.what));
  const std::string outcome = absl::AsciiStrToLower(absl::StatusCodeToString(entry.outcome.code()));
  absl::StrAppend(&line, " outcome=", outcome);
  if (!entry.outcome.ok())
    absl::StrAppend(&line, " reason=", Quoted(std::string(entry.outcome.message())));
  return line;
}

/// Throws what spdlog throws.
std::shared_ptr<spdlog::logger> OpenFile(const std::string& path) {
  spdlog::file_event_handlers handlers;
  handlers.after_open = [](const std::string&, std::FILE* file) {
    fchmod(fileno(file), S_IRUSR | S_IWUSR);
  };
  auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(path, kFileBytes, kOlderFiles,
                                                                     false, handlers);
  auto logger = std::make_shared<spdlog::logger>("audit", std::move(sink));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %v");
  logger->flush_on(spdlog::level::info);
  return logger;
}

}  // namespace

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const Paths& paths, Clock clock) {
  try {
    return std::make_unique<AuditLog>(
        Files{.acts = OpenFile(paths.acts), .refused = OpenFile(paths.refused)}, std::move(clock));
  } catch (const spdlog::spdlog_ex& error) {
    return absl::UnavailableError(absl::StrCat("the audit log: ", error.what()));
  }
}

AuditLog::AuditLog(Files files, Clock clock)
    : clock_(std::move(clock)),
      acts_{.log = std::move(files.acts)},
      refused_{.log = std::move(files.refused)},
      writer_([this] { WriteLines(); }) {}

AuditLog::~AuditLog() {
  {
    const std::lock_guard lock(mutex_);
    WriteCounts();
    ending_ = true;
  }
  changed_.notify_all();
}

void AuditLog::Add(File& file, std::string text) {
  if (file.waiting.size() == kWaitingMax) {
    ++file.lost;
    return;
  }
  file.waiting.push_back({.unix_ms = UnixMs(), .text = std::move(text)});
  changed_.notify_all();
}

void AuditLog::Flush() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !HasLines() && !writing_; });
}

bool AuditLog::HasLines() const { return !acts_.waiting.empty() || !refused_.waiting.empty(); }

void AuditLog::WriteLines() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || HasLines(); });
    if (!HasLines()) return;
    for (File* const file : {&acts_, &refused_}) {
      const std::deque<Line> lines = std::exchange(file->waiting, {});
      const std::uint64_t lost = std::exchange(file->lost, 0);
      writing_ = true;
      lock.unlock();
      for (const Line& line : lines)
        file->log->log(spdlog::log_clock::time_point(std::chrono::milliseconds(line.unix_ms)), {},
                       spdlog::level::info, line.text);
      if (lost > 0) file->log->info("lost={}", lost);
      lock.lock();
      writing_ = false;
    }
    changed_.notify_all();
  }
}

void AuditLog::Write(const AuditEntry& entry) {
  if (absl::IsUnauthenticated(entry.outcome) || absl::IsPermissionDenied(entry.outcome))
    all_refused_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  const std::uint64_t period = clock_() / kPeriodNs;
  if (period != std::exchange(period_, period)) WriteCounts();
  entry.outcome.ok() ? WriteAct(entry) : WriteRefused(entry);
}

// Two that differ have a line each: nobody hides one thing that he does among many others.
void AuditLog::WriteAct(const AuditEntry& entry) {
  const std::string act = LineOf(HostIn(entry), entry);
  const auto repeated = repeated_.find(act);
  if (repeated != repeated_.end()) {
    ++repeated->second;
    return;
  }
  if (repeated_.size() < kRepeatedMax) repeated_.emplace(act, 0);
  Add(acts_, LineOf(entry.from, entry));
}

void AuditLog::WriteRefused(const AuditEntry& entry) {
  const std::string caller =
      absl::StrCat(entry.user, "\n", entry.user.empty() ? HostIn(entry) : "");
  if (lines_refused_ == kRefusedInAll || refused_of_[caller] == kRefusedOfCaller) {
    ++more_refused_;
    return;
  }
  ++lines_refused_;
  ++refused_of_[caller];
  Add(refused_, LineOf(entry.from, entry));
}

void AuditLog::WriteCounts() {
  for (const auto& [act, times] : repeated_)
    if (times > 0) Add(acts_, absl::StrCat(act, " repeated=", times));
  if (more_refused_ > 0) Add(refused_, absl::StrCat("more_refused=", more_refused_));
  repeated_.clear();
  refused_of_.clear();
  lines_refused_ = more_refused_ = 0;
}

}  // namespace bspnow::coordinator
