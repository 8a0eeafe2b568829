#include "files/job_files.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/remove_tree.h"
#include "base/write_all.h"
#include "files/file_name.h"
#include "files/job_files_format.h"

namespace bspnow::files {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kTextBytesMax = std::uint64_t{2} << 20;

absl::Status Failed(const std::string& what) {
  return absl::InternalError(absl::StrCat(what, ": ", strerror(errno)));
}

/// Goes through an archive, and puts what it holds into a directory if one was named.
///
/// libarchive decodes it, and no more: its archive_write_disk changes the umask of the whole
/// process for each file, while other threads of the worker make files and processes.
class ArchiveReader {
 public:
  ArchiveReader(const std::string& path, std::function<bool()> stops)
      : path_(path),
        stops_(std::move(stops)),
        file_(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)),
        archive_(archive_read_new()) {}

  /// Whether its bytes are those that were written.
  absl::Status CheckSum() const;

  /// Puts the files there; without a directory they are only listed.
  absl::StatusOr<JobFilesFacts> Read(const std::string& into);

 private:
  /// What a directory is to be when all is in it.
  struct Made {
    mode_t mode;
    timespec changed;
  };

  absl::Status Damaged(std::string_view what) const {
    return absl::DataLossError(absl::StrCat(path_, ": ", std::string(what)));
  }
  absl::Status CheckGoesOn() const {
    if (!stops_ || !stops_()) return absl::OkStatus();
    return absl::CancelledError(absl::StrCat("reading ", path_, " was broken off"));
  }
  absl::Status ReadEntry(archive_entry* entry, const std::string& into);
  absl::Status MakeDirectories(const fs::path& into, const fs::path& name);
  absl::StatusOr<std::string> ReadText(archive_entry* entry);
  absl::Status KeepLine(std::string_view name, std::string text);
  bool MakesSense(archive_entry* entry) const;
  void NoteName(archive_entry* entry, const std::string& name);
  absl::Status Unpack(archive_entry* entry, const std::string& into, const std::string& name);
  absl::Status WriteData(archive_entry* entry, int target);

  const std::string path_;
  const std::function<bool()> stops_;  ///< None: never.
  const UniqueFd file_;
  const ArchivePtr archive_;
  JobFilesFacts facts_;
  std::map<std::string, Made> directories_;  ///< By path: outer ones first.
  std::set<std::string> regular_;            ///< Entries of regular files that are still there.
};

/// Whose paths lie below `path`. '0' is what follows '/'.
template <class Ordered>
void EraseBelow(const std::string& path, Ordered& paths) {
  paths.erase(paths.lower_bound(path + "/"), paths.lower_bound(path + "0"));
}

void SetTime(const std::string& path, const timespec& changed) {
  const timespec times[2] = {changed, changed};
  // A time that cannot be set is no reason not to run.
  static_cast<void>(utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW));
}

/// Makes the directory and those above it, up to `into`. What else has such a name goes: through a
/// symbolic link there nothing is ever written. One that another archive has left without the right
/// to write into it gets that right for the time.
absl::Status ArchiveReader::MakeDirectories(const fs::path& into, const fs::path& name) {
  fs::path path = into;
  for (const fs::path& part : name) {
    path /= part;
    struct stat status {};
    const bool there = lstat(path.c_str(), &status) == 0;
    if (there && S_ISDIR(status.st_mode)) {
      if ((status.st_mode & S_IRWXU) == S_IRWXU) continue;
      const mode_t mode = status.st_mode & ACCESSPERMS;
      directories_.try_emplace(path, Made{.mode = mode, .changed = status.st_mtim});
      if (chmod(path.c_str(), mode | S_IRWXU) != 0) return Failed("chmod " + path.string());
      continue;
    }
    if ((there && unlink(path.c_str()) != 0) || mkdir(path.c_str(), 0700) != 0) {
      return Failed(absl::StrCat("making ", path.string()));
    }
  }
  return absl::OkStatus();
}

absl::Status ArchiveReader::CheckSum() const {
  struct stat status {};
  if (!file_.valid() || fstat(file_.get(), &status) != 0)
    return Failed(absl::StrCat("opening ", path_));
  std::string piece(kFilePieceBytes, '\0');
  ArchiveHash hash;
  std::uint64_t sum = 0;
  const off_t end = status.st_size - static_cast<off_t>(sizeof sum);
  for (off_t at = 0; at < end;) {
    if (absl::Status s = CheckGoesOn(); !s.ok()) return s;
    const ssize_t n =
        pread(file_.get(), piece.data(), std::min<std::uint64_t>(piece.size(), end - at), at);
    if (n < 0) return Failed(absl::StrCat("reading ", path_));
    if (n == 0) return Damaged("ends too early");
    hash.Add(piece.data(), static_cast<std::size_t>(n));
    at += n;
  }
  if (end < 0 || pread(file_.get(), &sum, sizeof sum, end) != sizeof sum)
    return Damaged("ends too early");
  return sum == hash.Sum() ? absl::OkStatus() : Damaged("is damaged: wrong checksum");
}

absl::StatusOr<JobFilesFacts> ArchiveReader::Read(const std::string& into) {
  archive_read_support_format_tar(archive_.get());
  int next = archive_read_open_fd(archive_.get(), file_.get(), kFilePieceBytes);
  archive_entry* entry = nullptr;
  while (next == ARCHIVE_OK &&
         (next = archive_read_next_header(archive_.get(), &entry)) == ARCHIVE_OK) {
    if (absl::Status s = CheckGoesOn(); !s.ok()) return s;
    if (absl::Status s = ReadEntry(entry, into); !s.ok()) return s;
  }
  if (next != ARCHIVE_EOF) return Damaged("is no archive of files");
  if (facts_.directory.empty()) return Damaged("does not say where the files were");
  // Only now: what was put into it changed its time, and its owner might not write to it.
  for (auto made = directories_.rbegin(); made != directories_.rend(); ++made) {
    const UniqueFd directory(
        open(made->first.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory.valid()) return Failed("opening " + made->first);
    fchmod(directory.get(), made->second.mode);
    const timespec times[2] = {made->second.changed, made->second.changed};
    static_cast<void>(futimens(directory.get(), times));
  }
  return std::move(facts_);
}

absl::Status ArchiveReader::ReadEntry(archive_entry* entry, const std::string& into) {
  const char* const path = archive_entry_pathname(entry);
  std::string_view name = path == nullptr ? "" : path;
  const mode_t type = archive_entry_filetype(entry);
  if (name.starts_with(kFilesPrefix)) {
    name.remove_prefix(kFilesPrefix.size());
    if (type == AE_IFDIR && name.ends_with('/')) name.remove_suffix(1);
    if (!CheckFileName(name).ok() || !MakesSense(entry))
      return Damaged("has an entry that makes no sense");
    NoteName(entry, std::string(name));
    if (into.empty()) return absl::OkStatus();
    const fs::path file(name);
    absl::Status made = MakeDirectories(into, type == AE_IFDIR ? file : file.parent_path());
    return made.ok() ? Unpack(entry, into, file) : made;
  }
  absl::StatusOr<std::string> text = ReadText(entry);
  if (!text.ok()) return text.status();
  if (name != kWhereName) return KeepLine(name, *std::move(text));
  facts_.directory = *std::move(text);
  return absl::OkStatus();
}

/// A hard link leads to a file that this archive has brought, and to which no symbolic link leads.
bool ArchiveReader::MakesSense(archive_entry* entry) const {
  const char* const twin = archive_entry_hardlink(entry);
  if (twin != nullptr) return regular_.contains(twin);
  const mode_t type = archive_entry_filetype(entry);
  return type == AE_IFREG || type == AE_IFDIR || type == AE_IFLNK;
}

void ArchiveReader::NoteName(archive_entry* entry, const std::string& name) {
  const std::string path = std::string(kFilesPrefix) + name;
  const mode_t type = archive_entry_filetype(entry);
  if (type != AE_IFDIR) EraseBelow(path, regular_);
  regular_.erase(path);
  if (type == AE_IFREG && archive_entry_hardlink(entry) == nullptr) regular_.insert(path);
}

absl::StatusOr<std::string> ArchiveReader::ReadText(archive_entry* entry) {
  const la_int64_t bytes = archive_entry_size(entry);
  if (bytes < 0 || static_cast<std::uint64_t>(bytes) > kTextBytesMax)
    return Damaged("has an impossible length");
  std::string text(static_cast<std::size_t>(bytes), '\0');
  if (archive_read_data(archive_.get(), text.data(), text.size()) != bytes)
    return Damaged("ends too early");
  return text;
}

absl::Status ArchiveReader::KeepLine(std::string_view name, std::string text) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(absl::string_view(name.data(), name.size()), absl::ByAnyChar("/."));
  std::uint32_t pid = 0;
  std::uint32_t stream = 0;
  if (!name.starts_with(kLinesPrefix) || parts.size() != 3 || !absl::SimpleAtoi(parts[1], &pid) ||
      !absl::SimpleAtoi(parts[2], &stream))
    return Damaged("has an entry that makes no sense");
  facts_.lines.push_back({.pid = Pid{pid}, .stream = stream, .text = std::move(text)});
  return absl::OkStatus();
}

// A file of that name is replaced, not written to: it may be a link to anything.
absl::Status ArchiveReader::Unpack(archive_entry* entry, const std::string& into,
                                   const std::string& name) {
  const std::string path = into + "/" + name;
  const mode_t mode = archive_entry_perm(entry) & ACCESSPERMS;
  const timespec changed = {.tv_sec = archive_entry_mtime(entry),
                            .tv_nsec = archive_entry_mtime_nsec(entry)};
  if (archive_entry_filetype(entry) == AE_IFDIR) {
    directories_[path] = {.mode = mode, .changed = changed};
    return absl::OkStatus();
  }
  // Another node may have had a directory where this one had a file.
  if (!RemoveTree(path))
    return absl::InternalError(absl::StrCat("what lies at ", path, " cannot be removed"));
  // With all below it: a link is not to get its mode.
  directories_.erase(path);
  EraseBelow(path, directories_);
  if (const char* const twin = archive_entry_hardlink(entry); twin != nullptr) {
    const std::string first = into + "/" + (twin + kFilesPrefix.size());
    if (link(first.c_str(), path.c_str()) != 0) return Failed(absl::StrCat("making ", path));
  } else if (const char* const leads_to = archive_entry_symlink(entry); leads_to != nullptr) {
    if (symlink(leads_to, path.c_str()) != 0) return Failed(absl::StrCat("making ", path));
  } else {
    const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.valid() || fchmod(file.get(), mode) != 0)
      return Failed(absl::StrCat("making ", path));
    if (absl::Status s = WriteData(entry, file.get()); !s.ok()) return s;
  }
  SetTime(path, changed);
  return absl::OkStatus();
}

/// Holes stay holes.
absl::Status ArchiveReader::WriteData(archive_entry* entry, int target) {
  const void* data = nullptr;
  std::size_t bytes = 0;
  la_int64_t offset = 0;
  int next = ARCHIVE_OK;
  while ((next = archive_read_data_block(archive_.get(), &data, &bytes, &offset)) == ARCHIVE_OK) {
    if (absl::Status s = CheckGoesOn(); !s.ok()) return s;
    if (lseek(target, offset, SEEK_SET) != offset) return Failed("writing the files of the job");
    const std::string_view piece(static_cast<const char*>(data), bytes);
    if (absl::Status s = WriteAll(target, piece, "the files of the job"); !s.ok()) return s;
  }
  if (next != ARCHIVE_EOF) return Damaged("ends too early");
  if (ftruncate(target, archive_entry_size(entry)) == 0) return absl::OkStatus();
  return Failed("writing the files of the job");
}

absl::StatusOr<JobFilesFacts> Verify(const std::string& archive,
                                     const std::function<bool()>& stops) {
  ArchiveReader reader(archive, stops);
  if (absl::Status s = reader.CheckSum(); !s.ok()) return s;
  return reader.Read("");
}

}  // namespace

absl::StatusOr<JobFilesFacts> VerifyJobFiles(const std::string& archive) {
  return Verify(archive, nullptr);
}

absl::StatusOr<JobFilesFacts> UnpackJobFiles(const std::string& archive,
                                             const std::string& directory) {
  return UnpackJobFiles(archive, directory, nullptr);
}

absl::StatusOr<JobFilesFacts> UnpackJobFiles(const std::string& archive,
                                             const std::string& directory,
                                             const std::function<bool()>& stops) {
  if (absl::StatusOr<JobFilesFacts> facts = Verify(archive, stops); !facts.ok()) return facts;
  return ArchiveReader(archive, stops).Read(directory);
}

}  // namespace bspnow::files
