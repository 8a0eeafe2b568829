// Strings that end with 0, and paths, without a library.
#ifndef WORKER_RESTORE_TEXT_H_
#define WORKER_RESTORE_TEXT_H_

#include <cstddef>
#include <cstdint>

namespace bspnow::restore {

inline constexpr std::size_t kPathBytes = 4096;

inline std::size_t Length(const char* text) {
  std::size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

inline bool Equal(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// A path of at most kPathBytes - 1 characters; a longer one is cut, and then does not exist.
struct Path {
  char text[kPathBytes];
  std::size_t length = 0;

  void Append(const char* more) {
    while (*more != '\0' && length + 1 < kPathBytes) text[length++] = *more++;
    text[length] = '\0';
  }
};

/// `path`, with OLD at its beginning replaced by NEW; OLD empty: as it is.
inline void MovePath(const char* path, const char* old_directory, const char* new_directory,
                     Path& moved) {
  moved.length = 0;
  moved.text[0] = '\0';
  const std::size_t length = Length(old_directory);
  std::size_t same = 0;
  while (same < length && path[same] == old_directory[same]) ++same;
  const bool below = length != 0 && same == length && (path[same] == '\0' || path[same] == '/');
  if (below) moved.Append(new_directory);
  moved.Append(below ? path + length : path);
}

}  // namespace bspnow::restore

#endif  // WORKER_RESTORE_TEXT_H_
