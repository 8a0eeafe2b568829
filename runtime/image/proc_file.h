// A file of /proc that is open while an image is prepared.
#ifndef RUNTIME_IMAGE_PROC_FILE_H_
#define RUNTIME_IMAGE_PROC_FILE_H_

#include <fcntl.h>

#include "runtime/image/image_syscall.h"

namespace bspnow {

class ProcFile {
 public:
  explicit ProcFile(const char* path)
      : file_(RawSyscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC)) {}
  ProcFile(const ProcFile&) = delete;
  ProcFile& operator=(const ProcFile&) = delete;
  ~ProcFile() {
    if (file_ >= 0) RawSyscall(SYS_close, file_);
  }

  long number() const { return file_; }
  bool opened() const { return file_ >= 0; }

 private:
  long file_;
};

}  // namespace bspnow

#endif  // RUNTIME_IMAGE_PROC_FILE_H_
