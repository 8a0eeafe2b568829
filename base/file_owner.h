// Whose a file is that an administrator makes in the directory of a service.
#ifndef BASE_FILE_OWNER_H_
#define BASE_FILE_OWNER_H_

#include <absl/status/status.h>
#include <sys/types.h>

#include <string>

namespace bspnow {

/// The file `fd`, which is to stand at `path`, gets the owner and mode of the file that is there;
/// if there is none, this mode and the owner of the directory: a service reads what root makes for
/// it. PERMISSION_DENIED: the caller may not give files away.
absl::Status TakeOwnerAndMode(int fd, const std::string& path, mode_t mode);

}  // namespace bspnow

#endif  // BASE_FILE_OWNER_H_
