// A small image, whole and with right checksums, for tests that then damage it.
#ifndef WORKER_CHECKPOINT_TESTING_MADE_IMAGE_H_
#define WORKER_CHECKPOINT_TESTING_MADE_IMAGE_H_

#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/unique_fd.h"
#include "runtime/image/image_format.h"

namespace bspnow::worker {

/// Change what is to be wrong, then ask for the bytes: checksums are computed last.
struct MadeImage {
  ImageHeader header{};
  std::vector<ImageRegion> regions = {{.start = 0x10000,
                                       .end = 0x20000,
                                       .protection = PROT_READ,
                                       .flags = ImageRegion::kText,
                                       .text = 0,
                                       .reserved = 0,
                                       .text_offset = 0},
                                      {.start = 0x30000,
                                       .end = 0x90000,
                                       .protection = PROT_READ | PROT_WRITE,
                                       .flags = 0,
                                       .text = 0,
                                       .reserved = 0,
                                       .text_offset = 0}};
  std::vector<ImageText> texts = {{.hash_high = 1, .hash_low = 2, .bytes = 0x10000, .name = 1}};
  std::vector<ImageFile> files = {{.descriptor = 5,
                                   .kind = ImageFile::kRegular,
                                   .open_flags = 0,
                                   .descriptor_flags = 0,
                                   .position = 3,
                                   .bytes = 10,
                                   .of = 0,
                                   .mode = 0644,
                                   .path = 1}};
  ImageState state{};
  std::vector<ImageRun> runs = {
      {.start = 0x30000, .bytes = 0x3000, .kind = ImageRun::kData, .reserved = 0, .offset = 0},
      {.start = 0x40000, .bytes = 0x1000, .kind = ImageRun::kZero, .reserved = 0, .offset = 0}};
  std::string strings = std::string("\0/bin/program\0sse2 avx\0", 23);
  std::string data = std::string(0x3000, 'd');

  MadeImage() {
    header.magic = kImageMagic;
    header.version = kImageVersion;
    header.kind = static_cast<std::uint32_t>(ImageKind::kProcess);
    header.complete = kImageComplete;
    header.job = 17;
    header.checkpoint = 7;
    header.superstep = 40;
    header.pid = 3;
    header.nprocs = 4;
    state.directory = 1;
    state.cpu_features = 14;
    state.registers.rsp = 0x50000;
    state.restored_address = 0x30010;
    state.restorer_address = 0x30020;
  }

  /// `mangle` sees the header when all is placed, before it is hashed.
  template <class Mangle>
  std::string Bytes(Mangle mangle) {
    std::string file(kImagePageBytes, '\0');
    const auto place = [&file](const void* from, std::size_t entries, std::size_t entry_bytes) {
      file.resize((file.size() + 7) / 8 * 8);
      const ImageTable table{.offset = file.size(), .count = entries};
      file.append(static_cast<const char*>(from), entries * entry_bytes);
      return table;
    };
    const auto to_page = [&file] {
      file.resize((file.size() + kImagePageBytes - 1) / kImagePageBytes * kImagePageBytes);
    };
    header.regions = place(regions.data(), regions.size(), sizeof(ImageRegion));
    header.texts = place(texts.data(), texts.size(), sizeof(ImageText));
    header.files = place(files.data(), files.size(), sizeof(ImageFile));
    header.state = place(&state, 1, sizeof state);
    const std::size_t runs_bytes = runs.size() * sizeof(ImageRun);
    const std::size_t data_at =
        (file.size() + runs_bytes + strings.size() + 16 + kImagePageBytes - 1) / kImagePageBytes *
        kImagePageBytes;
    for (ImageRun& run : runs) run.offset += run.kind == ImageRun::kData ? data_at : 0;
    header.runs = place(runs.data(), runs.size(), sizeof(ImageRun));
    header.strings = place(strings.data(), strings.size(), 1);
    to_page();
    header.data = {.offset = file.size(), .count = data.size()};
    file += data;
    to_page();
    const std::size_t covered = file.size();
    std::vector<ImageChunk> chunks;
    for (std::size_t at = kImagePageBytes; at < covered; at += kImageChunkBytes) {
      const std::size_t bytes = std::min(kImageChunkBytes, covered - at);
      chunks.push_back({.hash = XXH3_64bits(file.data() + at, bytes)});
    }
    header.chunks = place(chunks.data(), chunks.size(), sizeof(ImageChunk));
    header.file_bytes = file.size();
    mangle(header);
    header.header_hash = 0;
    header.header_hash = XXH3_64bits(&header, sizeof header);
    std::memcpy(file.data(), &header, sizeof header);
    return file;
  }
  std::string Bytes() {
    return Bytes([](ImageHeader&) {});
  }
};

/// A file without a name that holds `bytes`.
inline UniqueFd FileOf(std::string_view bytes) {
  UniqueFd file(memfd_create("image", MFD_CLOEXEC));
  BSP_CHECK(file.valid());
  BSP_CHECK(write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  return file;
}

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_TESTING_MADE_IMAGE_H_
