// A directory that is open to be read, and is closed by its owner.
#ifndef BASE_DIRECTORY_H_
#define BASE_DIRECTORY_H_

#include <dirent.h>

#include <memory>

#include "base/unique_fd.h"

namespace bspnow {

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

/// An open directory, for readdir.
using Directory = std::unique_ptr<DIR, CloseDirectory>;

/// nullptr if `file` is not open, or is no directory.
inline Directory DirectoryOf(UniqueFd file) {
  Directory directory(file.valid() ? fdopendir(file.get()) : nullptr);
  if (directory) file.Release();
  return directory;
}

}  // namespace bspnow

#endif  // BASE_DIRECTORY_H_
