// When a file was changed, and whether it may have been since it was read. By the time of its
// content alone a change is missed that follows another one within a tick of the disk's clock, some
// milliseconds, on some file systems seconds, and one that puts an earlier time back.
#ifndef BASE_FILE_STATE_H_
#define BASE_FILE_STATE_H_

#include <sys/stat.h>

#include <cstdint>

namespace bspnow {

inline constexpr std::int64_t kFileNsPerS = 1'000'000'000;

/// Since 1970, and negative before.
inline std::int64_t FileNs(const timespec& time) {
  return time.tv_sec * kFileNsPerS + time.tv_nsec;
}

/// `now` is what `before` was.
inline bool IsSameState(const struct stat& before, const struct stat& now) {
  const auto is_same = [](const timespec& a, const timespec& b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
  };
  return before.st_dev == now.st_dev && before.st_ino == now.st_ino &&
         before.st_size == now.st_size && is_same(before.st_mtim, now.st_mtim) &&
         is_same(before.st_ctim, now.st_ctim);
}

}  // namespace bspnow

#endif  // BASE_FILE_STATE_H_
