// Paths of the saved process, where they are now.
#ifndef WORKER_RESTORE_PATH_H_
#define WORKER_RESTORE_PATH_H_

#include "base/freestanding/text.h"

namespace bspnow::worker::restore {

/// A longer one is cut, and then does not exist.
using Path = FixedText<4096>;

/// `path`, with OLD at its beginning replaced by NEW; OLD empty: as it is.
inline Path MovedPath(const char* path, const char* old_directory, const char* new_directory) {
  Path moved;
  const std::size_t length = Length(old_directory);
  const bool below = length != 0 && TextPiece{path, Length(path)}.StartsWith(old_directory) &&
                     (path[length] == '\0' || path[length] == '/');
  if (below) moved << new_directory;
  moved << (below ? path + length : path);
  return moved;
}

}  // namespace bspnow::worker::restore

#endif  // WORKER_RESTORE_PATH_H_
