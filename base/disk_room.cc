#include "base/disk_room.h"

#include <sys/statvfs.h>

#include <algorithm>

namespace bspnow {
namespace {

constexpr std::uint64_t kReserveParts = 20;
constexpr std::uint64_t kReserveBytesMax = std::uint64_t{1} << 30;
constexpr std::uint64_t kBlockBytes = 512;  // Of st_blocks, whatever the disk's own are.

}  // namespace

std::uint64_t DiskRoom::reserve_bytes() const {
  return std::min(bytes / kReserveParts, kReserveBytesMax);
}

std::uint64_t DiskRoom::missing_bytes() const {
  return reserve_bytes() - std::min(reserve_bytes(), free_bytes);
}

bool DiskRoom::Takes(std::uint64_t bytes) const {
  return bytes <= reserve_bytes() ||
         (free_bytes > reserve_bytes() && bytes <= free_bytes - reserve_bytes());
}

std::optional<DiskRoom> RoomAt(const std::string& directory) {
  struct statvfs status {};
  if (statvfs(directory.c_str(), &status) != 0) return std::nullopt;
  return DiskRoom{.bytes = status.f_blocks * status.f_frsize,
                  .free_bytes = status.f_bavail * status.f_frsize};
}

std::uint64_t BytesTaken(const struct stat& file) {
  return static_cast<std::uint64_t>(file.st_blocks) * kBlockBytes;
}

}  // namespace bspnow
