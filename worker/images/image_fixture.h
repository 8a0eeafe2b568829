// For tests: images of processes that never lived, texts and archives, right in every byte.
#ifndef WORKER_IMAGES_IMAGE_FIXTURE_H_
#define WORKER_IMAGES_IMAGE_FIXTURE_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/scratch_directory.h"
#include "base/unique_fd.h"
#include "runtime/image_format.h"
#include "worker/images/image_file.h"
#include "worker/images/image_name.h"
#include "worker/images/job_files.h"

namespace bspnow {

inline std::string TextNameOf(const std::string& content) {
  const XXH128_hash_t hash = XXH3_128bits(content.data(), content.size());
  return TextName({.hash_high = hash.high64, .hash_low = hash.low64, .bytes = 0, .name = 0});
}

struct InventedImage {
  JobId job;
  std::uint64_t checkpoint;
  std::uint64_t base;
  std::uint32_t pid;
  std::vector<std::string> texts;                ///< Contents.
  std::size_t data_bytes = 3 * kImagePageBytes;  ///< Whole pages.
};

class ImageEncoder {
 public:
  explicit ImageEncoder(const InventedImage& image) : image_(image) {}

  /// The whole file; once.
  std::string Encode() {
    bytes_.assign(kImagePageBytes, '\0');
    constexpr std::uint64_t kAddress = 0x10000;
    Put(header_.regions, ImageRegion{.start = kAddress,
                                     .end = kAddress + 4 * kImagePageBytes,
                                     .protection = PROT_READ | PROT_WRITE,
                                     .flags = 0,
                                     .text = 0,
                                     .reserved = 0,
                                     .text_offset = 0});
    for (const std::string& text : image_.texts) {
      const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
      Put(header_.texts,
          ImageText{
              .hash_high = hash.high64, .hash_low = hash.low64, .bytes = text.size(), .name = 0});
    }
    ImageState state{};
    state.restored_address = kAddress;
    state.restorer_address = kAddress;
    state.registers.rsp = kAddress + kImagePageBytes;
    Put(header_.state, state);
    Put(header_.strings, std::uint64_t{0});
    header_.strings.count = sizeof(std::uint64_t);
    PadToPage();
    header_.data = {.offset = bytes_.size(), .count = image_.data_bytes};
    std::string page(kImagePageBytes, '\0');
    for (std::size_t at = 0; at < image_.data_bytes; at += page.size()) {
      memcpy(page.data(), &at, sizeof at);
      page.back() = static_cast<char>(image_.pid);
      bytes_ += page;
    }
    const std::uint64_t covered = bytes_.size();
    for (std::uint64_t at = kImagePageBytes; at < covered; at += kImageChunkBytes)
      Put(header_.chunks,
          ImageChunk{XXH3_64bits(bytes_.data() + at, std::min(kImageChunkBytes, covered - at))});
    PutHeader();
    return bytes_;
  }

 private:
  template <class Entry>
  void Put(ImageTable& table, const Entry& entry) {
    if (table.count++ == 0) table.offset = bytes_.size();
    bytes_.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  }

  void PadToPage() {
    bytes_.resize((bytes_.size() + kImagePageBytes - 1) / kImagePageBytes * kImagePageBytes);
  }

  void PutHeader() {
    header_.magic = kImageMagic;
    header_.version = kImageVersion;
    header_.kind = static_cast<std::uint32_t>(ImageKind::kProcess);
    header_.complete = kImageComplete;
    header_.job = Value(image_.job);
    header_.checkpoint = image_.checkpoint;
    header_.base = image_.base;
    header_.pid = image_.pid;
    header_.nprocs = image_.pid + 1;
    header_.file_bytes = bytes_.size();
    header_.header_hash = XXH3_64bits(&header_, sizeof header_);
    memcpy(bytes_.data(), &header_, sizeof header_);
  }

  const InventedImage& image_;
  std::string bytes_;
  ImageHeader header_{};
};

inline std::string Encode(const InventedImage& image) { return ImageEncoder(image).Encode(); }

inline void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The archive of an empty directory.
inline void WriteArchive(const std::string& path) {
  const ScratchDirectory empty = ScratchDirectory::InMemory();
  const auto noted = NotedFiles::Note(empty.path(), {});
  ASSERT_TRUE(noted.ok());
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  ASSERT_TRUE(noted->Write(file.get(), {}).ok());
}

/// Flips one bit of a file.
inline void Damage(const std::string& path, std::uint64_t at) {
  std::string bytes = ReadFile(path);
  bytes.at(at) ^= 4;
  WriteFile(path, bytes);
}

}  // namespace bspnow

#endif  // WORKER_IMAGES_IMAGE_FIXTURE_H_
