// Checks that the tables of an image are consistent: every offset and length stays within its
// target.
#ifndef WORKER_CHECKPOINT_IMAGE_TABLES_H_
#define WORKER_CHECKPOINT_IMAGE_TABLES_H_

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/image/image_format.h"

namespace bspnow::worker {

/// A file up to its data, `bytes`, and the header's own copy in front of it.
class ImageTables {
 public:
  ImageTables(const ImageHeader& header, std::vector<std::byte> bytes)
      : header_(header), bytes_(std::move(bytes)) {}

  /// Checks the header alone: it says how much of the file may be read.
  static absl::Status CheckHeader(const ImageHeader& header, std::uint64_t file_bytes);

  /// Checks everything else. After success the accessors below are safe.
  absl::Status Check() const;

  template <class T>
  const T& At(const ImageTable& table, std::uint64_t i) const {
    return reinterpret_cast<const T*>(bytes_.data() + table.offset)[i];
  }
  const char* String(std::uint64_t offset) const {
    return reinterpret_cast<const char*>(bytes_.data() + header_.strings.offset + offset);
  }

 private:
  absl::Status CheckRegions() const;
  absl::Status CheckRuns() const;
  absl::Status CheckFiles() const;
  absl::Status CheckState() const;
  absl::Status CheckAreas() const;
  bool InStrings(std::uint64_t offset) const { return offset < header_.strings.count; }
  bool InWritableRegion(std::uint64_t address, std::uint64_t bytes) const;

  ImageHeader header_;
  std::vector<std::byte> bytes_;
};

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_IMAGE_TABLES_H_
