// For tests: images of processes that never lived, texts and archives, right in every byte.
#ifndef WORKER_CHECKPOINT_TESTING_IMAGE_FIXTURE_H_
#define WORKER_CHECKPOINT_TESTING_IMAGE_FIXTURE_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <string.h>
#include <xxhash.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/testing/file_text.h"
#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"
#include "files/job_files.h"
#include "worker/checkpoint/image_file.h"
#include "worker/checkpoint/image_name.h"
#include "worker/checkpoint/testing/made_image.h"

namespace bspnow::worker {

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

inline std::string Encode(const InventedImage& invented) {
  MadeImage image;
  image.header.job = Value(invented.job);
  image.header.checkpoint = invented.checkpoint;
  image.header.base = invented.base;
  image.header.pid = invented.pid;
  image.header.nprocs = invented.pid + 1;
  image.regions.erase(image.regions.begin());  // What is left needs none of the texts.
  image.texts.clear();
  for (const std::string& text : invented.texts) {
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    image.texts.push_back(
        {.hash_high = hash.high64, .hash_low = hash.low64, .bytes = text.size(), .name = 0});
  }
  image.files.clear();
  image.runs.clear();
  std::string page(kImagePageBytes, static_cast<char>(invented.pid));
  image.data.clear();
  for (std::size_t at = 0; at < invented.data_bytes; at += page.size()) {
    memcpy(page.data(), &at, sizeof at);
    image.data += page;
  }
  return image.Bytes();
}

inline void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// The archive of an empty directory.
inline void WriteArchive(const std::string& path) {
  const ScratchDirectory empty = ScratchDirectory::InMemory();
  const auto noted = files::NotedFiles::Note(empty.path(), {});
  ASSERT_TRUE(noted.ok());
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  ASSERT_TRUE(noted->Write(file.get(), {}).ok());
}

/// Flips one bit of a file.
inline void Damage(const std::string& path, std::uint64_t at) {
  std::string bytes = FileText(path);
  bytes.at(at) ^= 4;
  WriteFile(path, bytes);
}

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_TESTING_IMAGE_FIXTURE_H_
