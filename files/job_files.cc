#include "files/job_files.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/file_state.h"
#include "base/write_all.h"
#include "files/job_files_format.h"

namespace bspnow::files {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSmallBytesMax = std::uint64_t{64} << 10;
constexpr std::uint64_t kContentBytesMax = std::uint64_t{16} << 20;  // Of all small files.
constexpr std::size_t kLargeFilesMax = 512;                          // Each takes a descriptor.
constexpr std::int64_t kTickNs = 10'000'000;                         // The longest (CONFIG_HZ=100).
constexpr std::int64_t kTimeUnitNsMax = 2 * kFileNsPerS;             // FAT's.
constexpr std::chrono::nanoseconds kLookAgain{kTickNs / 10};

absl::Status Failed(const std::string& what) {
  return absl::InternalError(absl::StrCat(what, ": ", strerror(errno)));
}

/// What file systems take for the time.
std::int64_t FileClockNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);  // tidy: theirs, which is behind all others
  return FileNs(now);
}

/// Two changes of a file within so long may have one time, this one: it is that of the last tick,
/// as a rule, or of the last second, or even one.
std::int64_t TimeUnitNs(std::int64_t changed_ns) {
  if (changed_ns % kTimeUnitNsMax == 0) return kTimeUnitNsMax;
  return changed_ns % kFileNsPerS == 0 ? kFileNsPerS : kTickNs;
}

/// Of a file.
struct DataRange {
  std::uint64_t begin;
  std::uint64_t end;
};

/// Where the first `bytes` of a file have data; what lies between is holes. Who cannot say has data
/// everywhere.
std::vector<DataRange> DataRanges(int file, std::uint64_t bytes) {
  std::vector<DataRange> ranges;
  std::uint64_t end = 0;
  while (end < bytes) {
    const off_t data = lseek(file, static_cast<off_t>(end), SEEK_DATA);
    if (data < 0 && errno != ENXIO) return {{.begin = 0, .end = bytes}};
    const auto begin = static_cast<std::uint64_t>(data);
    if (data < 0 || begin >= bytes) break;
    const off_t hole = lseek(file, data, SEEK_HOLE);
    end = hole < 0 ? bytes : std::min(static_cast<std::uint64_t>(hole), bytes);
    ranges.push_back({.begin = begin, .end = end});
  }
  return ranges;
}

void SetDataRanges(archive_entry* entry, const std::vector<DataRange>& ranges) {
  for (const DataRange& range : ranges) {
    archive_entry_sparse_add_entry(entry, static_cast<la_int64_t>(range.begin),
                                   static_cast<la_int64_t>(range.end - range.begin));
  }
  if (ranges.empty()) archive_entry_sparse_add_entry(entry, archive_entry_size(entry), 0);
}

}  // namespace

/// Writes an archive to a file, from where that stands.
class ArchiveWriter {
 public:
  explicit ArchiveWriter(int file) : file_(file), archive_(archive_write_new()) {
    archive_write_set_format_pax(archive_.get());
    // Names are bytes, in no charset.
    archive_write_set_format_option(archive_.get(), "pax", "hdrcharset", "BINARY");
    archive_write_set_bytes_per_block(archive_.get(), 0);  // As they come, without a copy.
    archive_write_open(archive_.get(), this, nullptr, &ArchiveWriter::OnWrite, nullptr);
  }

  absl::Status AddText(const std::string& name, std::string_view text) {
    const EntryPtr entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_mode(entry.get(), S_IFREG | S_IRUSR | S_IWUSR);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(text.size()));
    if (absl::Status s = Begin(entry.get()); !s.ok()) return s;
    return AddData(text);
  }

  absl::Status Begin(archive_entry* entry) {
    return Check(archive_write_header(archive_.get(), entry));
  }

  absl::Status AddData(std::string_view data) {
    const la_ssize_t written = archive_write_data(archive_.get(), data.data(), data.size());
    return Check(written == static_cast<la_ssize_t>(data.size()) ? ARCHIVE_OK : ARCHIVE_FATAL);
  }

  absl::Status Finish() {
    if (absl::Status s = Check(archive_write_close(archive_.get())); !s.ok()) return s;
    const std::uint64_t sum = hash_.Sum();
    return Write({reinterpret_cast<const char*>(&sum), sizeof sum});
  }

 private:
  static la_ssize_t OnWrite(archive*, void* self, const void* bytes, std::size_t size) {
    auto* const writer = static_cast<ArchiveWriter*>(self);
    writer->hash_.Add(bytes, size);
    writer->written_.Update(writer->Write({static_cast<const char*>(bytes), size}));
    return writer->written_.ok() ? static_cast<la_ssize_t>(size) : -1;
  }

  absl::Status Write(std::string_view bytes) const {
    return WriteAll(file_, bytes, "the files of the job");
  }

  absl::Status Check(int outcome) const {
    if (outcome == ARCHIVE_OK) return absl::OkStatus();
    if (!written_.ok()) return written_;
    const char* const why = archive_error_string(archive_.get());
    return absl::InternalError(
        absl::StrCat("writing the files of the job: ", why == nullptr ? "failed" : why));
  }

  const int file_;
  absl::Status written_;
  ArchiveHash hash_;
  ArchivePtr archive_;
};

namespace {

absl::Status AddRange(ArchiveWriter& archive, int file, const DataRange& range,
                      const std::string& name) {
  std::string piece(std::min<std::uint64_t>(range.end - range.begin, kFilePieceBytes), '\0');
  for (std::uint64_t at = range.begin; at < range.end;) {
    const std::size_t wanted = std::min<std::uint64_t>(piece.size(), range.end - at);
    const ssize_t n = pread(file, piece.data(), wanted, static_cast<off_t>(at));
    if (n < 0) return Failed(absl::StrCat("reading ", name));
    if (n == 0) {
      return absl::AbortedError(absl::StrCat("the program cut its file ", name, " to ", at,
                                             " bytes while it was being saved"));
    }
    const std::string_view read(piece.data(), static_cast<std::size_t>(n));
    if (absl::Status s = archive.AddData(read); !s.ok()) return s;
    at += static_cast<std::uint64_t>(n);
  }
  return absl::OkStatus();
}

/// The archive is given the bytes of holes, too, and leaves them out: it need not be those of the
/// file, whose holes may have a TiB.
absl::Status AddHole(ArchiveWriter& archive, std::uint64_t bytes) {
  const std::string zeros(std::min<std::uint64_t>(bytes, kFilePieceBytes), '\0');
  while (bytes > 0) {
    const std::string_view piece(zeros.data(), std::min<std::uint64_t>(bytes, zeros.size()));
    if (absl::Status s = archive.AddData(piece); !s.ok()) return s;
    bytes -= piece.size();
  }
  return absl::OkStatus();
}

bool IsUnchanged(const GivenFile& given, const struct stat& status) {
  return given.bytes == static_cast<std::uint64_t>(status.st_size) &&
         given.changed_ns == FileNs(status.st_mtim) &&
         given.mode == (status.st_mode & ACCESSPERMS) &&
         status.st_nlink == 1;  // It came with one name, and another one is to be linked to it.
}

bool IsSaved(mode_t mode) { return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode); }

}  // namespace

absl::StatusOr<NotedFiles> NotedFiles::Note(const std::string& directory,
                                            const std::vector<GivenFile>& given) {
  NotedFiles files;
  files.directory_ = directory;
  GivenByName by_name;
  for (const GivenFile& file : given) by_name[file.name] = &file;
  std::error_code error;
  std::string last = directory;
  fs::recursive_directory_iterator at(directory, error);
  for (; !error && at != fs::end(at); at.increment(error)) {
    const std::string path = at->path().string();
    last = path;
    // No call takes such a path. Each level takes a descriptor and the names of all above it.
    if (path.size() >= PATH_MAX)
      return absl::ResourceExhaustedError(
          absl::StrCat("the job's directory ", directory, " is too deep to be saved"));
    if (absl::Status s = files.NoteOne(path, by_name); !s.ok()) return s;
  }
  // What was not listed would be gone after a loss.
  if (error)
    return absl::InternalError(
        absl::StrCat("listing the job's directory, at ", last, ": ", error.message()));
  files.AwaitNewTimes();
  return files;
}

// A copy of a large file would hold up the processes for longer; to refuse it, for ever.
void NotedFiles::AwaitNewTimes() const {
  for (;;) {
    const std::int64_t rest_ns = new_times_from_ns_ - FileClockNs();
    if (rest_ns <= 0 || rest_ns > 2 * kTimeUnitNsMax) return;  // The clock was set back.
    const auto wait = std::max(std::chrono::nanoseconds(rest_ns), kLookAgain);
    std::this_thread::sleep_for(wait);  // tidy: no event tells of a clock
  }
}

absl::Status NotedFiles::NoteOne(const std::string& path, const GivenByName& given) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return absl::OkStatus();  // Somebody else removed it.
  Noted noted{.name = path.substr(directory_.size() + 1),
              .mode = status.st_mode & (S_IFMT | ACCESSPERMS),
              .bytes = 0,
              .changed_ns = FileNs(status.st_mtim),
              .content = {},
              .twin = {},
              .file = {}};
  if (!IsSaved(status.st_mode)) return absl::OkStatus();
  if (S_ISLNK(status.st_mode)) {
    std::error_code error;
    noted.content = fs::read_symlink(path, error).string();
    if (error) return absl::InternalError(absl::StrCat("reading ", path, ": ", error.message()));
  }
  if (S_ISREG(status.st_mode)) {
    const auto found = given.find(noted.name);
    if (found != given.end() && IsUnchanged(*found->second, status)) return absl::OkStatus();
    if (status.st_nlink > 1) noted.twin = FirstNameOf(status, noted.name);
    if (noted.twin.empty()) noted.bytes = static_cast<std::uint64_t>(status.st_size);
    if (absl::Status s = NoteContent(path, noted); !s.ok()) return s;
  }
  noted_.push_back(std::move(noted));
  return absl::OkStatus();
}

/// Empty: it is `name`.
std::string NotedFiles::FirstNameOf(const struct stat& status, const std::string& name) {
  const auto [first, is_new] = linked_.try_emplace({status.st_dev, status.st_ino}, name);
  return is_new ? "" : first->second;
}

absl::Status NotedFiles::NoteContent(const std::string& path, Noted& noted) {
  if (noted.bytes == 0) return absl::OkStatus();
  UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return Failed(absl::StrCat("opening ", noted.name));
  if (noted.bytes > kSmallBytesMax || content_bytes_ + noted.bytes > kContentBytesMax) {
    noted.file = std::move(file);
    const std::int64_t unit_ns = TimeUnitNs(noted.changed_ns);
    // Else a change shows: it is another time. (A file server's clock is taken to be ours.)
    if (noted.changed_ns <= FileClockNs() + kTimeUnitNsMax)
      new_times_from_ns_ = std::max(new_times_from_ns_, noted.changed_ns + unit_ns);
    if (++large_ <= kLargeFilesMax) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        absl::StrCat("the job's directory has more than ", kLargeFilesMax, " large files"));
  }
  noted.content.resize(noted.bytes);
  const ssize_t n = pread(file.get(), noted.content.data(), noted.bytes, 0);
  if (n < 0) return Failed(absl::StrCat("reading ", path));
  if (n != static_cast<ssize_t>(noted.bytes))  // No process of the job runs.
    return absl::AbortedError(absl::StrCat("somebody has cut ", path, " while it was read"));
  content_bytes_ += noted.bytes;
  return absl::OkStatus();
}

absl::Status NotedFiles::Write(int file, const std::vector<UnfinishedLine>& lines) const {
  ArchiveWriter archive(file);
  absl::Status written = archive.AddText(kWhereName, directory_);
  for (const Noted& noted : noted_) {
    if (!written.ok()) return written;
    written = WriteOne(noted, archive);
  }
  for (const UnfinishedLine& line : lines) {
    if (!written.ok()) return written;
    written = archive.AddText(absl::StrCat(kLinesPrefix.data(), Value(line.pid), ".", line.stream),
                              line.text);
  }
  return written.ok() ? archive.Finish() : written;
}

absl::Status NotedFiles::WriteOne(const Noted& noted, ArchiveWriter& archive) {
  const EntryPtr entry(archive_entry_new());
  const std::int64_t rest_ns = (noted.changed_ns % kFileNsPerS + kFileNsPerS) % kFileNsPerS;
  archive_entry_set_pathname(entry.get(), absl::StrCat(kFilesPrefix.data(), noted.name).c_str());
  archive_entry_set_mode(entry.get(), noted.mode);
  archive_entry_set_mtime(entry.get(), (noted.changed_ns - rest_ns) / kFileNsPerS, rest_ns);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(noted.bytes));
  if (S_ISLNK(noted.mode)) archive_entry_set_symlink(entry.get(), noted.content.c_str());
  if (!noted.twin.empty()) {
    archive_entry_set_hardlink(entry.get(), absl::StrCat(kFilesPrefix.data(), noted.twin).c_str());
    return archive.Begin(entry.get());
  }
  if (noted.file.valid()) return WriteLarge(noted, entry.get(), archive);
  if (absl::Status s = archive.Begin(entry.get()); !s.ok()) return s;
  return S_ISREG(noted.mode) ? archive.AddData(noted.content) : absl::OkStatus();
}

absl::Status NotedFiles::WriteLarge(const Noted& noted, archive_entry* entry,
                                    ArchiveWriter& archive) {
  const std::vector<DataRange> ranges = DataRanges(noted.file.get(), noted.bytes);
  SetDataRanges(entry, ranges);
  absl::Status written = archive.Begin(entry);
  std::uint64_t at = 0;
  for (const DataRange& range : ranges) {
    if (written.ok()) written = AddHole(archive, range.begin - at);
    if (written.ok()) written = AddRange(archive, noted.file.get(), range, noted.name);
    at = range.end;
  }
  if (written.ok()) written = AddHole(archive, noted.bytes - at);
  return written.ok() ? CheckKept(noted) : written;
}

// What was written into it since the barrier may be in the archive, and the memory of the processes
// is without it. One that has grown is taken for one that was appended to.
absl::Status NotedFiles::CheckKept(const Noted& noted) {
  struct stat status {};
  if (fstat(noted.file.get(), &status) != 0) return Failed(absl::StrCat("reading ", noted.name));
  const bool grown = static_cast<std::uint64_t>(status.st_size) > noted.bytes;
  if (grown || FileNs(status.st_mtim) == noted.changed_ns) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat("the program wrote into its file ", noted.name,
                   " while it was being saved; let it write a new one and rename that"));
}

}  // namespace bspnow::files
