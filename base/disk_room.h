// How much of a disk is free, and how much of it is to stay so: programs, images and copies of
// contents lie on one disk, and whoever takes the last of it harms all others.
#ifndef BASE_DISK_ROOM_H_
#define BASE_DISK_ROOM_H_

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

namespace bspnow {

struct DiskRoom {
  std::uint64_t bytes;       ///< Of the whole disk.
  std::uint64_t free_bytes;  ///< For whoever is not root.
  std::uint64_t inodes = 0;  ///< Of the whole disk, for files and directories; 0: made as needed.
  std::uint64_t free_inodes = 0;

  /// What is to stay free.
  std::uint64_t reserve_bytes() const;
  std::uint64_t missing_bytes() const;  ///< Of that.
  std::uint64_t reserve_inodes() const;
  bool lacks_inodes() const { return free_inodes < reserve_inodes(); }
  /// Whether something may begin that takes so much: not if it goes into what is to stay free, for
  /// which somebody else would have to end. Where nothing else is left the small may.
  bool Takes(std::uint64_t bytes) const;
};

/// Of the disk that a directory is on; nothing, with errno, if it cannot be told.
std::optional<DiskRoom> RoomAt(const std::string& directory);

/// To be added to what is said of a file or directory that could not be made: that the disk lacks
/// inodes, which has the same error as a lack of bytes; else nothing.
std::string LackOfInodes(int error, const std::string& path);

/// What a file takes of its disk: less than its length if it has holes.
std::uint64_t BytesTaken(const struct stat& file);

}  // namespace bspnow

#endif  // BASE_DISK_ROOM_H_
