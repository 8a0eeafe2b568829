// For tests: a directory of their own that goes away with them.
#ifndef COORDINATOR_SCRATCH_DIRECTORY_H_
#define COORDINATOR_SCRATCH_DIRECTORY_H_

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "base/check.h"

namespace bspnow {

class ScratchDirectory {
 public:
  ScratchDirectory() : path_(std::filesystem::temp_directory_path() / "bspnow-test-XXXXXX") {
    BSP_CHECK(mkdtemp(path_.data()) != nullptr);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace bspnow

#endif  // COORDINATOR_SCRATCH_DIRECTORY_H_
