#include "worker/checkpoint/image_tables.h"

#include <absl/strings/str_cat.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include <string>

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kAlignment = 8;
constexpr std::uint64_t kAddressesEnd = 0x7ffffffff000;
constexpr std::uint32_t kDescriptorsMax = 1u << 30;

absl::Status Damaged(const std::string& what) {
  return absl::DataLossError(absl::StrCat("damaged: ", what));
}

absl::Status CheckTable(const char* name, const ImageTable& table, std::uint64_t entry_bytes,
                        std::uint64_t from, std::uint64_t to) {
  if (table.count == 0) return absl::OkStatus();
  if (table.offset % kAlignment != 0 || table.offset < from || table.offset > to ||
      table.count > (to - table.offset) / entry_bytes) {
    return Damaged(absl::StrCat("the table of ", name, " lies outside the file"));
  }
  return absl::OkStatus();
}

bool IsPages(std::uint64_t start, std::uint64_t bytes) {
  return start % kImagePageBytes == 0 && bytes % kImagePageBytes == 0 && bytes != 0 &&
         start < kAddressesEnd && bytes <= kAddressesEnd - start;
}

std::uint64_t Hash(ImageHeader header) {
  header.header_hash = 0;
  return XXH3_64bits(&header, sizeof header);
}

absl::Status CheckIdentity(const ImageHeader& header) {
  if (header.magic != kImageMagic) return absl::DataLossError("this is no image");
  if (header.complete != kImageComplete) {
    return absl::DataLossError("incomplete: its writer did not come to an end");
  }
  if (header.version != kImageVersion) {
    return absl::FailedPreconditionError(absl::StrCat("format version ", header.version,
                                                      "; this worker reads ", kImageVersion,
                                                      ": install one version on all nodes"));
  }
  if (header.header_hash != Hash(header)) return Damaged("the header");
  if (header.kind != static_cast<std::uint32_t>(ImageKind::kProcess) &&
      header.kind != static_cast<std::uint32_t>(ImageKind::kAreas)) {
    return Damaged(absl::StrCat("kind ", header.kind));
  }
  if (header.pid >= header.nprocs) return Damaged("its pid is not below the number of processes");
  if (header.base >= header.checkpoint && header.base != 0) return Damaged("it builds on itself");
  return absl::OkStatus();
}

}  // namespace

absl::Status ImageTables::CheckHeader(const ImageHeader& header, std::uint64_t file_bytes) {
  if (absl::Status identity = CheckIdentity(header); !identity.ok()) return identity;
  if (header.file_bytes != file_bytes) {
    return Damaged(absl::StrCat(file_bytes, " bytes instead of ", header.file_bytes));
  }
  const ImageTable& data = header.data;
  const ImageTable& chunks = header.chunks;
  if (data.offset % kImagePageBytes != 0 || data.offset < kImagePageBytes ||
      data.offset > file_bytes || data.count > file_bytes - data.offset ||
      data.count % kImagePageBytes != 0) {
    return Damaged("its data lies outside the file");
  }
  if (data.offset > kImageTablesBytesMax || chunks.count > kImageChunksMax) {
    return Damaged("its tables are larger than any");
  }
  if (chunks.offset < data.offset + data.count || chunks.offset > file_bytes ||
      chunks.offset % kAlignment != 0 ||
      chunks.count != (chunks.offset - kImagePageBytes + kImageChunkBytes - 1) / kImageChunkBytes ||
      (file_bytes - chunks.offset) / sizeof(ImageChunk) < chunks.count) {
    return Damaged("its checksums do not cover it");
  }
  const struct {
    const char* name;
    const ImageTable& table;
    std::uint64_t entry_bytes;
  } tables[] = {
      {"regions", header.regions, sizeof(ImageRegion)},
      {"texts", header.texts, sizeof(ImageText)},
      {"files", header.files, sizeof(ImageFile)},
      {"state", header.state, sizeof(ImageState)},
      {"areas", header.areas, sizeof(ImageArea)},
      {"runs", header.runs, sizeof(ImageRun)},
      {"strings", header.strings, 1},
  };
  for (const auto& [name, table, entry_bytes] : tables) {
    absl::Status status = CheckTable(name, table, entry_bytes, kImagePageBytes, data.offset);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ImageTables::CheckRegions() const {
  std::uint64_t free_from = 0;
  for (std::uint64_t i = 0; i < header_.regions.count; ++i) {
    const auto& region = At<ImageRegion>(header_.regions, i);
    const bool ascends = region.start >= free_from && region.end > region.start;
    if (!ascends || !IsPages(region.start, region.end - region.start)) {
      return Damaged(absl::StrCat("region ", i));
    }
    free_from = region.end;
    if ((region.flags & ImageRegion::kText) == 0) continue;
    const bool known = region.text < header_.texts.count;
    if (!known || region.text_offset > At<ImageText>(header_.texts, region.text).bytes) {
      return Damaged(absl::StrCat("the text of region ", i));
    }
  }
  for (std::uint64_t i = 0; i < header_.texts.count; ++i) {
    const auto& text = At<ImageText>(header_.texts, i);
    if (!InStrings(text.name)) return Damaged(absl::StrCat("text ", i));
  }
  return absl::OkStatus();
}

absl::Status ImageTables::CheckRuns() const {
  const ImageTable& data = header_.data;
  std::uint64_t free_from = 0;
  for (std::uint64_t i = 0; i < header_.runs.count; ++i) {
    const auto& run = At<ImageRun>(header_.runs, i);
    if (!IsPages(run.start, run.bytes) || run.start < free_from) {
      return Damaged(absl::StrCat("run ", i));
    }
    free_from = run.start + run.bytes;
    if (run.kind == ImageRun::kZero) continue;
    if (run.kind != ImageRun::kData || run.offset % kImagePageBytes != 0 ||
        run.offset < data.offset || run.bytes > data.count ||
        run.offset - data.offset > data.count - run.bytes) {
      return Damaged(absl::StrCat("the data of run ", i));
    }
  }
  return absl::OkStatus();
}

absl::Status ImageTables::CheckFiles() const {
  for (std::uint64_t i = 0; i < header_.files.count; ++i) {
    const auto& file = At<ImageFile>(header_.files, i);
    const bool known = file.kind >= ImageFile::kRegular && file.kind <= ImageFile::kStandard;
    const bool of_none = file.kind == ImageFile::kStandard && file.of > STDERR_FILENO;
    if (!known || of_none || file.descriptor > kDescriptorsMax || !InStrings(file.path)) {
      return Damaged(absl::StrCat("open file ", i));
    }
  }
  return absl::OkStatus();
}

bool ImageTables::InWritableRegion(std::uint64_t address, std::uint64_t bytes) const {
  for (std::uint64_t i = 0; i < header_.regions.count; ++i) {
    const auto& region = At<ImageRegion>(header_.regions, i);
    if (address < region.start || address >= region.end) continue;
    return bytes <= region.end - address && (region.protection & PROT_WRITE) != 0;
  }
  return false;
}

absl::Status ImageTables::CheckState() const {
  const bool whole = header_.kind == static_cast<std::uint32_t>(ImageKind::kProcess);
  if (header_.state.count != (whole ? 1 : 0)) return Damaged("the state");
  if (!whole) return absl::OkStatus();
  const auto& state = At<ImageState>(header_.state, 0);
  const std::uint64_t strings = header_.strings.count;
  if (state.auxv_offset > strings || state.auxv_bytes > strings - state.auxv_offset ||
      !InStrings(state.directory) || !InStrings(state.cpu_features) ||
      memchr(state.name, 0, sizeof state.name) == nullptr || state.link > kDescriptorsMax) {
    return Damaged("the state");
  }
  if (!InWritableRegion(state.restored_address, sizeof(std::uint32_t)) ||
      !InWritableRegion(state.restorer_address, 2 * sizeof(std::uint64_t)) ||
      !InWritableRegion(state.registers.rsp - 1, 1)) {
    return Damaged("the addresses in its state");
  }
  return absl::OkStatus();
}

absl::Status ImageTables::CheckAreas() const {
  std::uint64_t left = header_.data.count;
  for (std::uint64_t i = 0; i < header_.areas.count; ++i) {
    const std::uint64_t bytes = At<ImageArea>(header_.areas, i).bytes;
    if (bytes > left) return Damaged(absl::StrCat("area ", i));
    const std::uint64_t pages = (bytes + kImagePageBytes - 1) / kImagePageBytes * kImagePageBytes;
    if (pages > left) return Damaged(absl::StrCat("area ", i));
    left -= pages;
  }
  return absl::OkStatus();
}

absl::Status ImageTables::Check() const {
  const std::uint64_t strings = header_.strings.count;
  if (strings != 0 && *String(strings - 1) != '\0') return Damaged("the strings do not end");
  for (const auto check :
       {&ImageTables::CheckRegions, &ImageTables::CheckRuns, &ImageTables::CheckFiles,
        &ImageTables::CheckState, &ImageTables::CheckAreas}) {
    if (absl::Status status = (this->*check)(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace bspnow::worker
