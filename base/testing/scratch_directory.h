// For tests: a directory of their own that goes away with them.
#ifndef BASE_SCRATCH_DIRECTORY_H_
#define BASE_SCRATCH_DIRECTORY_H_

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "base/check.h"

namespace bspnow {

/// Short enough for the name of a socket in it, so not in TEST_TMPDIR; and called as nothing of
/// bspnow's is, since tests/endings looks for that in the same places meanwhile.
class ScratchDirectory {
 public:
  ScratchDirectory() : ScratchDirectory(std::filesystem::temp_directory_path()) {}

  /// Where that can be had: the disk is slow to sync, and it is not what is tested.
  static ScratchDirectory InMemory() {
    if (access("/dev/shm", W_OK) != 0) return ScratchDirectory();
    return ScratchDirectory("/dev/shm");
  }

  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  explicit ScratchDirectory(const std::filesystem::path& parent)
      : path_(parent / "scratch-XXXXXX") {
    BSP_CHECK(mkdtemp(path_.data()) != nullptr);
  }

  std::string path_;
};

}  // namespace bspnow

#endif  // BASE_SCRATCH_DIRECTORY_H_
