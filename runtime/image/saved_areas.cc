// ProcessImage::SaveAreas and LoadAreas of process_image.h.
#include <errno.h>

#include <algorithm>

#include "base/freestanding/raw_call.h"
#include "runtime/image/file/image_hash.h"
#include "runtime/image/file/image_writer.h"
#include "runtime/image/image_work.h"
#include "runtime/image/proc/blocked_signals.h"
#include "runtime/image/process_image.h"

namespace bspnow::runtime {
namespace {

std::uint64_t PaddedBytes(std::uint64_t bytes) {
  return (bytes + kImagePageBytes - 1) / kImagePageBytes * kImagePageBytes;
}

bool ReadAt(int file, void* to, std::uint64_t bytes, std::uint64_t offset) {
  auto* next = static_cast<std::byte*>(to);
  while (bytes > 0) {
    const long n = RawCall(SYS_pread64, file, next, bytes, offset);
    if (n == -EINTR) continue;
    if (n <= 0) return false;
    next += n;
    bytes -= static_cast<std::uint64_t>(n);
    offset += static_cast<std::uint64_t>(n);
  }
  return true;
}

bool HeaderIsSound(ImageHeader header) {
  const std::uint64_t hash = header.header_hash;
  header.header_hash = 0;
  return header.magic == kImageMagic && header.complete == kImageComplete &&
         ImageHash(&header, sizeof header) == hash;
}

/// All bytes but the header are what they were.
bool ContentIsSound(int image, const ImageHeader& header, std::byte* buffer) {
  for (std::uint64_t i = 0; i < header.chunks.count; ++i) {
    const std::uint64_t start = kImagePageBytes + i * kImageChunkBytes;
    if (start >= header.chunks.offset) return false;
    const std::uint64_t bytes =
        std::min<std::uint64_t>(kImageChunkBytes, header.chunks.offset - start);
    ImageChunk chunk;
    if (!ReadAt(image, buffer, bytes, start) ||
        !ReadAt(image, &chunk, sizeof chunk, header.chunks.offset + i * sizeof chunk) ||
        ImageHash(buffer, bytes) != chunk.hash) {
      return false;
    }
  }
  return true;
}

/// The areas are those that were saved, in number and size; else `reason` names the difference.
bool AreasMatch(int image, const ImageHeader& header, const SavedArea* areas, std::size_t count,
                Reason& reason) {
  if (header.areas.count != count) {
    reason << "the checkpoint has " << header.areas.count << " areas, and ";
    reason << count << " are registered now";
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    ImageArea area{};
    ReadAt(image, &area, sizeof area, header.areas.offset + i * sizeof area);
    if (area.bytes == areas[i].bytes) continue;
    reason << "area " << i << " has " << area.bytes;
    reason << " bytes in the checkpoint, and " << areas[i].bytes << " now";
    return false;
  }
  return true;
}

bool Load(int image, const SavedArea* areas, std::size_t count, ImageWork& work) {
  ImageHeader& header = work.header;
  Reason& reason = work.reason;
  if (!ReadAt(image, &header, sizeof header, 0) || !HeaderIsSound(header)) {
    reason << "the checkpoint is damaged or incomplete";
  } else if (header.version != kImageVersion) {
    reason << "the checkpoint was written by another version of libbsp";
  } else if (header.kind != static_cast<std::uint32_t>(ImageKind::kAreas)) {
    reason << "the checkpoint is the image of a whole process";
  } else if (!ContentIsSound(image, header, work.io_buffers[0])) {
    reason << "the checkpoint is damaged";
  } else {
    AreasMatch(image, header, areas, count, reason);
  }
  std::uint64_t offset = header.data.offset;
  for (std::size_t i = 0; i < count && reason.empty(); ++i) {
    if (!ReadAt(image, areas[i].data, areas[i].bytes, offset)) {
      reason << "the checkpoint cannot be read";
    }
    offset += PaddedBytes(areas[i].bytes);
  }
  return reason.empty();
}

}  // namespace

ImageOutcome ProcessImage::SaveAreas(const ImageRequest& request, const SavedArea* areas,
                                     std::size_t count) {
  AwaitWriter();
  ImageWork* const work = ImageWork::Map(request);
  if (work == nullptr) {
    Reason reason;
    reason << "no address space for the tables of the image";
    ReportRefusal(request, reason);
    return ImageOutcome::kRefused;
  }
  work->header.kind = static_cast<std::uint32_t>(ImageKind::kAreas);
  work->saved_areas = areas;
  for (std::size_t i = 0; i < count; ++i) work->areas.Add({.bytes = areas[i].bytes});
  {
    const BlockedSignals signals;
    writer_ = SnapshotAndWrite(*work);
  }
  work->Unmap();
  return ImageOutcome::kStarted;
}

bool LoadAreas(int image, const SavedArea* areas, std::size_t count, char* reason,
               std::size_t reason_bytes) {
  ImageRequest request{};
  ImageWork* const work = ImageWork::Map(request);
  Reason why;
  bool loaded = false;
  if (work == nullptr) {
    why << "no address space to check the checkpoint";
  } else {
    loaded = Load(image, areas, count, *work);
    why = work->reason;
    work->Unmap();
  }
  if (reason_bytes > 0) {
    const std::size_t bytes = std::min(reason_bytes - 1, why.size());
    std::copy(why.text(), why.text() + bytes, reason);
    reason[bytes] = '\0';
  }
  return loaded;
}

}  // namespace bspnow::runtime
