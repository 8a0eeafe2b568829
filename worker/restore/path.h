// Paths of the saved process, where they are now.
#ifndef WORKER_RESTORE_PATH_H_
#define WORKER_RESTORE_PATH_H_

#include "base/freestanding/text.h"

namespace bspnow::worker::restore {

/// A longer one is cut, and then does not exist.
using Path = FixedText<4096>;

/// It is the directory, or lies below it; nothing is below an empty one.
inline bool IsBelow(const char* path, const Path& directory) {
  const std::size_t length = directory.size();
  return length != 0 && TextPiece{path, Length(path)}.StartsWith(directory.text()) &&
         (path[length] == '\0' || path[length] == '/');
}

/// `path`, with OLD at its beginning replaced by NEW; OLD empty: as it is.
inline Path MovedPath(const char* path, const Path& old_directory, const Path& new_directory) {
  Path moved;
  const bool below = IsBelow(path, old_directory);
  if (below) moved << new_directory.text();
  moved << (below ? path + old_directory.size() : path);
  return moved;
}

}  // namespace bspnow::worker::restore

#endif  // WORKER_RESTORE_PATH_H_
