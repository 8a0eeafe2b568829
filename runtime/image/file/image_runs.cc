#include "runtime/image/file/image_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/freestanding/raw_call.h"
#include "runtime/image/file/image_hash.h"

namespace bspnow::runtime {
namespace {

const void* At(std::uint64_t address) { return reinterpret_cast<const void*>(address); }

// Reads what sanitizers guard.
__attribute__((no_sanitize("address", "thread"))) bool IsZero(std::uint64_t page) {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(page);
  for (std::size_t i = 0; i < kImagePageBytes / sizeof *words; i += 8) {
    const std::uint64_t any = words[i] | words[i + 1] | words[i + 2] | words[i + 3] | words[i + 4] |
                              words[i + 5] | words[i + 6] | words[i + 7];
    if (any != 0) return false;
  }
  return true;
}

bool Unreadable(const Mapping& mapping) { return (mapping.region.protection & PROT_READ) == 0; }

void ProtectUnreadable(const ImageWork& work, std::uint32_t added) {
  for (const Mapping& mapping : work.mappings) {
    if (!Unreadable(mapping)) continue;
    const ImageRegion& region = mapping.region;
    RawCall(SYS_mprotect, region.start, region.end - region.start, region.protection | added);
  }
}

void AddRun(std::uint64_t page, ImageRun::Kind kind, std::uint64_t data_bytes, ImageWork& work) {
  const bool longer = work.runs.size() > 0 && work.runs.back().kind == kind &&
                      work.runs.back().start + work.runs.back().bytes == page;
  if (longer) {
    work.runs.back().bytes += kImagePageBytes;
  } else {
    work.runs.Add({.start = page,
                   .bytes = kImagePageBytes,
                   .kind = kind,
                   .reserved = 0,
                   .offset = kind == ImageRun::kData ? data_bytes : 0});
  }
}

/// The mapping goes on where `before`, a text, ended, in the file, too.
bool Continues(const Mapping& mapping, const Mapping& before) {
  return before.inode == mapping.inode && before.device == mapping.device &&
         before.readable_end == mapping.region.start &&
         before.file_offset + (before.region.end - before.region.start) == mapping.file_offset;
}

long WriteAll(long file, std::uint64_t address, std::uint64_t bytes) {
  while (bytes > 0) {
    const long n = RawCall(SYS_write, file, address, bytes);
    if (n == -EINTR) continue;
    if (n <= 0) return n == 0 ? ENOSPC : -n;
    address += static_cast<std::uint64_t>(n);
    bytes -= static_cast<std::uint64_t>(n);
  }
  return 0;
}

// Its worker checks, syncs and renames it; another process may be writing it just now.
long WriteText(int directory, const ImageText& text, std::uint64_t start) {
  FixedText<64> name;
  name << "text-" << Hash128{text.hash_high, text.hash_low};
  if (RawCall(SYS_faccessat, directory, name.text(), 0) == 0) return 0;
  name << ".new";
  const long file = RawCall(SYS_openat, directory, name.text(),
                            O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kImageMode);
  if (file < 0) return file == -EEXIST ? 0 : -file;
  RawCall(SYS_fchmod, file, kImageMode);
  const long error = WriteAll(file, start, text.bytes);
  RawCall(SYS_close, file);
  if (error != 0) RawCall(SYS_unlinkat, directory, name.text(), 0);
  return error;
}

}  // namespace

void OpenUnreadable(const ImageWork& work) { ProtectUnreadable(work, PROT_READ); }
void CloseUnreadable(const ImageWork& work) { ProtectUnreadable(work, PROT_NONE); }

void MakeRegions(ImageWork& work) {
  const Mapping* before = nullptr;  // The text before this mapping.
  for (Mapping& mapping : work.mappings) {
    ImageRegion& region = mapping.region;
    if ((region.flags & ImageRegion::kText) != 0) {
      if (before == nullptr || !Continues(mapping, *before)) {
        work.texts.Add(ImageText{.hash_high = 0, .hash_low = 0, .bytes = 0, .name = mapping.path});
      }
      region.text = static_cast<std::uint32_t>(work.texts.size() - 1);
      region.text_offset = work.texts.back().bytes;
      work.texts.back().bytes += mapping.readable_end - region.start;
      before = &mapping;
    } else {
      before = nullptr;
    }
    work.regions.Add(region);
  }
  for (const ImageRegion& region : work.regions) {
    if ((region.flags & ImageRegion::kText) == 0 || region.text_offset != 0) continue;
    ImageText& text = work.texts[region.text];
    const Hash128 hash =
        ImageHashText(At(region.start), text.bytes, work.io_buffers[0], kImageBufferBytes);
    text.hash_high = hash.high;
    text.hash_low = hash.low;
  }
}

std::uint64_t MakeRuns(ImageWork& work) {
  const bool has_base = work.header.base != 0;
  std::uint64_t data_bytes = 0;
  for (const PageRange& range : work.ranges) {
    if (range.kind == ImageRun::kZero) {
      work.runs.Add({.start = range.start,
                     .bytes = range.end - range.start,
                     .kind = ImageRun::kZero,
                     .reserved = 0,
                     .offset = 0});
      continue;
    }
    for (std::uint64_t page = range.start; page < range.end; page += kImagePageBytes) {
      if (!IsZero(page)) {
        AddRun(page, ImageRun::kData, data_bytes, work);
        data_bytes += kImagePageBytes;
      } else if (has_base) {
        AddRun(page, ImageRun::kZero, 0, work);
      }
    }
  }
  return data_bytes;
}

long WriteTexts(ImageWork& work) {
  for (const ImageRegion& region : work.regions) {
    if ((region.flags & ImageRegion::kText) == 0 || region.text_offset != 0) continue;
    const long error = WriteText(work.request.directory, work.texts[region.text], region.start);
    if (error != 0) return error;
  }
  return 0;
}

}  // namespace bspnow::runtime
