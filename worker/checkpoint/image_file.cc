#include "worker/checkpoint/image_file.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/unique_fd.h"
#include "worker/checkpoint/image_tables.h"

namespace bspnow::worker {
namespace {

absl::Status Failed(const std::string& what) {
  const std::string message = absl::StrCat(what, ": ", strerror(errno));
  return errno == ENOENT ? absl::NotFoundError(message) : absl::UnavailableError(message);
}

absl::Status Annotate(const absl::Status& status, const std::string& name) {
  return absl::Status(status.code(), absl::StrCat(name, ": ", std::string(status.message())));
}

/// Bytes that must be there.
absl::Status ReadAt(int file, std::byte* place, std::uint64_t bytes, std::uint64_t offset) {
  while (bytes != 0) {
    const ssize_t n = pread(file, place, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed("reading");
    if (n == 0) return absl::DataLossError(absl::StrCat("damaged: ends at byte ", offset));
    place += n;
    bytes -= static_cast<std::uint64_t>(n);
    offset += static_cast<std::uint64_t>(n);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::uint64_t> FileBytes(int file) {
  struct stat status;
  if (fstat(file, &status) != 0) return Failed("fstat");
  return static_cast<std::uint64_t>(status.st_size);
}

absl::StatusOr<ImageHeader> ReadHeader(int file) {
  const absl::StatusOr<std::uint64_t> bytes = FileBytes(file);
  if (!bytes.ok()) return bytes.status();
  ImageHeader header;
  if (*bytes < sizeof header) return absl::DataLossError("incomplete: it has no header");
  absl::Status read = ReadAt(file, reinterpret_cast<std::byte*>(&header), sizeof header, 0);
  if (read.ok()) read = ImageTables::CheckHeader(header, *bytes);
  if (!read.ok()) return read;
  return header;
}

void AddProcess(const ImageHeader& header, const ImageTables& tables, ImageFacts& facts) {
  for (std::uint64_t i = 0; i < header.texts.count; ++i) {
    facts.texts.push_back(TextName(tables.At<ImageText>(header.texts, i)));
  }
  std::sort(facts.texts.begin(), facts.texts.end());
  facts.texts.erase(std::unique(facts.texts.begin(), facts.texts.end()), facts.texts.end());
  const auto& state = tables.At<ImageState>(header.state, 0);
  facts.directory = tables.String(state.directory);
  facts.cpu_features = tables.String(state.cpu_features);
  facts.xcr0 = state.xcr0;
  for (std::uint64_t i = 0; i < header.files.count; ++i) {
    const auto& file = tables.At<ImageFile>(header.files, i);
    if (file.kind == ImageFile::kRegular) facts.opened.push_back(tables.String(file.path));
  }
}

absl::StatusOr<ImageFacts> ReadFacts(int file) {
  const absl::StatusOr<ImageHeader> header = ReadHeader(file);
  if (!header.ok()) return header.status();
  std::vector<std::byte> front(header->data.offset);
  absl::Status status = ReadAt(file, front.data(), front.size(), 0);
  if (!status.ok()) return status;
  const ImageTables tables(*header, std::move(front));
  status = tables.Check();
  if (!status.ok()) return status;
  ImageFacts facts{.kind = static_cast<ImageKind>(header->kind),
                   .job = JobId{header->job},
                   .pid = Pid{header->pid},
                   .nprocs = header->nprocs,
                   .checkpoint = header->checkpoint,
                   .base = header->base,
                   .superstep = header->superstep,
                   .file_bytes = header->file_bytes,
                   .data_bytes = header->data.count,
                   .texts = {},
                   .directory = {},
                   .cpu_features = {},
                   .xcr0 = 0,
                   .opened = {}};
  if (facts.kind == ImageKind::kProcess) AddProcess(*header, tables, facts);
  return facts;
}

absl::Status CheckChunks(int file) {
  const absl::StatusOr<ImageHeader> header = ReadHeader(file);
  if (!header.ok()) return header.status();
  const ImageTable& chunks = header->chunks;
  std::vector<ImageChunk> expected(chunks.count);
  absl::Status status = ReadAt(file, reinterpret_cast<std::byte*>(expected.data()),
                               chunks.count * sizeof(ImageChunk), chunks.offset);
  if (!status.ok()) return status;
  const auto piece = std::make_unique_for_overwrite<std::byte[]>(kImageChunkBytes);
  for (std::uint64_t i = 0; i < chunks.count; ++i) {
    const std::uint64_t offset = kImagePageBytes + i * kImageChunkBytes;
    const std::uint64_t bytes = std::min<std::uint64_t>(kImageChunkBytes, chunks.offset - offset);
    status = ReadAt(file, piece.get(), bytes, offset);
    if (!status.ok()) return status;
    if (XXH3_64bits(piece.get(), bytes) != expected[i].hash) {
      return absl::DataLossError(absl::StrCat("damaged: chunk ", i, " (byte ", offset,
                                              " and on) of pid ", header->pid,
                                              " does not have its checksum"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ImageFacts> ReadImageFacts(int file, const std::string& name) {
  absl::StatusOr<ImageFacts> facts = ReadFacts(file);
  if (!facts.ok()) return Annotate(facts.status(), name);
  return facts;
}

absl::StatusOr<ImageFacts> VerifyImage(int file, const std::string& name) {
  // First the checksums: they tell a flipped bit by its place.
  const absl::Status chunks = CheckChunks(file);
  if (!chunks.ok()) return Annotate(chunks, name);
  return ReadImageFacts(file, name);
}

absl::StatusOr<ImageFacts> VerifyImage(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return Failed(path);
  return VerifyImage(file.get(), path);
}

absl::Status VerifyText(int file, const std::string& name) {
  const absl::StatusOr<std::uint64_t> bytes = FileBytes(file);
  if (!bytes.ok()) return Annotate(bytes.status(), name);
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              &XXH3_freeState);
  XXH3_128bits_reset(state.get());
  const auto piece = std::make_unique_for_overwrite<std::byte[]>(kImageChunkBytes);
  for (std::uint64_t offset = 0; offset < *bytes;) {
    const std::uint64_t part = std::min<std::uint64_t>(kImageChunkBytes, *bytes - offset);
    const absl::Status read = ReadAt(file, piece.get(), part, offset);
    if (!read.ok()) return Annotate(read, name);
    XXH3_128bits_update(state.get(), piece.get(), part);
    offset += part;
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  const ImageText found{
      .hash_high = hash.high64, .hash_low = hash.low64, .bytes = *bytes, .name = 0};
  if (TextName(found) == name) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(name, ": damaged: its ", *bytes, " bytes do not have that hash"));
}

std::string ImageName(std::uint64_t checkpoint, Pid pid) {
  return absl::StrCat("c", checkpoint, ".p", Value(pid));
}

std::string TextName(const ImageText& text) {
  return absl::StrFormat("text-%016x%016x", text.hash_high, text.hash_low);
}

}  // namespace bspnow::worker
