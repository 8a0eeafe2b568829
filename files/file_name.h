// Names of files of a job, relative to its directory, as they come from users and other machines.
#ifndef FILES_FILE_NAME_H_
#define FILES_FILE_NAME_H_

#include <absl/status/status.h>

#include <cstddef>
#include <string_view>

namespace bspnow::files {

/// As long as Linux takes a path.
inline constexpr std::size_t kFileNameBytesMax = 4096;

/// Of a file that travels: it comes to lie below the state directory of a daemon, too.
inline constexpr std::size_t kSentNameBytesMax = kFileNameBytesMax - 512;

/// As long as Linux takes what stands between two slashes.
inline constexpr std::size_t kNamePartBytesMax = 255;

/// Ok for a relative path that leads nowhere but down: "a/b.txt", not "/a", "a/../../b" or "".
absl::Status CheckFileName(std::string_view name);

}  // namespace bspnow::files

#endif  // FILES_FILE_NAME_H_
