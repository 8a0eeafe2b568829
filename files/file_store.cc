#include "files/file_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>

#include <absl/strings/str_cat.h>
#include "base/disk_room.h"
#include "base/file_state.h"
#include "base/write_all.h"
#include "files/file_name.h"

namespace bspnow::files {
namespace {

namespace fs = std::filesystem;

/// The name of a file that has not come whole begins so; one may stay when this process dies.
constexpr std::string_view kComingPrefix = ".bspnow-coming-";
constexpr int kComingMax = 10'000;  // In one directory.

/// What is unavailable is sent again: there may be room then.
absl::Status AgainIfFull(const absl::Status& status) {
  if (!absl::IsResourceExhausted(status)) return status;
  return absl::UnavailableError(status.message());
}

absl::Status Failed(const std::string& what) {
  return AgainIfFull(absl::ErrnoToStatus(errno, what));
}

absl::Status NotMade(const std::string& what, const std::string& path) {
  const int error = errno;
  return AgainIfFull(
      absl::ErrnoToStatus(error, absl::StrCat("making ", what, path, LackOfInodes(error, path))));
}

/// A part of zeros alone, which takes no room on the disk: of a hole, from who sends no holes.
bool IsEmpty(std::string_view bytes) {
  constexpr std::size_t kPageBytes = 4096;
  return bytes.size() >= kPageBytes && bytes.front() == 0 &&
         std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

/// Notes an entry of which `lstat` failed with `error`. Of what kind it is its directory says.
void LeaveOut(const fs::directory_entry& entry, const std::string& name, int error,
              FilesFound& found) {
  std::error_code ignored;
  if (error == ENOENT || entry.is_symlink(ignored)) return;
  const char* const kind = entry.is_directory(ignored) ? "directory " : "file ";
  found.left_out[kind + name] = std::strerror(error);
}

/// So that the directory is named: whoever lists all below passes over it without a word.
void LeaveOutIfHidden(const std::string& path, const std::string& name, FilesFound& found) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  if (!UniqueFd(open(path.c_str(), kFlags)).valid() && errno == EACCES)
    found.left_out["directory " + name] = std::strerror(EACCES);
}

}  // namespace

std::uint64_t FileSizes::Next(std::string_view name, std::uint64_t bytes) {
  const auto differs =
      std::mismatch(name.begin(), name.end(), last_name_.begin(), last_name_.end()).first;
  const auto directories = static_cast<std::uint64_t>(std::count(differs, name.end(), '/'));
  last_name_ = name;
  return std::max(bytes, kEntryBytesLeast) + directories * kEntryBytesLeast;
}

FileReceiver::~FileReceiver() {
  if (!coming_.empty()) settings_.unfinished->Remove(coming_);
}

absl::Status FileReceiver::Begin(const FileHead& head) {
  if (absl::Status whole = EndFile(); !whole.ok()) return whole;
  if (absl::Status named = CheckFileName(head.name); !named.ok()) return named;
  const std::uint64_t takes = sizes_.Next(head.name, head.bytes);
  if (head.bytes > left_bytes_ || takes > left_bytes_)  // The sum is another's: it may wrap.
    return absl::ResourceExhaustedError(
        absl::StrCat("file ", head.name, " takes ", takes, " bytes, and only ", left_bytes_,
                     " more are kept of this job (--max-files-bytes)"));
  const std::string& directory = settings_.directory;
  const std::filesystem::path path = directory + "/" + head.name;
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  errno = error.value();
  if (!error && !file_system_.valid())
    file_system_ = UniqueFd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (error || !file_system_.valid()) return NotMade("", path.parent_path().string());
  const auto mode = static_cast<mode_t>((head.mode & ACCESSPERMS) | S_IRUSR | S_IWUSR);
  if (absl::Status made = Make(path.parent_path(), mode); !made.ok()) return made;
  names_.push_back(head.name);
  missing_bytes_ = head.bytes;
  left_bytes_ -= takes;
  return absl::OkStatus();
}

// Under its own name it comes to stand when it is whole: part of a file would be taken for the
// whole, and another stream, which came after this one had stalled, may have brought it meanwhile.
absl::Status FileReceiver::Make(const std::string& directory, mode_t mode) {
  for (int number = 0; number < kComingMax; ++number) {
    std::string path = absl::StrCat(directory, "/", std::string(kComingPrefix), number);
    fd_ = settings_.unfinished->Make(path, mode);
    if (fd_.valid()) coming_ = std::move(path);
    if (fd_.valid()) return absl::OkStatus();
    if (errno != EEXIST) break;
  }
  return NotMade("a file in ", directory);
}

absl::Status FileReceiver::Append(std::string_view bytes) {
  if (!fd_.valid()) return absl::InvalidArgumentError("a file came without a name");
  if (bytes.size() > missing_bytes_) return TooMany();
  if (IsEmpty(bytes)) return AppendHole(bytes.size());
  missing_bytes_ -= bytes.size();
  return AgainIfFull(WriteAll(fd_.get(), bytes, names_.back()));
}

absl::Status FileReceiver::AppendHole(std::uint64_t bytes) {
  if (!fd_.valid()) return absl::InvalidArgumentError("a file came without a name");
  if (bytes > missing_bytes_) return TooMany();
  missing_bytes_ -= bytes;
  // The file has its length at once: it may end here.
  const off_t end = lseek(fd_.get(), static_cast<off_t>(bytes), SEEK_CUR);
  if (end >= 0 && ftruncate(fd_.get(), end) == 0) return absl::OkStatus();
  return Failed(absl::StrCat("writing ", names_.back()));
}

absl::Status FileReceiver::TooMany() const {
  return absl::InvalidArgumentError(
      absl::StrCat("file ", names_.back(), ": more bytes came than were announced"));
}

absl::Status FileReceiver::OnUnread(std::string_view) {
  if (missing_bytes_ == 0) return EndFile();
  settings_.unfinished->Remove(coming_);
  coming_.clear();
  fd_.Reset();
  names_.pop_back();
  missing_bytes_ = 0;
  return absl::OkStatus();
}

absl::Status FileReceiver::Finish() {
  if (absl::Status whole = EndFile(); !whole.ok()) return whole;
  // Any number of small files and directories: all at once.
  const bool syncs = settings_.durability == Durability::kSynced && file_system_.valid();
  if (!syncs || syncfs(file_system_.get()) == 0) return absl::OkStatus();
  return Failed(absl::StrCat("syncing the files in ", settings_.directory));
}

absl::Status FileReceiver::EndFile() {
  if (coming_.empty()) return absl::OkStatus();
  fd_.Reset();
  if (missing_bytes_ != 0)
    return absl::InvalidArgumentError(
        absl::StrCat("file ", names_.back(), ": ", missing_bytes_, " bytes of it have not come"));
  // What lies there is replaced, not written through: it may be a link to somewhere else.
  const std::string path = settings_.directory + "/" + names_.back();
  if (!settings_.unfinished->Finish(coming_, path)) return Failed(absl::StrCat("making ", path));
  coming_.clear();
  return absl::OkStatus();
}

absl::StatusOr<FilesFound> FilesBelow(const std::string& directory) {
  FilesFound found;
  std::error_code error;
  LeaveOutIfHidden(directory, ".", found);
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied,
                                      error);
  if (error == std::errc::no_such_file_or_directory) return found;
  for (; !error && at != fs::end(at); at.increment(error)) {
    struct stat status {};
    const std::string path = at->path().string();
    const std::string name = path.substr(directory.size() + 1);
    if (lstat(path.c_str(), &status) != 0) {
      const int why = errno;
      LeaveOut(*at, name, why, found);
      // To what is deeper no path leads either, and each level takes a descriptor.
      if (why == ENAMETOOLONG) at.disable_recursion_pending();
      continue;
    }
    if (S_ISDIR(status.st_mode)) LeaveOutIfHidden(path, name, found);
    if (!S_ISREG(status.st_mode)) continue;
    if (at->path().filename().string().starts_with(kComingPrefix)) continue;
    found.files.push_back({.name = name,
                           .bytes = static_cast<std::uint64_t>(status.st_size),
                           .mode = status.st_mode & ACCESSPERMS,
                           .changed_ns = FileNs(status.st_mtim),
                           .path = path});
  }
  if (error) return absl::InternalError(absl::StrCat("listing ", directory, ": ", error.message()));
  std::sort(found.files.begin(), found.files.end(),
            [](const StoredFile& a, const StoredFile& b) { return a.name < b.name; });
  return found;
}

absl::StatusOr<std::vector<StoredFile>> ListFiles(const std::string& directory,
                                                  const std::vector<std::string>& names) {
  absl::StatusOr<FilesFound> below = FilesBelow(directory);
  if (!below.ok()) return below.status();
  std::vector<StoredFile>& files = below->files;
  if (names.empty() && !below->left_out.empty()) {
    const auto& [what, why] = *below->left_out.begin();
    return absl::InternalError(absl::StrCat(what, " below ", directory, ": ", why));
  }
  if (names.empty()) return files;
  std::vector<StoredFile> listed;
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second)
      return absl::InvalidArgumentError(absl::StrCat("file \"", name, "\" is named twice"));
    const auto found = std::lower_bound(
        files.begin(), files.end(), name,
        [](const StoredFile& file, const auto& sought) { return file.name < sought; });
    if (found == files.end() || found->name != name)
      return absl::NotFoundError(absl::StrCat("the job left no file \"", name, "\""));
    listed.push_back(*found);
  }
  return listed;
}

}  // namespace bspnow::files
