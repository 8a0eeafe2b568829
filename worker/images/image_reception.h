// One file on its way into the store, from another node.
#ifndef WORKER_IMAGES_IMAGE_RECEPTION_H_
#define WORKER_IMAGES_IMAGE_RECEPTION_H_

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/unique_fd.h"
#include "worker/images/image_store.h"

namespace bspnow {

/// Has a temporary name; goes away unless it is committed. The store outlives it.
class ImageReception {
 public:
  /// For ImageStore::Receive.
  ImageReception(ImageStore& store, JobId job, std::string name, std::uint64_t bytes);
  ~ImageReception();

  absl::Status Append(std::string_view bytes);

  enum class Durability {
    kSynced,
    kCached,  ///< To be read now; after a crash of this machine it may be damaged.
  };

  /// Verified, and there under its name.
  absl::Status Commit(Durability durability);

 private:
  friend class ImageStore;

  ImageStore& store_;
  const JobId job_;
  const std::string name_;
  std::string temporary_;  ///< Beside it.
  const std::uint64_t bytes_;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t written_behind_bytes_ = 0;  ///< That the disk was told to write already.
  UniqueFd file_;
};

}  // namespace bspnow

#endif  // WORKER_IMAGES_IMAGE_RECEPTION_H_
