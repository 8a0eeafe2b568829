#include "worker/images/job_files.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "base/write_all.h"

namespace bspnow {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kArchiveMagic = 0x3153454c49465342;  // "BSFILES1"
constexpr std::uint64_t kSmallBytesMax = std::uint64_t{64} << 10;
constexpr std::uint64_t kContentBytesMax = std::uint64_t{16} << 20;  // Of all small files.
constexpr std::size_t kLargeFilesMax = 512;                          // Each takes a descriptor.
constexpr std::size_t kNameBytesMax = 4096;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr std::uint64_t kLineBytesMax = std::uint64_t{2} << 20;
constexpr std::int64_t kNsPerS = 1'000'000'000;

struct EntryHeader {
  enum Kind : std::uint32_t {
    kDirectory = 1,
    kFile = 2,
    kWhere = 3,  ///< Data: the path that the job's directory had.
    kLine = 4,   ///< Data: an unfinished line of `pid` on stream `mode`.
    kEnd = 5,
  };
  std::uint32_t kind = 0;
  std::uint32_t mode = 0;
  std::uint32_t pid = 0;
  std::uint32_t name_bytes = 0;
  std::uint64_t data_bytes = 0;
};
static_assert(sizeof(EntryHeader) == 24);

absl::Status Failed(std::string_view what) {
  return absl::InternalError(absl::StrCat(std::string(what), ": ", strerror(errno)));
}

struct HashFree {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

class Hash {
 public:
  Hash() : state_(XXH3_createState()) { XXH3_64bits_reset(state_.get()); }
  void Add(std::string_view bytes) { XXH3_64bits_update(state_.get(), bytes.data(), bytes.size()); }
  std::uint64_t Sum() const { return XXH3_64bits_digest(state_.get()); }

 private:
  std::unique_ptr<XXH3_state_t, HashFree> state_;
};

template <typename T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// ---- Writing ------------------------------------------------------------------------------------

absl::Status WriteBytes(int file, std::string_view bytes) {
  return WriteAll(file, bytes, "the files of the job");
}

// One entry whose data come from `copy`, which adds them to the file and to the hash.
absl::Status WriteEntry(int file, const EntryHeader& header, std::string_view name,
                        const std::function<absl::Status(Hash&)>& copy) {
  Hash hash;
  for (const std::string_view part : {BytesOf(header), name}) {
    hash.Add(part);
    if (absl::Status s = WriteBytes(file, part); !s.ok()) return s;
  }
  if (absl::Status s = copy(hash); !s.ok()) return s;
  return WriteBytes(file, BytesOf(hash.Sum()));
}

absl::Status WriteEntry(int file, EntryHeader header, std::string_view name,
                        std::string_view data) {
  header.data_bytes = data.size();
  return WriteEntry(file, header, name, [&](Hash& hash) {
    hash.Add(data);
    return WriteBytes(file, data);
  });
}

absl::Status CopyFile(int from, std::uint64_t bytes, int to, const std::string& name, Hash& hash) {
  std::string piece(std::min<std::uint64_t>(bytes, kPieceBytes), '\0');
  for (std::uint64_t at = 0; at < bytes;) {
    const std::size_t wanted = std::min<std::uint64_t>(piece.size(), bytes - at);
    const ssize_t n = pread(from, piece.data(), wanted, static_cast<off_t>(at));
    if (n < 0) return Failed(absl::StrCat("reading ", name));
    if (n == 0) {
      return absl::AbortedError(absl::StrCat("the program cut its file ", name, " from ", bytes,
                                             " to ", at, " bytes while it was being saved"));
    }
    const std::string_view read(piece.data(), static_cast<std::size_t>(n));
    hash.Add(read);
    if (absl::Status s = WriteBytes(to, read); !s.ok()) return s;
    at += static_cast<std::uint64_t>(n);
  }
  return absl::OkStatus();
}

}  // namespace

bool IsNameBelow(std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax) return false;
  if (name.find('\0') != std::string_view::npos) return false;
  for (const absl::string_view part :
       absl::StrSplit(absl::string_view(name.data(), name.size()), '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

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
  const bool is_directory = S_ISDIR(status.st_mode);
  if (!is_directory && !S_ISREG(status.st_mode)) return absl::OkStatus();
  Noted noted{.name = path.substr(directory_.size() + 1),
              .mode = status.st_mode & 0777,
              .bytes = is_directory ? 0 : static_cast<std::uint64_t>(status.st_size),
              .is_directory = is_directory,
              .content = {},
              .file = {}};
  const std::int64_t changed_ns = status.st_mtim.tv_sec * kNsPerS + status.st_mtim.tv_nsec;
  const bool as_given = std::any_of(given.begin(), given.end(), [&](const GivenFile& file) {
    return file.name == noted.name && file.bytes == noted.bytes && file.changed_ns == changed_ns;
  });
  if (!is_directory && as_given) return absl::OkStatus();
  if (noted.bytes > 0) {
    UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!file.valid()) return Failed(absl::StrCat("opening ", noted.name));
    if (noted.bytes <= kSmallBytesMax && content_bytes_ + noted.bytes <= kContentBytesMax) {
      noted.content.resize(noted.bytes);
      const ssize_t n = pread(file.get(), noted.content.data(), noted.bytes, 0);
      if (n != static_cast<ssize_t>(noted.bytes)) return Failed(absl::StrCat("reading ", path));
      content_bytes_ += noted.bytes;
    } else {
      noted.file = std::move(file);
    }
  }
  noted_.push_back(std::move(noted));
  const auto large = std::count_if(noted_.begin(), noted_.end(),
                                   [](const Noted& file) { return file.file.valid(); });
  if (static_cast<std::size_t>(large) <= kLargeFilesMax) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the job's directory has more than ", kLargeFilesMax, " large files"));
}

absl::Status NotedFiles::Write(int file, const std::vector<UnfinishedLine>& lines) const {
  if (absl::Status s = WriteBytes(file, BytesOf(kArchiveMagic)); !s.ok()) return s;
  absl::Status written = WriteEntry(file, EntryHeader{.kind = EntryHeader::kWhere}, "", directory_);
  for (const Noted& noted : noted_) {
    if (!written.ok()) return written;
    const EntryHeader header{
        .kind = noted.is_directory ? EntryHeader::kDirectory : EntryHeader::kFile,
        .mode = noted.mode,
        .name_bytes = static_cast<std::uint32_t>(noted.name.size()),
        .data_bytes = noted.bytes};
    written = noted.file.valid() ? WriteEntry(file, header, noted.name,
                                              [&](Hash& hash) {
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

// ---- Reading ------------------------------------------------------------------------------------

namespace {

/// Goes through an archive; what it finds is told to the functions that are set.
class ArchiveReader {
 public:
  explicit ArchiveReader(const std::string& path)
      : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

  /// Where the files are to be put; without it they are only checked.
  void UnpackInto(std::string directory) { into_ = std::move(directory); }

  absl::StatusOr<JobFilesFacts> Read();

 private:
  absl::Status Damaged(const char* what) const {
    return absl::DataLossError(absl::StrCat(path_, ": ", what));
  }
  absl::Status ReadAll(char* to, std::size_t bytes);
  absl::Status ReadEntry(EntryHeader& header);
  absl::Status ReadData(const EntryHeader& header, const std::string& name, Hash& hash);
  absl::StatusOr<UniqueFd> Make(const EntryHeader& header, const std::string& name) const;

  const std::string path_;
  const UniqueFd file_;
  std::string into_;
  JobFilesFacts facts_;
  std::vector<std::pair<std::string, std::uint32_t>> directory_modes_;
};

absl::Status ArchiveReader::ReadAll(char* to, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = read(file_.get(), to, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed(absl::StrCat("reading ", path_));
    if (n == 0) return Damaged("ends too early");
    to += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return absl::OkStatus();
}

absl::StatusOr<JobFilesFacts> ArchiveReader::Read() {
  if (!file_.valid()) return Failed(absl::StrCat("opening ", path_));
  std::uint64_t magic = 0;
  if (absl::Status s = ReadAll(reinterpret_cast<char*>(&magic), sizeof magic); !s.ok()) return s;
  if (magic != kArchiveMagic) return Damaged("is no archive of files");
  for (EntryHeader header{}; header.kind != EntryHeader::kEnd;) {
    if (absl::Status s = ReadEntry(header); !s.ok()) return s;
  }
  // Only now: a directory that its owner may not write to would refuse what lies in it.
  for (const auto& [name, mode] : directory_modes_) {
    chmod(absl::StrCat(into_, "/", name).c_str(), mode);
  }
  return std::move(facts_);
}

absl::Status ArchiveReader::ReadEntry(EntryHeader& header) {
  if (absl::Status s = ReadAll(reinterpret_cast<char*>(&header), sizeof header); !s.ok()) return s;
  if (header.name_bytes > kNameBytesMax) return Damaged("has an impossible length");
  std::string name(header.name_bytes, '\0');
  if (absl::Status s = ReadAll(name.data(), name.size()); !s.ok()) return s;
  const bool has_name = header.kind == EntryHeader::kFile || header.kind == EntryHeader::kDirectory;
  if (header.kind < EntryHeader::kDirectory || header.kind > EntryHeader::kEnd ||
      has_name != IsNameBelow(name)) {
    return Damaged("has an entry that makes no sense");
  }
  Hash hash;
  hash.Add(BytesOf(header));
  hash.Add(name);
  if (absl::Status s = ReadData(header, name, hash); !s.ok()) return s;
  std::uint64_t sum = 0;
  if (absl::Status s = ReadAll(reinterpret_cast<char*>(&sum), sizeof sum); !s.ok()) return s;
  return sum == hash.Sum() ? absl::OkStatus() : Damaged("is damaged: wrong checksum");
}

absl::Status ArchiveReader::ReadData(const EntryHeader& header, const std::string& name,
                                     Hash& hash) {
  const bool to_file = header.kind == EntryHeader::kFile;
  if (!to_file && header.data_bytes > kLineBytesMax) return Damaged("has an impossible length");
  UniqueFd target;
  if (!into_.empty() && (to_file || header.kind == EntryHeader::kDirectory)) {
    absl::StatusOr<UniqueFd> made = Make(header, name);
    if (!made.ok()) return made.status();
    target = std::move(*made);
    if (!to_file) directory_modes_.emplace_back(name, header.mode & 0777);
  }
  std::string text;
  std::string piece(std::min<std::uint64_t>(header.data_bytes, kPieceBytes), '\0');
  for (std::uint64_t left = header.data_bytes; left > 0;) {
    const std::size_t n = std::min<std::uint64_t>(piece.size(), left);
    if (absl::Status s = ReadAll(piece.data(), n); !s.ok()) return s;
    const std::string_view bytes(piece.data(), n);
    hash.Add(bytes);
    if (target.valid()) {
      if (absl::Status s = WriteBytes(target.get(), bytes); !s.ok()) return s;
    }
    if (!to_file) text += bytes;
    left -= n;
  }
  if (header.kind == EntryHeader::kWhere) facts_.directory = std::move(text);
  if (header.kind == EntryHeader::kLine) {
    facts_.lines.push_back(
        {.pid = Pid{header.pid}, .stream = header.mode, .text = std::move(text)});
  }
  return absl::OkStatus();
}

// A file of that name is replaced, not written to: it may be a link to the program in the cache.
absl::StatusOr<UniqueFd> ArchiveReader::Make(const EntryHeader& header,
                                             const std::string& name) const {
  const std::string path = absl::StrCat(into_, "/", name);
  std::error_code error;
  if (header.kind == EntryHeader::kDirectory) {
    fs::create_directories(path, error);
    if (error) return absl::InternalError(absl::StrCat("making ", path, ": ", error.message()));
    return UniqueFd();
  }
  fs::create_directories(fs::path(path).parent_path(), error);
  fs::remove(path, error);
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid() || fchmod(file.get(), header.mode & 0777) != 0) {
    return Failed(absl::StrCat("making ", path));
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
