// One file on its way into the store, from another node.
#ifndef WORKER_IMAGES_IMAGE_RECEPTION_H_
#define WORKER_IMAGES_IMAGE_RECEPTION_H_

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/durable_file.h"
#include "base/ids.h"
#include "worker/images/image_store.h"

namespace bspnow {

/// Goes away unless it is committed. The store outlives it.
class ImageReception {
 public:
  /// For ImageStore::Receive.
  ImageReception(ImageStore& store, JobId job, std::string name, std::uint64_t bytes,
                 DurableFile file);
  ~ImageReception();

  absl::Status Append(std::string_view bytes);

  /// Verified, and there under its name.
  absl::Status Commit(Durability durability);

 private:
  ImageStore& store_;
  const JobId job_;
  const std::string name_;
  const std::uint64_t bytes_;
  DurableFile file_;
};

}  // namespace bspnow

#endif  // WORKER_IMAGES_IMAGE_RECEPTION_H_
