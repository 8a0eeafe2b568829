#include "files/job_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "files/file_name.h"
#include "files/job_files_format.h"

namespace bspnow {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kTextBytesMax = std::uint64_t{2} << 20;

/// Goes through an archive, and puts what it holds into a directory if one was named.
class ArchiveReader {
 public:
  explicit ArchiveReader(const std::string& path)
      : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

  /// Where the files are to be put; without it they are only checked.
  void UnpackInto(std::string directory) { into_ = std::move(directory); }

  absl::StatusOr<JobFilesFacts> Read();

 private:
  /// A file of the directory, or something else that has a name there.
  struct Unpacked {
    std::string path;
    EntryHeader header;
  };

  absl::Status Damaged(const char* what) const {
    return absl::DataLossError(absl::StrCat(path_, ": ", what));
  }
  absl::Status ReadAll(char* to, std::size_t bytes);
  absl::Status ReadEntry(EntryHeader& header);
  absl::Status ReadData(const EntryHeader& header, const std::string& name, EntryHash& hash);
  absl::StatusOr<UniqueFd> Make(const EntryHeader& header, const std::string& name);
  void KeepText(const EntryHeader& header, std::string text);

  const std::string path_;
  const UniqueFd file_;
  std::string into_;
  JobFilesFacts facts_;
  std::vector<Unpacked> directories_;  ///< Outer ones first.
};

/// Makes the directory and those above it, up to `into`. What else has such a name goes: through a
/// symbolic link there nothing is ever written.
absl::Status MakeDirectories(const fs::path& into, const fs::path& name) {
  fs::path path = into;
  for (const fs::path& part : name) {
    path /= part;
    struct stat status {};
    const bool there = lstat(path.c_str(), &status) == 0;
    if (there && S_ISDIR(status.st_mode)) continue;
    if ((there && unlink(path.c_str()) != 0) || mkdir(path.c_str(), 0700) != 0) {
      return FileFailure(absl::StrCat("making ", path.string()));
    }
  }
  return absl::OkStatus();
}

void SetTime(const std::string& path, const EntryHeader& header) {
  const std::int64_t ns = header.changed_ns;
  const std::int64_t rest_ns = (ns % kFileNsPerS + kFileNsPerS) % kFileNsPerS;
  const timespec changed{.tv_sec = (ns - rest_ns) / kFileNsPerS, .tv_nsec = rest_ns};
  const timespec times[2] = {changed, changed};
  // A time that cannot be set is no reason not to run.
  static_cast<void>(utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW));
}

absl::Status ArchiveReader::ReadAll(char* to, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = read(file_.get(), to, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileFailure(absl::StrCat("reading ", path_));
    if (n == 0) return Damaged("ends too early");
    to += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return absl::OkStatus();
}

absl::StatusOr<JobFilesFacts> ArchiveReader::Read() {
  if (!file_.valid()) return FileFailure(absl::StrCat("opening ", path_));
  std::uint64_t magic = 0;
  if (absl::Status s = ReadAll(reinterpret_cast<char*>(&magic), sizeof magic); !s.ok()) return s;
  if (magic != kArchiveMagic) return Damaged("is no archive of files");
  for (EntryHeader header{}; header.kind != EntryHeader::kEnd;) {
    if (absl::Status s = ReadEntry(header); !s.ok()) return s;
  }
  // Only now: what was put into it changed its time, and its owner might not write to it.
  for (auto made = directories_.rbegin(); made != directories_.rend(); ++made) {
    chmod(made->path.c_str(), made->header.mode & 0777);
    SetTime(made->path, made->header);
  }
  return std::move(facts_);
}

absl::Status ArchiveReader::ReadEntry(EntryHeader& header) {
  if (absl::Status s = ReadAll(reinterpret_cast<char*>(&header), sizeof header); !s.ok()) return s;
  if (header.name_bytes > kFileNameBytesMax) return Damaged("has an impossible length");
  std::string name(header.name_bytes, '\0');
  if (absl::Status s = ReadAll(name.data(), name.size()); !s.ok()) return s;
  if (header.kind < EntryHeader::kDirectory || header.kind > EntryHeader::kLink ||
      HasName(header) != CheckFileName(name).ok()) {
    return Damaged("has an entry that makes no sense");
  }
  EntryHash hash;
  hash.Add(BytesOf(header));
  hash.Add(name);
  if (absl::Status s = ReadData(header, name, hash); !s.ok()) return s;
  std::uint64_t sum = 0;
  if (absl::Status s = ReadAll(reinterpret_cast<char*>(&sum), sizeof sum); !s.ok()) return s;
  return sum == hash.Sum() ? absl::OkStatus() : Damaged("is damaged: wrong checksum");
}

absl::Status ArchiveReader::ReadData(const EntryHeader& header, const std::string& name,
                                     EntryHash& hash) {
  const bool to_file = header.kind == EntryHeader::kFile;
  if (!to_file && header.data_bytes > kTextBytesMax) return Damaged("has an impossible length");
  UniqueFd target;
  if (!into_.empty() && HasName(header)) {
    absl::StatusOr<UniqueFd> made = Make(header, name);
    if (!made.ok()) return made.status();
    target = std::move(*made);
  }
  std::string text;
  std::string piece(std::min<std::uint64_t>(header.data_bytes, kFilePieceBytes), '\0');
  for (std::uint64_t left = header.data_bytes; left > 0;) {
    const std::size_t n = std::min<std::uint64_t>(piece.size(), left);
    if (absl::Status s = ReadAll(piece.data(), n); !s.ok()) return s;
    const std::string_view bytes(piece.data(), n);
    hash.Add(bytes);
    if (target.valid()) {
      if (absl::Status s = WritePiece(target.get(), bytes); !s.ok()) return s;
    }
    if (!to_file) text += bytes;
    left -= n;
  }
  const std::string path = absl::StrCat(into_, "/", name);
  if (target.valid() && ftruncate(target.get(), static_cast<off_t>(header.data_bytes)) != 0) {
    return FileFailure(absl::StrCat("writing ", path));
  }
  if (!into_.empty() && header.kind == EntryHeader::kLink &&
      symlink(text.c_str(), path.c_str()) != 0) {
    return FileFailure(absl::StrCat("making ", path));
  }
  if (!into_.empty() && HasName(header)) SetTime(path, header);
  KeepText(header, std::move(text));
  return absl::OkStatus();
}

void ArchiveReader::KeepText(const EntryHeader& header, std::string text) {
  if (header.kind == EntryHeader::kWhere) facts_.directory = std::move(text);
  if (header.kind == EntryHeader::kLine) {
    facts_.lines.push_back(
        {.pid = Pid{header.pid}, .stream = header.mode, .text = std::move(text)});
  }
}

// A file of that name is replaced, not written to: it may be a link to the program in the cache.
absl::StatusOr<UniqueFd> ArchiveReader::Make(const EntryHeader& header, const std::string& name) {
  const std::string path = absl::StrCat(into_, "/", name);
  const bool is_directory = header.kind == EntryHeader::kDirectory;
  const fs::path directory = is_directory ? fs::path(name) : fs::path(name).parent_path();
  if (absl::Status made = MakeDirectories(into_, directory); !made.ok()) return made;
  if (is_directory) {
    directories_.push_back({.path = path, .header = header});
    return UniqueFd();
  }
  std::error_code error;
  fs::remove(path, error);
  if (header.kind == EntryHeader::kLink) return UniqueFd();
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid() || fchmod(file.get(), header.mode & 0777) != 0) {
    return FileFailure(absl::StrCat("making ", path));
  }
  return file;
}

}  // namespace

absl::StatusOr<JobFilesFacts> VerifyJobFiles(const std::string& archive) {
  return ArchiveReader(archive).Read();
}

absl::StatusOr<JobFilesFacts> UnpackJobFiles(const std::string& archive,
                                             const std::string& directory) {
  if (absl::StatusOr<JobFilesFacts> facts = VerifyJobFiles(archive); !facts.ok()) return facts;
  ArchiveReader reader(archive);
  reader.UnpackInto(directory);
  return reader.Read();
}

}  // namespace bspnow
