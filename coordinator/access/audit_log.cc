#include "coordinator/access/audit_log.h"

#include <sys/stat.h>

#include <cstdio>
#include <utility>

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>

namespace bspnow::coordinator {
namespace {

constexpr std::size_t kFileBytes = std::size_t{16} << 20;
constexpr std::size_t kOlderFiles = 7;
constexpr std::uint64_t kPeriodNs = 1'000'000'000;
constexpr std::uint64_t kRefusedInPeriod = 100;
constexpr std::size_t kTextMax = 500;

std::string Quoted(const std::string& text) {
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, kTextMax)), "\"");
}

}  // namespace

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& path, Clock clock) {
  try {
    spdlog::file_event_handlers handlers;
    handlers.after_open = [](const std::string&, std::FILE* file) {
      fchmod(fileno(file), S_IRUSR | S_IWUSR);
    };
    auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
        path, kFileBytes, kOlderFiles, false, handlers);
    auto logger = std::make_shared<spdlog::logger>("audit", std::move(sink));
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %v");
    logger->flush_on(spdlog::level::info);
    return std::make_unique<AuditLog>(std::move(logger), std::move(clock));
  } catch (const spdlog::spdlog_ex& error) {
    return absl::UnavailableError(absl::StrCat("the audit log: ", error.what()));
  }
}

AuditLog::AuditLog(std::shared_ptr<spdlog::logger> logger, Clock clock)
    : logger_(std::move(logger)), clock_(std::move(clock)) {}

void AuditLog::Write(const AuditEntry& entry) {
  if (absl::IsUnauthenticated(entry.outcome) || absl::IsPermissionDenied(entry.outcome))
    all_refused_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (IsOneTooMany(entry.outcome)) return;
  std::string line =
      absl::StrCat("user=", Quoted(entry.user), " from=", Quoted(entry.from), " call=", entry.call);
  if (!entry.what.empty()) absl::StrAppend(&line, " what=", Quoted(entry.what));
  const std::string outcome = absl::AsciiStrToLower(absl::StatusCodeToString(entry.outcome.code()));
  absl::StrAppend(&line, " outcome=", outcome);
  if (!entry.outcome.ok())
    absl::StrAppend(&line, " reason=", Quoted(std::string(entry.outcome.message())));
  logger_->info(line);
}

bool AuditLog::IsOneTooMany(const absl::Status& outcome) {
  const std::uint64_t period = clock_() / kPeriodNs;
  if (period != period_) {
    if (refused_ > kRefusedInPeriod) logger_->info("more_refused={}", refused_ - kRefusedInPeriod);
    period_ = period;
    refused_ = 0;
  }
  return !outcome.ok() && ++refused_ > kRefusedInPeriod;
}

}  // namespace bspnow::coordinator
