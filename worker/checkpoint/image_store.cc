#include "worker/checkpoint/image_store.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include "base/directory_listing.h"
#include "base/disk_room.h"
#include "base/durable_file.h"
#include "base/failpoint.h"
#include "files/job_files.h"
#include "worker/checkpoint/image_name.h"
#include "worker/host/account.h"
#include "worker/passed_directory.h"

namespace bspnow::worker {
namespace {

using Kind = StoredName::Kind;

constexpr std::string_view kJobPrefix = "job-";
constexpr mode_t kDirectoryMode = 0700;
constexpr mode_t kFileMode = 0600;
/// Another worker that shares the directory may be writing a text that is needed here.
constexpr int kTextWaits = 200;
constexpr int kTextWaitMs = 50;

absl::Status Failed(std::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(std::string(what), " ", path));
}

void LogUnlessTaken(const std::string& directory) {
  if (const absl::Status taken = TakeBack(directory); !taken.ok())
    spdlog::warn("event=images_not_taken_back reason=\"{}\"", std::string(taken.message()));
}

absl::StatusOr<UniqueFd> OpenRegular(const std::string& path, int flags) {
  UniqueFd file(open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file.valid() || fstat(file.get(), &status) != 0) return Failed("opening", path);
  if (!S_ISREG(status.st_mode)) return absl::DataLossError(absl::StrCat(path, " is no file"));
  // The job's user can write there, and may have named somebody else's file so.
  if (status.st_nlink != 1) return absl::DataLossError(absl::StrCat(path, " has other names"));
  return file;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ImageStore>> ImageStore::Open(Settings settings) {
  std::error_code error;
  // Programs of another user pass through, to the directory of their job, and see nothing else.
  if (std::filesystem::create_directories(settings.root, error))
    chmod(settings.root.c_str(), S_IRWXU | S_IXGRP | S_IXOTH);
  if (error || access(settings.root.c_str(), R_OK | W_OK | X_OK) != 0)
    return absl::ErrnoToStatus(error ? error.value() : errno,
                               absl::StrCat("checkpoints cannot be stored in ", settings.root));
  if (absl::Status safe = CheckWriters(settings.root); !safe.ok()) return safe;
  auto store = std::make_unique<ImageStore>(std::move(settings));
  if (store->sharing() == Sharing::kOwn) store->TakeOver();
  if (store->sharing() == Sharing::kShared) store->PutBackTexts();
  return store;
}

absl::StatusOr<std::vector<std::string>> ImageStore::NamesIn(const std::string& directory) {
  DirectoryListing listing = ListDirectory(directory);
  const std::error_code& error = listing.error;
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory)
    return std::vector<std::string>();
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("listing ", directory));
  return std::move(listing.names);
}

std::vector<std::string> ImageStore::AnyNamesIn(const std::string& directory) {
  return ListDirectory(directory).names;
}

// What an earlier run left: directories are an account's, files are unfinished.
void ImageStore::TakeOver() {
  for (const std::string& directory : AnyNamesIn(settings_.root)) {
    if (!directory.starts_with(kJobPrefix)) continue;
    const std::string path = absl::StrCat(settings_.root, "/", directory);
    LogUnlessTaken(path);
    for (const std::string& name : AnyNamesIn(path))
      if (ParseUnfinishedName(name)) unlink(absl::StrCat(path, "/", name).c_str());
    rmdir(path.c_str());  // If nothing else is there.
  }
}

// Of a worker that died when it had put them aside. If it lives it removes them another time.
void ImageStore::PutBackTexts() {
  for (const std::string& directory : AnyNamesIn(settings_.root)) {
    if (!directory.starts_with(kJobPrefix)) continue;
    const std::string path = absl::StrCat(settings_.root, "/", directory, "/");
    for (const std::string& name : AnyNamesIn(path)) {
      const std::string text = name.substr(0, name.find(kPutAside));
      if (text == name || !ParseStoredName(text)) continue;
      rename((path + name).c_str(), (path + text).c_str());
    }
  }
}

std::string ImageStore::DirectoryOf(JobId job) const {
  return absl::StrCat(settings_.root, "/", std::string(kJobPrefix), Value(job));
}

std::string ImageStore::PathOf(JobId job, const std::string& name) const {
  return absl::StrCat(DirectoryOf(job), "/", name);
}

// Not one that is shared: images would fill the disk below a file system that is gone.
void ImageStore::MakeRoot() const {
  if (sharing() == Sharing::kOwn) MakePassedDirectory(settings_.root);
}

absl::Status ImageStore::MakeDirectory(JobId job) const {
  MakeRoot();
  const std::string path = DirectoryOf(job);
  if (mkdir(path.c_str(), kDirectoryMode) == 0 || errno == EEXIST) return absl::OkStatus();
  return Failed("making", path);
}

void ImageStore::TakeBackDirectory(JobId job) const {
  if (sharing() == Sharing::kOwn) LogUnlessTaken(DirectoryOf(job));
  rmdir(DirectoryOf(job).c_str());  // If nothing is in it.
}

// ---- Room ---------------------------------------------------------------------------------------

std::uint64_t ImageStore::used_bytes() const {
  std::uint64_t used = 0;
  for (const std::string& directory : AnyNamesIn(settings_.root)) {
    if (!directory.starts_with(kJobPrefix)) continue;
    const std::string path = absl::StrCat(settings_.root, "/", directory, "/");
    struct stat status {};
    for (const std::string& name : AnyNamesIn(path))
      if (lstat((path + name).c_str(), &status) == 0)
        used += static_cast<std::uint64_t>(status.st_size);
  }
  return used;
}

std::uint64_t ImageStore::unfinished_bytes_beside(const std::string& directory) const {
  struct stat here {
  }, status{};
  if (stat(directory.c_str(), &here) != 0) return 0;
  std::uint64_t unfinished = 0;
  for (const std::string& job : AnyNamesIn(settings_.root)) {
    if (!job.starts_with(kJobPrefix)) continue;
    const std::string path = absl::StrCat(settings_.root, "/", job, "/");
    for (const std::string& name : AnyNamesIn(path))
      if (ParseUnfinishedName(name) && lstat((path + name).c_str(), &status) == 0 &&
          status.st_dev == here.st_dev)
        unfinished += BytesTaken(status);
  }
  return unfinished;
}

absl::Status ImageStore::CheckRoom(std::uint64_t bytes) const {
  std::uint64_t wanted = bytes;
  {
    const std::lock_guard lock(mutex_);
    wanted += reserved_bytes_;
  }
  if (settings_.quota_bytes > 0) {
    const std::uint64_t used = used_bytes();
    if (used + wanted > settings_.quota_bytes)
      return absl::ResourceExhaustedError(
          absl::StrCat(settings_.root, " holds ", used, " bytes of checkpoints and is to take ",
                       wanted, " more, but its quota is ", settings_.quota_bytes,
                       ": raise the worker's --checkpoint-quota"));
  }
  const std::optional<DiskRoom> room = RoomAt(settings_.root);
  if (!room) return Failed("asking for room in", settings_.root);
  if (room->inodes > 0 && room->free_inodes == 0)
    return absl::ResourceExhaustedError(
        absl::StrCat("the disk of ", settings_.root, " has no inodes left (df -i): remove files ",
                     "there, or give the worker another --checkpoint-dir"));
  const std::uint64_t reserve = room->reserve_bytes();
  if (room->free_bytes == 0 || room->missing_bytes() > 0 || wanted > room->free_bytes - reserve)
    return absl::ResourceExhaustedError(
        absl::StrCat("the disk of ", settings_.root, " has ", room->free_bytes,
                     " bytes left, a checkpoint needs ", wanted, ", and ", reserve,
                     " stay free: make room there, or give the worker another --checkpoint-dir"));
  return absl::OkStatus();
}

absl::Status ImageStore::Reserve(std::uint64_t bytes) {
  if (absl::Status room = CheckRoom(bytes); !room.ok()) return room;
  const std::lock_guard lock(mutex_);
  reserved_bytes_ += bytes;
  return absl::OkStatus();
}

void ImageStore::Unreserve(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  reserved_bytes_ -= bytes;
}

// ---- Verifying ----------------------------------------------------------------------------------

absl::StatusOr<std::vector<std::string>> ImageStore::VerifyAs(JobId job, const std::string& name,
                                                              const std::string& file) const {
  const std::optional<StoredName> what = ParseStoredName(name);
  if (!what) return absl::InvalidArgumentError(absl::StrCat(name, " is no name of an image"));
  const std::string path = PathOf(job, file);
  absl::StatusOr<UniqueFd> opened = OpenRegular(path, O_RDONLY);
  if (!opened.ok()) return opened.status();
  std::vector<std::string> texts;
  if (what->kind == Kind::kText) {
    if (absl::Status right = VerifyText(opened->get(), name); !right.ok()) return right;
  } else if (what->kind == Kind::kFiles) {
    if (const auto right = files::VerifyJobFiles(path); !right.ok()) return right.status();
  } else {
    absl::StatusOr<ImageFacts> facts = VerifyImage(opened->get(), path);
    if (!facts.ok()) return facts.status();
    if (facts->job != job || facts->checkpoint != what->checkpoint || facts->pid != Pid{what->pid})
      return absl::DataLossError(absl::StrCat(path, " holds pid ", Value(facts->pid), " of job ",
                                              Value(facts->job), " at checkpoint ",
                                              facts->checkpoint));
    texts = std::move(facts->texts);
  }
  return texts;
}

absl::Status ImageStore::Verify(JobId job, const std::string& name) {
  absl::Status right = VerifyAs(job, name, name).status();
  const std::lock_guard lock(mutex_);
  if (!right.ok()) verified_texts_.erase({job, name});  // Later images are not to rely on it.
  return right;
}

// ---- Taking a checkpoint ------------------------------------------------------------------------

absl::Status ImageStore::Settle(JobId job, std::uint64_t checkpoint,
                                const std::vector<std::string>& names) {
  absl::Status settled = CheckRoom(0);
  if (settled.ok()) settled = TrySettle(job, names);
  if (settled.ok()) settled = CheckRoom(0);  // A file server may only know now.
  if (!settled.ok()) Discard(job, checkpoint);
  return settled;
}

absl::Status ImageStore::TrySettle(JobId job, const std::vector<std::string>& names) {
  std::map<std::string, UniqueFd> files;
  for (const std::string& name : names) {
    const std::string path = PathOf(job, absl::StrCat(name, std::string(kBeingWritten)));
    absl::StatusOr<UniqueFd> file = OpenRegular(path, O_RDWR);
    if (!file.ok()) return file.status();
    fchmod(file->get(), kFileMode);
    sync_file_range(file->get(), 0, 0, SYNC_FILE_RANGE_WRITE);  // While they are verified.
    files.emplace(name, *std::move(file));
  }
  std::set<std::string> texts;
  for (const std::string& name : names) {
    auto needed = VerifyAs(job, name, absl::StrCat(name, std::string(kBeingWritten)));
    if (!needed.ok()) return needed.status();
    texts.insert(needed->begin(), needed->end());
  }
  for (const std::string& text : texts)
    if (absl::Status settled = AwaitText(job, text); !settled.ok()) return settled;
  for (const auto& [name, file] : files)
    if (absl::Status synced = Sync(file.get(), PathOf(job, name)); !synced.ok()) return synced;
  if (absl::Status fault = FailpointStatus("worker.image.synced"); !fault.ok()) return fault;
  if (absl::Status fault = FailpointStatus("worker.image.before_rename"); !fault.ok()) return fault;
  for (const std::string& name : names)
    if (absl::Status renamed = Rename(job, absl::StrCat(name, std::string(kBeingWritten)), name);
        !renamed.ok())
      return renamed;
  if (absl::Status fault = FailpointStatus("worker.image.renamed"); !fault.ok()) return fault;
  if (absl::Status synced = SyncDirectory(job); !synced.ok()) return synced;
  return FailpointStatus("worker.image.stored");
}

absl::Status ImageStore::Sync(int file, const std::string& path) const {
  if (absl::Status fault = FailpointStatus("worker.image.before_sync"); !fault.ok()) return fault;
  return fsync(file) == 0 ? absl::OkStatus() : Failed("syncing", path);
}

absl::Status ImageStore::SyncDirectory(JobId job) const {
  if (absl::Status synced = bspnow::SyncDirectory(DirectoryOf(job)); !synced.ok()) return synced;
  return bspnow::SyncDirectory(settings_.root);
}

absl::Status ImageStore::Rename(JobId job, const std::string& from, const std::string& name) const {
  if (rename(PathOf(job, from).c_str(), PathOf(job, name).c_str()) == 0) return absl::OkStatus();
  return Failed("renaming to", PathOf(job, name));
}

absl::Status ImageStore::AwaitText(JobId job, const std::string& name) {
  absl::Status settled = SettleText(job, name);
  if (sharing() == Sharing::kOwn) return settled;
  for (int i = 0; i < kTextWaits && !settled.ok(); ++i) {
    poll(nullptr, 0, kTextWaitMs);
    settled = SettleText(job, name);
  }
  return settled;
}

// Texts are written once for all images of the job, so one of this checkpoint may be old.
absl::Status ImageStore::SettleText(JobId job, const std::string& name) {
  const bool finished = Has(job, name);
  const std::string unfinished = absl::StrCat(name, std::string(kBeingWritten));
  if (finished && sharing() == Sharing::kOwn) unlink(PathOf(job, unfinished).c_str());
  {
    const std::lock_guard lock(mutex_);
    if (finished && verified_texts_.contains({job, name})) return absl::OkStatus();
  }
  const std::string& stands = finished ? name : unfinished;
  const absl::StatusOr<std::vector<std::string>> right = VerifyAs(job, name, stands);
  // Another worker may still be writing it; if not, the next checkpoint must write it anew.
  if (!right.ok() && sharing() == Sharing::kOwn) unlink(PathOf(job, stands).c_str());
  if (!right.ok()) return right.status();
  absl::StatusOr<UniqueFd> file = OpenRegular(PathOf(job, stands), O_RDWR);
  if (!file.ok()) return file.status();
  fchmod(file->get(), kFileMode);
  if (absl::Status s = Sync(file->get(), PathOf(job, stands)); !s.ok()) {
    unlink(PathOf(job, stands).c_str());
    return s;
  }
  if (!finished)
    if (absl::Status renamed = Rename(job, stands, name); !renamed.ok()) return renamed;
  const std::lock_guard lock(mutex_);
  verified_texts_.insert({job, name});
  return absl::OkStatus();
}

// ---- What is there ------------------------------------------------------------------------------

absl::StatusOr<std::vector<std::string>> ImageStore::Names(JobId job) const {
  absl::StatusOr<std::vector<std::string>> names = NamesIn(DirectoryOf(job));
  if (!names.ok()) return names;
  std::erase_if(*names, [](const std::string& name) { return !ParseStoredName(name); });
  std::sort(names->begin(), names->end());
  return names;
}

bool ImageStore::Has(JobId job, const std::string& name) const {
  struct stat status {};
  return ParseStoredName(name) && lstat(PathOf(job, name).c_str(), &status) == 0 &&
         S_ISREG(status.st_mode);
}

absl::StatusOr<std::vector<proto::StoredJob>> ImageStore::Stored() const {
  std::vector<proto::StoredJob> jobs;
  const absl::StatusOr<std::vector<std::string>> directories = NamesIn(settings_.root);
  if (!directories.ok()) return directories.status();
  for (const std::string& directory : *directories) {
    std::uint64_t number = 0;
    if (!directory.starts_with(kJobPrefix) ||
        !absl::SimpleAtoi(directory.substr(kJobPrefix.size()), &number))
      continue;
    const absl::StatusOr<std::vector<std::string>> names = Names(JobId{number});
    if (absl::IsPermissionDenied(names.status())) continue;  // Another worker's, in a share.
    if (!names.ok()) return names.status();
    std::set<std::uint64_t> checkpoints;
    for (const std::string& name : *names)
      if (const auto what = ParseStoredName(name); what->kind == Kind::kImage)
        checkpoints.insert(what->checkpoint);
    proto::StoredJob& job = jobs.emplace_back();
    job.set_job(number);
    for (const std::uint64_t checkpoint : checkpoints) job.add_checkpoints(checkpoint);
  }
  return jobs;
}

absl::StatusOr<UniqueFd> ImageStore::OpenToRead(JobId job, const std::string& name) const {
  if (!ParseStoredName(name))
    return absl::InvalidArgumentError(absl::StrCat("\"", name, "\" is no name of an image"));
  if (!Has(job, name))
    return absl::NotFoundError(
        absl::StrCat(name, " of job ", Value(job), " is not in ", settings_.root));
  return OpenRegular(PathOf(job, name), O_RDONLY);
}

absl::StatusOr<files::OutgoingFile> ImageStore::OpenToSend(JobId job,
                                                           const std::string& name) const {
  absl::StatusOr<UniqueFd> file = OpenToRead(job, name);
  if (!file.ok()) return file.status();
  return files::OutgoingFile::Of(*std::move(file), name);
}

absl::StatusOr<ImageFacts> ImageStore::FactsOf(JobId job, const std::string& name) const {
  const absl::StatusOr<UniqueFd> file = OpenToRead(job, name);
  if (!file.ok()) return file.status();
  return ReadImageFacts(file->get(), PathOf(job, name));
}

}  // namespace bspnow::worker
