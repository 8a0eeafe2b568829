// Fuzzes the unpacking of a job's files, whose archive a bad disk or another node may have changed.
// The input is a list of changes to a good archive; its checksums are then put right. Whatever it
// says, nothing is written but below the directory.
#include <xxhash.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/check.h"
#include "base/testing/file_text.h"
#include "base/testing/scratch_directory.h"
#include "files/job_files.h"

namespace bspnow {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = 512;  // Of tar.
constexpr std::size_t kMagicAt = 257;
constexpr std::size_t kSumAt = 148;
constexpr std::size_t kSumBytes = 8;
constexpr std::size_t kChangeBytes = 3;

std::string GoodArchive() {
  const ScratchDirectory scratch = ScratchDirectory::InMemory();
  const std::string job = scratch.path() + "/job";
  fs::create_directories(job + "/d/e");
  std::ofstream(job + "/d/file") << "text";
  fs::create_symlink("..", job + "/d/link");
  std::ofstream(job + "/sparse") << "begin";
  fs::resize_file(job + "/sparse", 1 << 20);
  const auto noted = files::NotedFiles::Note(job, {});
  BSP_CHECK(noted.ok());
  std::FILE* const file = std::fopen((scratch.path() + "/archive").c_str(), "wb");
  BSP_CHECK(noted->Write(fileno(file), {{.pid = Pid{1}, .stream = 1, .text = "half"}}).ok());
  std::fclose(file);
  return FileText(scratch.path() + "/archive");
}

void Repair(std::string& archive) {
  const std::size_t end = archive.size() - sizeof(std::uint64_t);
  for (std::size_t at = 0; at + kBlockBytes <= end; at += kBlockBytes) {
    if (archive.compare(at + kMagicAt, 5, "ustar") != 0) continue;
    archive.replace(at + kSumAt, kSumBytes, kSumBytes, ' ');
    unsigned sum = 0;
    for (std::size_t i = 0; i < kBlockBytes; ++i)
      sum += static_cast<unsigned char>(archive[at + i]);
    std::snprintf(archive.data() + at + kSumAt, kSumBytes, "%06o", sum);
  }
  const std::uint64_t sum = XXH3_64bits(archive.data(), end);
  std::memcpy(archive.data() + end, &sum, sizeof sum);
}

}  // namespace
}  // namespace bspnow

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace bspnow;
  static const std::string good = GoodArchive();
  std::string archive = good;
  for (std::size_t at = 0; at + kChangeBytes <= bytes; at += kChangeBytes) {
    std::uint16_t offset = 0;
    std::memcpy(&offset, data + at, sizeof offset);
    archive[offset % archive.size()] = static_cast<char>(data[at + 2]);
  }
  Repair(archive);
  const ScratchDirectory scratch = ScratchDirectory::InMemory();
  fs::create_directories(scratch.path() + "/outer/job");
  std::ofstream(scratch.path() + "/archive", std::ios::binary) << archive;
  const auto facts =
      files::UnpackJobFiles(scratch.path() + "/archive", scratch.path() + "/outer/job");
  BSP_CHECK(facts.ok() || archive != good);
  const auto entries = [](const std::string& path) {
    return std::distance(fs::directory_iterator(path), fs::directory_iterator());
  };
  BSP_CHECK_OP(entries(scratch.path()), ==, 2);
  BSP_CHECK_OP(entries(scratch.path() + "/outer"), ==, 1);
  return 0;
}
