#include "worker/restore/image_chain.h"

#include "base/freestanding/raw_call.h"
#include "worker/restore/failure.h"

namespace bspnow::worker::restore {
namespace {

void ReadAt(const Image& image, void* place, std::uint64_t bytes, std::uint64_t offset) {
  auto* to = static_cast<std::byte*>(place);
  while (bytes != 0) {
    const long n = RawCall(SYS_pread64, image.file, to, bytes, offset);
    if (n < 0) Fail("reading an image: ", CallError{n});
    if (n == 0) Fail("an image ends at byte ", offset, ", before its tables do");
    to += n;
    bytes -= static_cast<std::uint64_t>(n);
    offset += static_cast<std::uint64_t>(n);
  }
}

void CheckHeader(const ImageChain& chain, int number) {
  const ImageHeader& header = chain.images[number].header;
  const auto position = static_cast<std::uint64_t>(number + 1);
  if (header.magic != kImageMagic) Fail("image ", position, " of the chain is no image");
  if (header.version != kImageVersion) {
    Fail("image ", position, " of the chain has format version ", header.version,
         ", this program reads ", kImageVersion);
  }
  if (header.complete != kImageComplete) Fail("image ", position, " of the chain is incomplete");
  if (header.kind != static_cast<std::uint32_t>(ImageKind::kProcess)) {
    Fail("image ", position, " of the chain holds areas, not a process");
  }
  const ImageHeader* before = number == 0 ? nullptr : &chain.images[number - 1].header;
  const std::uint64_t expected = before == nullptr ? 0 : before->checkpoint;
  if (header.base != expected) {
    Fail("image ", position, " of the chain builds on checkpoint ", header.base, ", not on ",
         expected);
  }
  if (before != nullptr && (header.pid != before->pid || header.job != before->job)) {
    Fail("images of pid ", before->pid, " and of pid ", header.pid, " are in one chain");
  }
}

void CheckTable(const Image& image, const ImageTable& table, std::uint64_t entry_bytes) {
  const std::uint64_t end = image.header.data.offset;
  if (table.offset > end || table.count > (end - table.offset) / entry_bytes) {
    Fail("a table of the image of pid ", image.header.pid, " is damaged");
  }
}

void CheckTables(const Image& image) {
  const ImageHeader& header = image.header;
  CheckTable(image, header.regions, sizeof(ImageRegion));
  CheckTable(image, header.texts, sizeof(ImageText));
  CheckTable(image, header.files, sizeof(ImageFile));
  CheckTable(image, header.state, sizeof(ImageState));
  CheckTable(image, header.runs, sizeof(ImageRun));
  CheckTable(image, header.strings, 1);
  if (header.state.count != 1) Fail("the image of pid ", header.pid, " lacks its state");
}

}  // namespace

void OpenChain(const Options& options, ImageChain& chain) {
  for (int i = 0; i < options.image_count; ++i) {
    Image& image = chain.images[chain.count++];
    image.file = options.images[i];
    ReadAt(image, &image.header, sizeof image.header, 0);
    CheckHeader(chain, i);
  }
}

std::uint64_t FrontBytes(const ImageChain& chain) {
  std::uint64_t bytes = 0;
  for (int i = 0; i < chain.count; ++i) bytes += chain.images[i].header.data.offset;
  return bytes;
}

void LoadFronts(ImageChain& chain, std::byte* place) {
  for (int i = 0; i < chain.count; ++i) {
    Image& image = chain.images[i];
    ReadAt(image, place, image.header.data.offset, 0);
    image.front = place;
    place += image.header.data.offset;
    CheckTables(image);
  }
}

}  // namespace bspnow::worker::restore
