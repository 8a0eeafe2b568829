#include "base/disk_room.h"

#include <errno.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>

namespace bspnow {
namespace {

constexpr std::uint64_t kReserveParts = 20;
constexpr std::uint64_t kReserveBytesMax = std::uint64_t{1} << 30;
constexpr std::uint64_t kReserveInodesMax = 100'000;

}  // namespace

std::uint64_t DiskRoom::reserve_bytes() const {
  return std::min(bytes / kReserveParts, kReserveBytesMax);
}

std::uint64_t DiskRoom::missing_bytes() const {
  return reserve_bytes() - std::min(reserve_bytes(), free_bytes);
}

std::uint64_t DiskRoom::reserve_inodes() const {
  return std::min(inodes / kReserveParts, kReserveInodesMax);
}

bool DiskRoom::Takes(std::uint64_t bytes) const {
  return bytes <= reserve_bytes() ||
         (free_bytes > reserve_bytes() && bytes <= free_bytes - reserve_bytes());
}

std::optional<DiskRoom> RoomAt(const std::string& directory) {
  struct statvfs status {};
  if (statvfs(directory.c_str(), &status) != 0) return std::nullopt;
  return DiskRoom{.bytes = status.f_blocks * status.f_frsize,
                  .free_bytes = status.f_bavail * status.f_frsize,
                  .inodes = status.f_files,
                  .free_inodes = status.f_favail};
}

std::string LackOfInodes(int error, const std::string& path) {
  if (error != ENOSPC) return "";
  std::optional<DiskRoom> room;  // Of the part of the path that is there.
  for (std::filesystem::path at(path); !room && at.has_relative_path(); at = at.parent_path())
    room = RoomAt(at.string());
  if (!room) room = RoomAt(path.starts_with('/') ? "/" : ".");
  return room && room->inodes > 0 && room->free_inodes == 0 && room->free_bytes > 0
             ? " (its disk has bytes left, but no inodes: see df -i)"
             : "";
}

std::uint64_t BytesTaken(const struct stat& file) {
  return static_cast<std::uint64_t>(file.st_blocks) * S_BLKSIZE;
}

}  // namespace bspnow
