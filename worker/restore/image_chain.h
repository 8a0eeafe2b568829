// The images of one process, from the one that stands alone to the newest. Their tables are in
// memory, their pages are not.
#ifndef WORKER_RESTORE_IMAGE_CHAIN_H_
#define WORKER_RESTORE_IMAGE_CHAIN_H_

#include "runtime/image/image_format.h"
#include "worker/restore/options.h"

namespace bspnow::worker::restore {

/// A table in memory.
template <class T>
struct Table {
  const T* first = nullptr;
  std::uint64_t count = 0;

  const T* begin() const { return first; }
  const T* end() const { return first + count; }
};

struct Image {
  int file;
  ImageHeader header;
  const std::byte* front;  ///< The file up to its data.

  Table<ImageRegion> regions() const { return At<ImageRegion>(header.regions); }
  Table<ImageText> texts() const { return At<ImageText>(header.texts); }
  Table<ImageFile> files() const { return At<ImageFile>(header.files); }
  Table<ImageRun> runs() const { return At<ImageRun>(header.runs); }
  const ImageState& state() const { return *At<ImageState>(header.state).first; }

  const char* String(std::uint64_t offset) const {
    if (offset >= header.strings.count) return "?";
    return reinterpret_cast<const char*>(front + header.strings.offset + offset);
  }

 private:
  template <class T>
  Table<T> At(const ImageTable& table) const {
    return {reinterpret_cast<const T*>(front + table.offset), table.count};
  }
};

struct ImageChain {
  Image images[kImagesMax];  ///< Oldest first.
  int count = 0;

  const Image& newest() const { return images[count - 1]; }
};

/// Reads the headers and checks that they are images of one process, each built on the one before.
void OpenChain(const Options& options, ImageChain& chain);

/// The memory that all tables take.
std::uint64_t FrontBytes(const ImageChain& chain);

/// Reads them to `place`, and checks that they stay within it.
void LoadFronts(ImageChain& chain, std::byte* place);

}  // namespace bspnow::worker::restore

#endif  // WORKER_RESTORE_IMAGE_CHAIN_H_
