// Fuzzes the reader of image files, which a torn write, a bad disk or another node may have
// changed. The input is a list of changes to a good image; little gets past its checksums, so they
// are corrected afterwards.
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "base/check.h"
#include "base/unique_fd.h"
#include "worker/checkpoint/image_file.h"
#include "worker/checkpoint/testing/made_image.h"

namespace bspnow {
namespace {

struct Change {
  std::uint16_t offset;
  std::uint8_t value;
};
constexpr std::size_t kChangeBytes = 3;
constexpr std::uint64_t kSparseBytesMax = std::uint64_t{1} << 44;

std::string Changed(std::string image, const std::uint8_t* data, std::size_t bytes) {
  for (std::size_t at = 0; at + kChangeBytes <= bytes; at += kChangeBytes) {
    Change change;
    std::memcpy(&change.offset, data + at, sizeof change.offset);
    change.value = data[at + 2];
    image[change.offset % image.size()] = static_cast<char>(change.value);
  }
  return image;
}

void Repair(std::string& image) {
  ImageHeader header;
  std::memcpy(&header, image.data(), sizeof header);
  header.header_hash = 0;
  header.header_hash = XXH3_64bits(&header, sizeof header);
  std::memcpy(image.data(), &header, sizeof header);
}

}  // namespace
}  // namespace bspnow

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace bspnow;
  const std::string good = worker::MadeImage().Bytes();
  std::string image = Changed(good, data, bytes);
  const bool same = image == good;
  // The bytes after the header that nothing reads may differ.
  std::memset(image.data() + sizeof(ImageHeader), 0, kImagePageBytes - sizeof(ImageHeader));
  const UniqueFd damaged = worker::FileOf(image);
  BSP_CHECK(worker::VerifyImage(damaged.get(), "image").ok() == same || image == good);
  Repair(image);
  const UniqueFd repaired = worker::FileOf(image);
  const auto facts = worker::ReadImageFacts(repaired.get(), "image");
  if (facts.ok()) BSP_CHECK_OP(facts->data_bytes, <, image.size());
  // The file is as large as it says, with holes.
  ImageHeader header;
  std::memcpy(&header, image.data(), sizeof header);
  const auto file_bytes = static_cast<off_t>(header.file_bytes % kSparseBytesMax);
  if (ftruncate(repaired.get(), file_bytes) == 0) {
    (void)worker::ReadImageFacts(repaired.get(), "image").ok();
  }
  return 0;
}
