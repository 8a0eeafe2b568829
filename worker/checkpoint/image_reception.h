// One file on its way into the store, from another node.
#ifndef WORKER_CHECKPOINT_IMAGE_RECEPTION_H_
#define WORKER_CHECKPOINT_IMAGE_RECEPTION_H_

#include <absl/status/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/durable_file.h"
#include "base/ids.h"
#include "files/file_sink.h"
#include "worker/checkpoint/image_store.h"

namespace bspnow::worker {

/// Accepts one file, which must have this name, and replaces an existing one. If the file does not
/// arrive completely, nothing of it stays. The store outlives the reception.
class ImageReception final : public files::FileSink {
 public:
  ImageReception(ImageStore& store, JobId job, std::string name, Durability durability)
      : store_(store), job_(job), name_(std::move(name)), durability_(durability) {}
  ~ImageReception() override;

  absl::Status Begin(const files::FileHead& head) override;
  absl::Status Append(std::string_view bytes) override;

  /// Verifies the file and gives it its name.
  absl::Status Finish() override;

 private:
  ImageStore& store_;
  const JobId job_;
  const std::string name_;
  const Durability durability_;
  std::uint64_t bytes_ = 0;  ///< As announced.
  std::optional<DurableFile> file_;
};

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_IMAGE_RECEPTION_H_
