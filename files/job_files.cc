#include "files/job_files.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include "files/job_files_format.h"

namespace bspnow {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSmallBytesMax = std::uint64_t{64} << 10;
constexpr std::uint64_t kContentBytesMax = std::uint64_t{16} << 20;  // Of all small files.
constexpr std::size_t kLargeFilesMax = 512;                          // Each takes a descriptor.

// One entry whose data come from `copy`, which adds them to the file and to the hash.
absl::Status WriteEntry(int file, const EntryHeader& header, std::string_view name,
                        const std::function<absl::Status(EntryHash&)>& copy) {
  EntryHash hash;
  for (const std::string_view part : {BytesOf(header), name}) {
    hash.Add(part);
    if (absl::Status s = WritePiece(file, part); !s.ok()) return s;
  }
  if (absl::Status s = copy(hash); !s.ok()) return s;
  return WritePiece(file, BytesOf(hash.Sum()));
}

absl::Status WriteEntry(int file, EntryHeader header, std::string_view name,
                        std::string_view data) {
  header.data_bytes = data.size();
  return WriteEntry(file, header, name, [&](EntryHash& hash) {
    hash.Add(data);
    return WritePiece(file, data);
  });
}

absl::Status CopyFile(int from, std::uint64_t bytes, int to, const std::string& name,
                      EntryHash& hash) {
  std::string piece(std::min<std::uint64_t>(bytes, kFilePieceBytes), '\0');
  for (std::uint64_t at = 0; at < bytes;) {
    const std::size_t wanted = std::min<std::uint64_t>(piece.size(), bytes - at);
    const ssize_t n = pread(from, piece.data(), wanted, static_cast<off_t>(at));
    if (n < 0) return FileFailure(absl::StrCat("reading ", name));
    if (n == 0) {
      return absl::AbortedError(absl::StrCat("the program cut its file ", name, " from ", bytes,
                                             " to ", at, " bytes while it was being saved"));
    }
    const std::string_view read(piece.data(), static_cast<std::size_t>(n));
    hash.Add(read);
    if (absl::Status s = WritePiece(to, read); !s.ok()) return s;
    at += static_cast<std::uint64_t>(n);
  }
  return absl::OkStatus();
}

// kEnd: what is not saved, such as a socket.
std::uint32_t KindOf(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return EntryHeader::kFile;
  if (S_ISDIR(status.st_mode)) return EntryHeader::kDirectory;
  return S_ISLNK(status.st_mode) ? EntryHeader::kLink : EntryHeader::kEnd;
}

}  // namespace

absl::StatusOr<NotedFiles> NotedFiles::Note(const std::string& directory,
                                            const std::vector<GivenFile>& given) {
  NotedFiles files;
  files.directory_ = directory;
  std::error_code error;
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied,
                                      error);
  for (; !error && at != fs::end(at); at.increment(error)) {
    if (absl::Status s = files.NoteOne(at->path().string(), given); !s.ok()) return s;
  }
  return files;
}

absl::Status NotedFiles::NoteOne(const std::string& path, const std::vector<GivenFile>& given) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return absl::OkStatus();  // Somebody else removed it.
  Noted noted{.name = path.substr(directory_.size() + 1),
              .kind = KindOf(status),
              .mode = status.st_mode & 0777,
              .bytes = 0,
              .changed_ns = status.st_mtim.tv_sec * kFileNsPerS + status.st_mtim.tv_nsec,
              .content = {},
              .file = {}};
  if (noted.kind == EntryHeader::kEnd) return absl::OkStatus();
  if (noted.kind == EntryHeader::kLink) {
    std::error_code error;
    noted.content = fs::read_symlink(path, error).string();
    if (error) return absl::InternalError(absl::StrCat("reading ", path, ": ", error.message()));
    noted.bytes = noted.content.size();
  }
  if (noted.kind == EntryHeader::kFile) {
    noted.bytes = static_cast<std::uint64_t>(status.st_size);
    const bool as_given = std::any_of(given.begin(), given.end(), [&](const GivenFile& file) {
      return file.name == noted.name && file.bytes == noted.bytes &&
             file.changed_ns == noted.changed_ns;
    });
    if (as_given) return absl::OkStatus();
    if (absl::Status s = NoteContent(path, noted); !s.ok()) return s;
  }
  noted_.push_back(std::move(noted));
  const auto large = std::count_if(noted_.begin(), noted_.end(),
                                   [](const Noted& file) { return file.file.valid(); });
  if (static_cast<std::size_t>(large) <= kLargeFilesMax) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the job's directory has more than ", kLargeFilesMax, " large files"));
}

absl::Status NotedFiles::NoteContent(const std::string& path, Noted& noted) {
  if (noted.bytes == 0) return absl::OkStatus();
  UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.valid()) return FileFailure(absl::StrCat("opening ", noted.name));
  if (noted.bytes > kSmallBytesMax || content_bytes_ + noted.bytes > kContentBytesMax) {
    noted.file = std::move(file);
    return absl::OkStatus();
  }
  noted.content.resize(noted.bytes);
  const ssize_t n = pread(file.get(), noted.content.data(), noted.bytes, 0);
  if (n != static_cast<ssize_t>(noted.bytes)) return FileFailure(absl::StrCat("reading ", path));
  content_bytes_ += noted.bytes;
  return absl::OkStatus();
}

absl::Status NotedFiles::Write(int file, const std::vector<UnfinishedLine>& lines) const {
  if (absl::Status s = WritePiece(file, BytesOf(kArchiveMagic)); !s.ok()) return s;
  absl::Status written = WriteEntry(file, EntryHeader{.kind = EntryHeader::kWhere}, "", directory_);
  for (const Noted& noted : noted_) {
    if (!written.ok()) return written;
    const EntryHeader header{.kind = noted.kind,
                             .mode = noted.mode,
                             .name_bytes = static_cast<std::uint32_t>(noted.name.size()),
                             .data_bytes = noted.bytes,
                             .changed_ns = noted.changed_ns};
    written = noted.file.valid() ? WriteEntry(file, header, noted.name,
                                              [&](EntryHash& hash) {
                                                return CopyFile(noted.file.get(), noted.bytes, file,
                                                                noted.name, hash);
                                              })
                                 : WriteEntry(file, header, noted.name, noted.content);
  }
  for (const UnfinishedLine& line : lines) {
    if (!written.ok()) return written;
    written = WriteEntry(
        file, EntryHeader{.kind = EntryHeader::kLine, .mode = line.stream, .pid = Value(line.pid)},
        "", line.text);
  }
  if (!written.ok()) return written;
  return WriteEntry(file, EntryHeader{.kind = EntryHeader::kEnd}, "", "");
}

}  // namespace bspnow
