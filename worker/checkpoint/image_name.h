// The names of files in a job's directory of images (runtime/image/image_format.h). Names also
// arrive over the network: a name of any other form is refused.
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

/// Parses the name of a finished file. Only the spelling that this program writes is accepted:
/// numbers without sign or leading zero.
std::optional<StoredName> ParseStoredName(std::string_view name);

/// The same for an unfinished file: NAME.new comes from a process, NAME.in<...> from another node.
std::optional<StoredName> ParseUnfinishedName(std::string_view name);

inline constexpr std::string_view kBeingWritten = ".new";
inline constexpr std::string_view kBeingReceived = ".in";
/// Of a text in a directory that is shared, while its worker makes sure that no image needs it.
inline constexpr std::string_view kPutAside = ".aside";

/// c<CHECKPOINT>.files.p<PID>
std::string FilesName(std::uint64_t checkpoint, std::uint32_t pid);

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_IMAGE_NAME_H_
