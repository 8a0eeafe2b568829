// The names of files in a job's directory of images (runtime/image/image_format.h). Who asks for a
// file of another shape gets nothing: names come over the network, too.
#ifndef WORKER_CHECKPOINT_IMAGE_NAME_H_
#define WORKER_CHECKPOINT_IMAGE_NAME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bspnow::worker {

struct StoredName {
  enum class Kind { kImage, kFiles, kText };
  Kind kind;
  std::uint64_t checkpoint = 0;  ///< Not of texts.
  std::uint32_t pid = 0;         ///< Not of texts.
};

/// Nothing unless it is the name of a finished file, as it is written by this program: no sign, no
/// leading zero.
std::optional<StoredName> ParseStoredName(std::string_view name);

/// The same of a file that is not finished: NAME.new by a process, NAME.in<...> from another node.
std::optional<StoredName> ParseUnfinishedName(std::string_view name);

inline constexpr std::string_view kBeingWritten = ".new";
inline constexpr std::string_view kBeingReceived = ".in";

/// c<CHECKPOINT>.files.p<PID>
std::string FilesName(std::uint64_t checkpoint, std::uint32_t pid);

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_IMAGE_NAME_H_
