#include "worker/restore/open_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/freestanding/raw_call.h"
#include "worker/restore/failure.h"

namespace bspnow::worker::restore {
namespace {

constexpr std::uint32_t kStandards = 3;
// What F_GETFL returns and open takes; the rest (O_CREAT, O_TRUNC...) was the first open's
// business.
constexpr std::uint32_t kOpenFlags = O_ACCMODE | O_APPEND | O_NONBLOCK | O_DSYNC | O_SYNC |
                                     O_DIRECT | O_NOATIME | O_PATH | O_DIRECTORY | O_NOFOLLOW;

int Copy(int file, int lowest) {
  const long copy = RawCall(SYS_fcntl, file, F_DUPFD_CLOEXEC, lowest);
  if (copy < 0)
    Fail("keeping descriptor ", static_cast<std::uint64_t>(file), ": ", CallError{copy});
  return static_cast<int>(copy);
}

int Aside(int file, int lowest) {
  const int moved = Copy(file, lowest);
  RawCall(SYS_close, file);
  return moved;
}

/// With the right that its owner lacks since the process opened it: open(O_CREAT | O_WRONLY, 0400),
/// or a chmod. Other processes may do the same to the file meanwhile, and take the right away
/// between the two calls; each of them does so a few times at most.
long OpenAgainstItsMode(const char* path, int flags, std::uint32_t mode) {
  constexpr int kTriesMax = 1000;
  long file = -EACCES;
  for (int tries = 0; file == -EACCES && tries < kTriesMax; ++tries) {
    if (RawCall(SYS_fchmodat, AT_FDCWD, path, mode | S_IRUSR | S_IWUSR) != 0) return file;
    file = RawCall(SYS_openat, AT_FDCWD, path, flags, 0);
    RawCall(SYS_fchmodat, AT_FDCWD, path, mode);
  }
  return file;
}

int Open(const char* path, const ImageFile& saved) {
  const int flags = static_cast<int>(saved.open_flags & kOpenFlags) | O_CLOEXEC;
  long file = RawCall(SYS_openat, AT_FDCWD, path, flags, 0);
  if (file == -EACCES && saved.kind == ImageFile::kRegular)
    file = OpenAgainstItsMode(path, flags, saved.mode);
  if (file < 0) Fail("opening ", path, ", which the process had open: ", CallError{file});
  return static_cast<int>(file);
}

void Seek(int file, std::uint64_t position, const char* path) {
  const long result = RawCall(SYS_lseek, file, position, SEEK_SET);
  if (result < 0) Fail("seeking in ", path, ": ", CallError{result});
}

bool IsWritable(const ImageFile& file) { return (file.open_flags & O_ACCMODE) != O_RDONLY; }

/// Not by a seek to the end, which files of /proc do not know: they say that they are empty.
std::uint64_t LengthOf(int file, const char* path) {
  struct stat status;
  const long result = RawCall(SYS_fstat, file, &status);
  if (result != 0) Fail("looking at ", path, ": ", CallError{result});
  return static_cast<std::uint64_t>(status.st_size);
}

/// Against others that are restored: images of processes that hold locks are not made. Somebody
/// else's lock is waited for a second, and a file system without locks not at all.
bool Lock(int file) {
  constexpr int kTriesMax = 1000;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 1'000'000};
  long result = -EWOULDBLOCK;
  for (int tries = 0; result == -EWOULDBLOCK && tries < kTriesMax; ++tries) {
    result = RawCall(SYS_flock, file, LOCK_EX | LOCK_NB);
    if (result == -EWOULDBLOCK) RawCall(SYS_nanosleep, &kPause, nullptr);
  }
  return result == 0;
}

// What was appended since goes. Another process may have appended before this one's image was
// taken, and is in its length; but each looks before it goes on, so who of all that append looked
// first saw the length of the barrier, and none goes on from here before all have cut: the least
// holds. Between the look at the length and the cut nobody else cuts, or this would lengthen it.
void CutBack(int file, const ImageFile& saved, const char* path) {
  if (!IsWritable(saved)) return;
  const bool is_locked = Lock(file);
  const bool is_longer = LengthOf(file, path) > saved.bytes;
  const long result = is_longer ? RawCall(SYS_ftruncate, file, saved.bytes) : 0;
  if (result != 0) Fail("cutting ", path, " back: ", CallError{result});
  if (is_locked) RawCall(SYS_flock, file, LOCK_UN);
}

// One that is shorter than in this image may have been cut by another process; what this one has
// passed must still be there.
void RequireWhatWasPassed(int file, const ImageFile& saved, const char* path) {
  const std::uint64_t present = LengthOf(file, path);
  if (present >= saved.position || saved.position > saved.bytes) return;
  Fail(path, " has ", present, " bytes, and the process was at ", saved.position,
       " when the image was taken");
}

void PutAt(int file, const ImageFile& saved, const char* path) {
  const int number = static_cast<int>(saved.descriptor);
  if (file != number) {
    const long result = RawCall(SYS_dup2, file, number);
    if (result < 0) Fail("opening ", path, " as ", saved.descriptor, ": ", CallError{result});
    RawCall(SYS_close, file);
  }
  RawCall(SYS_fcntl, number, F_SETFD, saved.descriptor_flags & FD_CLOEXEC);
}

void Reopen(const Workspace& workspace, const ImageFile& saved) {
  const Options& options = workspace.options;
  const char* const old_path = workspace.chain.newest().String(saved.path);
  const Path path = MovedPath(old_path, options.old_directory, options.new_directory);
  const int file = Open(path.text(), saved);
  const bool only_named = (saved.open_flags & O_PATH) != 0;
  if (saved.kind == ImageFile::kRegular && !only_named) {
    RequireWhatWasPassed(file, saved, path.text());
    // The files of the job's directory are those of the barrier already.
    if (!IsBelow(old_path, options.old_directory)) CutBack(file, saved, path.text());
    Seek(file, saved.position, path.text());
  }
  // A position among the names of another file system's directory may mean nothing there.
  if (saved.kind == ImageFile::kDirectory) RawCall(SYS_lseek, file, saved.position, SEEK_SET);
  PutAt(file, saved, path.text());
}

void Duplicate(int file, const ImageFile& saved) {
  const long result = RawCall(SYS_dup2, file, saved.descriptor);
  if (result < 0) {
    Fail("duplicating descriptor ", saved.of, " as ", saved.descriptor, ": ", CallError{result});
  }
  RawCall(SYS_fcntl, saved.descriptor, F_SETFD, saved.descriptor_flags & FD_CLOEXEC);
}

bool IsOpened(const ImageFile& file) {
  return file.kind == ImageFile::kRegular || file.kind == ImageFile::kDirectory ||
         file.kind == ImageFile::kNullDevice;
}

}  // namespace

void MoveDescriptorsAside(Workspace& workspace) {
  const Image& newest = workspace.chain.newest();
  int lowest = static_cast<int>(kStandards);
  if (static_cast<int>(newest.state().link) >= lowest) {
    lowest = static_cast<int>(newest.state().link) + 1;
  }
  for (const ImageFile& file : newest.files()) {
    if (static_cast<int>(file.descriptor) >= lowest) lowest = static_cast<int>(file.descriptor) + 1;
  }
  // Some may be above the soft limit; SetLimits follows.
  rlimit limit;
  RawCall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, &limit);
  const auto saved = newest.state().limits[RLIMIT_NOFILE].hard;
  const rlimit wanted{saved, saved};
  const rlimit allowed{limit.rlim_max, limit.rlim_max};
  if (saved <= limit.rlim_max || RawCall(SYS_prlimit64, 0, RLIMIT_NOFILE, &wanted, 0) != 0) {
    RawCall(SYS_prlimit64, 0, RLIMIT_NOFILE, &allowed, 0);
  }
  for (int i = 0; i < workspace.chain.count; ++i) {
    workspace.chain.images[i].file = Aside(workspace.chain.images[i].file, lowest);
  }
  for (int i = 0; i < static_cast<int>(kStandards); ++i) workspace.standards[i] = Copy(i, lowest);
  workspace.options.texts = Aside(workspace.options.texts, lowest);
  workspace.options.link = Aside(workspace.options.link, lowest);
}

void EnterDirectory(const Workspace& workspace) {
  const Image& newest = workspace.chain.newest();
  const Path path = MovedPath(newest.String(newest.state().directory),
                              workspace.options.old_directory, workspace.options.new_directory);
  const long result = RawCall(SYS_chdir, path.text());
  if (result != 0 && result != -ENOENT) Fail(path.text(), ": ", CallError{result});
  RawCall(SYS_umask, newest.state().umask);
}

void OpenFiles(const Workspace& workspace) {
  const Table<ImageFile> files = workspace.chain.newest().files();
  // Those that may take the place of 2 come last: there it is said what fails.
  for (const ImageFile& file : files) {
    if (IsOpened(file) && file.descriptor >= kStandards) Reopen(workspace, file);
  }
  for (const ImageFile& file : files) {
    if (file.kind != ImageFile::kStandard) continue;
    if (file.of >= kStandards) Fail("descriptor ", file.descriptor, " is no standard one");
    Duplicate(workspace.standards[file.of], file);
  }
  for (const ImageFile& file : files) {
    if (IsOpened(file) && file.descriptor < kStandards) Reopen(workspace, file);
  }
  for (const ImageFile& file : files) {
    if (file.kind == ImageFile::kDuplicate) Duplicate(static_cast<int>(file.of), file);
  }
  bool is_open[kStandards] = {false, false, false};
  for (const ImageFile& file : files) {
    if (file.descriptor < kStandards) is_open[file.descriptor] = true;
  }
  for (std::uint32_t i = 0; i < kStandards; ++i) {
    if (!is_open[i]) RawCall(SYS_close, i);
  }
}

void HandOverDescriptors(const Workspace& workspace) {
  const int link = static_cast<int>(workspace.chain.newest().state().link);
  const long result = RawCall(SYS_dup3, workspace.options.link, link, O_CLOEXEC);
  if (result < 0) Fail("moving the link: ", CallError{result});
  RawCall(SYS_close, workspace.options.link);
  for (const int standard : workspace.standards) RawCall(SYS_close, standard);
  for (int i = 0; i < workspace.chain.count; ++i)
    RawCall(SYS_close, workspace.chain.images[i].file);
  RawCall(SYS_close, workspace.options.texts);
}

}  // namespace bspnow::worker::restore
