// What saving an image needs for itself: one mapping that is no part of the image, with the tables
// of the file as they grow, the buffers, and the stack on which the file is written.
#ifndef RUNTIME_IMAGE_IMAGE_WORK_H_
#define RUNTIME_IMAGE_IMAGE_WORK_H_

#include <cstddef>
#include <cstdint>

#include "base/freestanding/line_reader.h"
#include "base/freestanding/raw_call.h"
#include "base/freestanding/text.h"
#include "runtime/image/image_format.h"
#include "runtime/image/process_image.h"

namespace bspnow::runtime {

/// Why there is no image, as text for people.
using Reason = FixedText<400>;

/// A table that cannot move, for its place is limited. An item that finds no room is left out, and
/// overflown() is true.
template <typename T>
class FixedList {
 public:
  void Place(std::byte* at, std::size_t bytes) {
    items_ = reinterpret_cast<T*>(at);
    capacity_ = bytes / sizeof(T);
  }

  void Add(const T& item) {
    if (size_ == capacity_) {
      overflown_ = true;
    } else {
      items_[size_++] = item;
    }
  }

  void Truncate(std::size_t size) { size_ = size; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool overflown() const { return overflown_; }
  T& operator[](std::size_t i) { return items_[i]; }
  const T& operator[](std::size_t i) const { return items_[i]; }
  T& back() { return items_[size_ - 1]; }
  T* begin() { return items_; }
  T* end() { return items_ + size_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }

 private:
  T* items_;
  std::size_t size_;
  std::size_t capacity_;
  bool overflown_;
};

/// One line of /proc/self/maps, as far as it goes into the image.
struct Mapping {
  enum Kind : std::uint32_t {
    kAnonymous,
    kFile,  ///< Private, of a file; also the vdso.
  };
  ImageRegion region;
  Kind kind;
  std::uint32_t resident;  ///< 0: has no pages in memory or in swap.
  std::uint64_t device;
  std::uint64_t inode;
  std::uint64_t file_offset;
  std::uint64_t path;          ///< In the strings; 0: none.
  std::uint64_t readable_end;  ///< Of a file: the end of its last page.
};

/// Pages that go into the image; those of kData that turn out to be zero take no space.
struct PageRange {
  std::uint64_t start;
  std::uint64_t end;
  ImageRun::Kind kind;
};

struct AddressRange {
  std::uint64_t start;
  std::uint64_t end;
};

inline constexpr std::size_t kImageBufferBytes = std::size_t{4} << 20;

/// Lies at the start of its mapping, all zero at first.
struct ImageWork {
  /// Null if the system gives no address space. `request` is copied.
  static ImageWork* Map(const ImageRequest& request);
  void Unmap();

  /// Returns its offset in `strings`. The empty text is at 0.
  std::uint64_t AddString(TextPiece text);
  TextPiece StringAt(std::uint64_t offset) const;
  void EndString() { strings.Add('\0'); }
  bool Overflown() const;

  AddressRange mapping;  ///< This.
  ImageRequest request;
  Reason reason;

  ImageHeader header;
  ImageState state;
  FixedList<Mapping> mappings;
  FixedList<PageRange> ranges;
  FixedList<ImageRegion> regions;
  FixedList<ImageText> texts;
  FixedList<ImageFile> files;
  FixedList<std::uint32_t> open_files;  ///< Of `files`, without duplicates, as kcmp orders them.
  FixedList<ImageArea> areas;
  FixedList<ImageRun> runs;
  FixedList<char> strings;
  FixedList<ImageChunk> chunks;
  const SavedArea* saved_areas;
  int tracker;        ///< See changed_pages.h.
  int writer_parent;  ///< The process that is saved, if a child of it writes.

  char* text_buffer;  ///< For LineReader.
  std::size_t text_buffer_bytes;
  std::byte* io_buffers[2];  ///< kImageBufferBytes each.
  std::byte* stack_top;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_IMAGE_WORK_H_
