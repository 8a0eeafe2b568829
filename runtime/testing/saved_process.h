// Tests that save the process they run in: each forks one of its own, which saves itself, reads the
// image, and compares it with its memory, which is still what it was.
#ifndef RUNTIME_TESTING_SAVED_PROCESS_H_
#define RUNTIME_TESTING_SAVED_PROCESS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/mapped_region.h"
#include "base/unique_fd.h"
#include "runtime/image/process_image.h"

namespace bspnow::runtime {

/// Memory as it is, whatever sanitizers guard in it.
std::string MemoryAt(std::uint64_t address, std::size_t bytes);

inline constexpr std::size_t kPages = 1000;
inline constexpr std::size_t kBytes = kPages * kImagePageBytes;

/// Pages that hold something.
class FilledPages {
 public:
  FilledPages();
  /// Writes something new to it.
  void Touch(std::size_t page);
  std::byte* at(std::size_t page) const { return region_.data() + page * kImagePageBytes; }

 private:
  MappedRegion region_;
  int touches_ = 0;
};

/// An image file, read as a whole.
class ReadImage {
 public:
  explicit ReadImage(const std::string& path);

  const ImageHeader& header() const { return *At<ImageHeader>(0); }
  const ImageState& state() const { return *At<ImageState>(header().state.offset); }
  std::vector<ImageRegion> regions() const { return Table<ImageRegion>(header().regions); }
  std::vector<ImageText> texts() const { return Table<ImageText>(header().texts); }
  std::vector<ImageFile> files() const { return Table<ImageFile>(header().files); }
  std::vector<ImageRun> runs() const { return Table<ImageRun>(header().runs); }
  std::vector<ImageArea> areas() const { return Table<ImageArea>(header().areas); }
  std::string String(std::uint64_t offset) const;
  std::string Bytes(std::uint64_t offset, std::uint64_t bytes) const {
    return {At<char>(offset), bytes};
  }

  /// Header and checksums are right, and the tables in order.
  bool IsSound() const;
  /// The region that holds the address; null: none.
  const ImageRegion* RegionOf(const void* address) const;
  /// The run that holds the address; null: none.
  const ImageRun* RunOf(const void* address) const;
  /// The file that lay at the descriptor; null: none.
  const ImageFile* FileAt(int descriptor) const;
  /// Each page of [data, data + bytes) is in a run of data, and equals memory.
  bool Holds(const void* data, std::size_t bytes) const;
  std::uint64_t data_bytes() const { return header().data.count; }
  std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  template <typename T>
  const T* At(std::uint64_t offset) const {
    return reinterpret_cast<const T*>(content_.data() + offset);
  }
  template <typename T>
  std::vector<T> Table(const ImageTable& table) const {
    return {At<T>(table.offset), At<T>(table.offset) + table.count};
  }

  MappedRegion content_;  ///< Not on the heap, where it would swell the next image.
  std::uint64_t file_bytes_;
  std::vector<ImageRegion> regions_;
  std::vector<ImageRun> runs_;
  std::vector<ImageFile> files_;
};

/// The process that saves itself, in a directory of its own.
class SavedProcess {
 public:
  SavedProcess();
  ~SavedProcess();
  SavedProcess(const SavedProcess&) = delete;
  SavedProcess& operator=(const SavedProcess&) = delete;

  ImageRequest Request(std::uint64_t checkpoint, std::uint64_t base) const;
  /// Saves, and waits for the report.
  LinkImageReport Save(std::uint64_t checkpoint, std::uint64_t base);
  LinkImageReport AwaitReport();
  /// Saves and reads; a failure of the test if there is no image.
  ReadImage SaveAndRead(std::uint64_t checkpoint, std::uint64_t base);

  const std::string& directory() const { return directory_; }
  std::string PathOf(std::uint64_t checkpoint) const;
  ProcessImage& image() { return image_; }

 private:
  std::string directory_;
  UniqueFd directory_fd_;
  UniqueFd link_;
  UniqueFd worker_;   ///< The other end; as `doorbell` it is left out of the image,
  UniqueFd mailbox_;  ///< and so is this.
  ProcessImage image_;
};

/// From now on the system call fails with `error` in this process if the low half of its argument
/// number `argument`, from 0, is `value`: as on an older kernel, or in a container.
struct DeniedCall {
  long number;
  unsigned argument;
  std::uint32_t value;
  int error;
};
void Deny(const DeniedCall& call);

/// Runs `body` in a process that was forked for it; its failures are failures of the test.
void InProcess(const std::function<void(SavedProcess&)>& body);

}  // namespace bspnow::runtime

#endif  // RUNTIME_TESTING_SAVED_PROCESS_H_
