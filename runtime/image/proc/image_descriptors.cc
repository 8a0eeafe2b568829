#include "runtime/image/proc/image_descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstddef>

#include "base/freestanding/raw_call.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint32_t kOutput = 1;
constexpr std::uint32_t kError = 2;
constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr long kBefore = 1;  // As kcmp has it.
constexpr long kAfter = 2;

/// As getdents64 gives it.
struct DirectoryRecord {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  unsigned char type;
  char name[];
};

struct Descriptor {
  std::uint32_t number;
  struct stat status;
  char path[4096];
  std::size_t path_bytes;

  TextPiece Path() const { return {path, path_bytes}; }
};

bool Look(std::uint32_t number, Descriptor& descriptor) {
  descriptor.number = number;
  FixedText<64> name;
  name << "/proc/self/fd/" << number;
  const long bytes =
      RawCall(SYS_readlinkat, AT_FDCWD, name.text(), descriptor.path, sizeof descriptor.path - 1);
  if (bytes < 0) return false;
  descriptor.path_bytes = static_cast<std::size_t>(bytes);
  descriptor.path[bytes] = '\0';
  return RawCall(SYS_fstat, number, &descriptor.status) == 0;
}

bool SameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// The path leads to this very file.
bool StillThere(const Descriptor& descriptor) {
  struct stat now;
  return RawCall(SYS_newfstatat, AT_FDCWD, descriptor.path, &now, 0) == 0 &&
         SameFile(now, descriptor.status);
}

/// /proc/PID/...: of a process that will be another one.
bool IsOfProcess(const TextPiece& path) {
  return path.StartsWith("/proc/") && path.bytes > 6 && path.data[6] >= '0' && path.data[6] <= '9';
}

bool IsPlainDevice(const struct stat& status) {
  constexpr unsigned kMemoryDevices = 1;
  const unsigned minor_number = minor(status.st_rdev);
  return major(status.st_rdev) == kMemoryDevices &&
         (minor_number == 3 || minor_number == 5 || (minor_number >= 7 && minor_number <= 9));
}

/// Null if the file can be opened anew.
const char* WhyNot(const Descriptor& descriptor) {
  const mode_t mode = descriptor.status.st_mode;
  const TextPiece path = descriptor.Path();
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISFIFO(mode)) return "a pipe";
  if (path.StartsWith("anon_inode:[eventfd")) return "an eventfd";
  if (path.StartsWith("anon_inode:[eventpoll")) return "an epoll descriptor";
  if (path.StartsWith("anon_inode:[timerfd")) return "a timerfd";
  if (path.StartsWith("anon_inode:[signalfd")) return "a signalfd";
  if (path.StartsWith("anon_inode:[io_uring")) return "an io_uring";
  if (path.StartsWith("/memfd:")) return "a memfd";
  if (path.bytes == 0 || *path.data != '/') return "a descriptor of the kernel";
  if (IsOfProcess(path)) return "a file of this process in /proc";
  if (path.StartsWith("/sys/fs/cgroup/")) return "a file of a control group of this node";
  if (S_ISCHR(mode) && !IsPlainDevice(descriptor.status)) {
    return path.StartsWith("/dev/pt") || path.StartsWith("/dev/tty") ? "a terminal" : "a device";
  }
  if (S_ISBLK(mode)) return "a device";
  if (!StillThere(descriptor)) return "a file that was deleted or renamed";
  return nullptr;
}

bool HasLock(const Descriptor& descriptor, ImageWork& work) {
  FixedText<64> name;
  name << "/proc/self/fdinfo/" << descriptor.number;
  LineReader lines(name.text(), work.text_buffer, work.text_buffer_bytes);
  TextPiece line;
  while (lines.Next(line)) {
    if (line.StartsWith("lock:")) return true;
  }
  return false;
}

bool Refuse(const Descriptor& descriptor, const char* why, Reason& reason) {
  reason << "descriptor " << descriptor.number << " is " << why << " (" << descriptor.Path() << ")";
  return false;
}

/// Flags of an open file are seen through all its descriptors.
bool SharesFlags(std::uint32_t a, std::uint32_t b) {
  const long before = RawCall(SYS_fcntl, a, F_GETFL, 0);
  if (RawCall(SYS_fcntl, a, F_SETFL, before ^ O_APPEND) != 0) return false;
  const bool shared = RawCall(SYS_fcntl, b, F_GETFL, 0) == (before ^ O_APPEND);
  RawCall(SYS_fcntl, a, F_SETFL, before);
  return shared && RawCall(SYS_fcntl, b, F_GETFL, 0) == before;
}

/// The earlier descriptor of the same open file; `files.end()`: none. One after the other.
ImageFile* FindAmongAll(const Descriptor& descriptor, ImageWork& work) {
  return std::find_if(work.files.begin(), work.files.end(), [&](const ImageFile& file) {
    struct stat status;
    return file.kind != ImageFile::kDuplicate &&
           RawCall(SYS_fstat, file.descriptor, &status) == 0 &&
           SameFile(status, descriptor.status) && SharesFlags(file.descriptor, descriptor.number);
  });
}

/// The same, by the order that the kernel has for open files: a program may have thousands. The
/// next file is `descriptor`'s, and is noted at its place if it is new.
ImageFile* FindDuplicate(const Descriptor& descriptor, ImageWork& work) {
  const long self = RawCall(SYS_getpid);
  std::uint32_t* from = work.open_files.begin();
  std::uint32_t* to = work.open_files.end();
  while (from != to) {
    std::uint32_t* const middle = from + (to - from) / 2;
    ImageFile& file = work.files[*middle];
    const long order = RawCall(SYS_kcmp, self, self, KCMP_FILE, file.descriptor, descriptor.number);
    if (order == 0) return &file;
    if (order != kBefore && order != kAfter) return FindAmongAll(descriptor, work);  // Forbidden.
    if (order == kBefore) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  work.open_files.Add(static_cast<std::uint32_t>(work.files.size()));
  if (!work.open_files.overflown()) {
    std::rotate(from, work.open_files.end() - 1, work.open_files.end());
  }
  return work.files.end();
}

/// Which of the three that the worker gave it is, wherever it stands now; kNone: the program's own.
std::uint32_t StandardOf(const Descriptor& descriptor) {
  const std::uint32_t mode = descriptor.status.st_mode & 07777;
  if (!S_ISFIFO(descriptor.status.st_mode) || !descriptor.Path().StartsWith("pipe:")) return kNone;
  if ((RawCall(SYS_fcntl, descriptor.number, F_GETFL, 0) & O_ACCMODE) == O_WRONLY) {
    if (mode == kOutputPipeMode) return kOutput;
    if (mode == kErrorPipeMode) return kError;
  }
  // Input bears no mark, and where a kernel takes none nothing does.
  return descriptor.number <= kError ? descriptor.number : kNone;
}

ImageFile::Kind KindOf(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return ImageFile::kDirectory;
  return S_ISCHR(status.st_mode) ? ImageFile::kNullDevice : ImageFile::kRegular;
}

bool AddDescriptor(const Descriptor& descriptor, ImageWork& work) {
  ImageFile file{};
  file.descriptor = descriptor.number;
  file.of = descriptor.number;
  file.open_flags =
      static_cast<std::uint32_t>(std::max(0L, RawCall(SYS_fcntl, descriptor.number, F_GETFL, 0)));
  file.descriptor_flags =
      static_cast<std::uint32_t>(std::max(0L, RawCall(SYS_fcntl, descriptor.number, F_GETFD, 0)));
  const ImageFile* const same = FindDuplicate(descriptor, work);
  if (same != work.files.end()) {
    file.kind = same->kind == ImageFile::kStandard ? ImageFile::kStandard : ImageFile::kDuplicate;
    file.of = same->of;
  } else if (const std::uint32_t standard = StandardOf(descriptor); standard != kNone) {
    file.kind = ImageFile::kStandard;
    file.of = standard;
  } else {
    if (const char* why = WhyNot(descriptor)) return Refuse(descriptor, why, work.reason);
    if (HasLock(descriptor, work)) return Refuse(descriptor, "a file with a lock", work.reason);
    file.kind = KindOf(descriptor.status);
    file.position = static_cast<std::uint64_t>(
        std::max(0L, RawCall(SYS_lseek, descriptor.number, 0, SEEK_CUR)));
    file.bytes = static_cast<std::uint64_t>(descriptor.status.st_size);
    file.mode = descriptor.status.st_mode & 07777;
    file.path = work.AddString(descriptor.Path());
  }
  work.files.Add(file);
  return true;
}

bool IsOurs(std::uint32_t number, const ImageRequest& request, int tracker) {
  const int fd = static_cast<int>(number);
  for (const int lane : request.lanes)
    if (fd == lane) return true;
  return fd == request.link || fd == request.doorbell || fd == request.mailbox ||
         fd == request.directory || fd == tracker;
}

}  // namespace

bool ReadDescriptors(ImageWork& work, int tracker) {
  const long directory =
      RawCall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) {
    work.reason << "cannot read /proc/self/fd: " << CallError{directory};
    return false;
  }
  alignas(DirectoryRecord) char records[8192];
  bool fine = true;
  long bytes;
  while (fine && (bytes = RawCall(SYS_getdents64, directory, records, sizeof records)) > 0) {
    for (long at = 0; fine && at < bytes;) {
      const auto& record = *reinterpret_cast<const DirectoryRecord*>(records + at);
      at += record.bytes;
      TextPiece name{record.name, record.bytes - offsetof(DirectoryRecord, name)};
      if (*record.name == '.') continue;
      const auto number = static_cast<std::uint32_t>(TakeNumber(name, 10));
      Descriptor descriptor;
      if (number == directory || IsOurs(number, work.request, tracker)) continue;
      if (Look(number, descriptor)) fine = AddDescriptor(descriptor, work);
    }
  }
  RawCall(SYS_close, directory);
  return fine;
}

}  // namespace bspnow::runtime
