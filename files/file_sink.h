// Who takes files, one after the other, as they come from another machine.
#ifndef FILES_FILE_SINK_H_
#define FILES_FILE_SINK_H_

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace bspnow::files {

/// What is known of a file before it comes.
struct FileHead {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint32_t mode = 0;  ///< Permission bits; others are not taken.
};

class FileSink {
 public:
  virtual ~FileSink() = default;

  /// The next file; the one before must be whole.
  virtual absl::Status Begin(const FileHead& head) = 0;
  virtual absl::Status Append(std::string_view bytes) = 0;
  /// So many zeros, which need not take room. Only who overrides this may say that he takes them.
  virtual absl::Status AppendHole(std::uint64_t bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a hole of ", bytes, " bytes, and holes are not taken here"));
  }

  /// A file cannot be read there. If one is not whole it is that one, and is dropped.
  virtual absl::Status OnUnread(std::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("a file that cannot be read: ", std::string(why)));
  }

  /// No more files; the last must be whole, and right.
  virtual absl::Status Finish() = 0;
};

}  // namespace bspnow::files

#endif  // FILES_FILE_SINK_H_
