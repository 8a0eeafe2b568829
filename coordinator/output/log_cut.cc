#include "coordinator/output/log_cut.h"

#include <errno.h>
#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include <absl/strings/str_cat.h>
#include "base/durable_file.h"

namespace bspnow::coordinator {
namespace {

constexpr std::size_t kCutBlockBytes = std::size_t{1} << 20;

}  // namespace

std::uint64_t EndOf(const StreamEnds& ends, const LogStream& stream) {
  const auto found = ends.find(stream);
  return found == ends.end() ? 0 : found->second;
}

std::array<std::pair<LogOrigin, std::uint64_t>, 2> StreamsOf(const LogPosition& at) {
  return {{{LogOrigin::kStdout, at.stdout_bytes}, {LogOrigin::kStderr, at.stderr_bytes}}};
}

LogCut PlanCut(const StreamEnds& ends, const std::vector<LogPosition>& positions) {
  LogCut cut;
  for (const LogPosition& at : positions) {
    for (const auto& [origin, end] : StreamsOf(at)) {
      const std::uint64_t has = EndOf(ends, {at.pid, origin});
      cut.missing_bytes += end - std::min(end, has);
      cut.kept[{at.pid, origin}] = at.left ? has : end;
    }
  }
  if (cut.missing_bytes > 0) return cut;
  for (const auto& [stream, end] : ends)
    if (stream.origin != LogOrigin::kLauncher) cut.dropped_bytes += end - EndOf(cut.kept, stream);
  return cut;
}

absl::StatusOr<GrowingLog::Extent> WriteShorter(const GrowingLog& log, const StreamEnds& keep) {
  const std::filesystem::path path = log.path();
  auto file = DurableFile::Create(path.parent_path());
  if (!file.ok()) return file.status();
  std::string bytes = EncodeLogFileHeader();
  std::uint64_t file_bytes = bytes.size();
  const auto read = ForEachLogRecord(log.extent().file->get(), [&](const LogRecord& record) {
    LogRecord kept = record;
    if (record.origin != LogOrigin::kLauncher) {
      const std::uint64_t end = EndOf(keep, StreamOf(record));
      if (record.offset >= end) return absl::OkStatus();
      kept.text.resize(std::min<std::uint64_t>(kept.text.size(), end - record.offset));
    }
    const std::string encoded = EncodeLogRecord(kept);
    bytes += encoded;
    file_bytes += encoded.size();
    if (bytes.size() < kCutBlockBytes) return absl::OkStatus();
    return file->Append(std::exchange(bytes, ""));
  });
  if (!read.ok()) return read.status();
  // Reading ends at a record that has rotted as it does at the end of the file.
  if (*read < log.extent().bytes)
    return absl::DataLossError(absl::StrCat(log.path(), " is damaged at byte ", *read));
  if (absl::Status put = file->Append(bytes); !put.ok()) return put;
  if (absl::Status kept = file->Commit(path.filename(), Durability::kSynced); !kept.ok())
    return kept;
  auto shorter = OpenLog(path, O_RDWR);
  if (!shorter) return absl::ErrnoToStatus(errno, absl::StrCat("opening ", log.path()));
  return GrowingLog::Extent{.file = std::move(shorter), .bytes = file_bytes, .ended = false};
}

}  // namespace bspnow::coordinator
