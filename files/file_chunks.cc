#include "files/file_chunks.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/disk_room.h"

namespace bspnow::files {
namespace {

/// Shorter ones are sent as zeros, lest a file of many has a chunk for each.
constexpr std::uint64_t kHoleBytesLeast = 64 << 10;

}  // namespace

absl::Status TakeChunk(const proto::FileChunk& chunk, FileSink& sink) {
  if (chunk.data().size() > kChunkBytesMax)
    return absl::InvalidArgumentError(
        absl::StrCat("a chunk of a file has at most ", kChunkBytesMax, " bytes"));
  if (!chunk.unread().empty()) return sink.OnUnread(chunk.unread());
  if (!chunk.name().empty()) {
    absl::Status begun =
        sink.Begin({.name = chunk.name(), .bytes = chunk.bytes(), .mode = chunk.mode()});
    if (!begun.ok()) return begun;
  }
  if (chunk.hole() != 0)
    if (absl::Status taken = sink.AppendHole(chunk.hole()); !taken.ok()) return taken;
  return chunk.data().empty() ? absl::OkStatus() : sink.Append(chunk.data());
}

absl::StatusOr<OutgoingFile> OutgoingFile::Of(UniqueFd file, std::string name) {
  struct stat status {};
  if (fstat(file.get(), &status) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("reading ", name));
  posix_fadvise(file.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  OutgoingFile outgoing(
      std::move(file),
      {.name = std::move(name), .bytes = bytes, .mode = status.st_mode & ACCESSPERMS});
  outgoing.sparse_ = BytesTaken(status) < bytes;
  return outgoing;
}

absl::StatusOr<OutgoingFile> OutgoingFile::Open(const std::string& path, std::string name) {
  // A pipe of that name would keep us waiting for ever.
  UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file.valid() || fstat(file.get(), &status) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("opening ", path));
  if (!S_ISREG(status.st_mode))
    return absl::FailedPreconditionError(absl::StrCat(path, " is no file"));
  return Of(std::move(file), std::move(name));
}

// Past the last data there is none up to the end that the file has now: who cut it made no hole.
std::uint64_t OutgoingFile::EndOfHole(std::uint64_t at) const {
  off_t end = lseek(file_.get(), static_cast<off_t>(at), SEEK_DATA);
  if (end < 0 && errno == ENXIO) end = lseek(file_.get(), 0, SEEK_END);
  return std::clamp(end < 0 ? at : static_cast<std::uint64_t>(end), at, std::max(at, head_.bytes));
}

std::uint64_t OutgoingFile::NextHole(std::uint64_t from, std::uint64_t until) const {
  while (from < until) {
    const off_t hole = lseek(file_.get(), static_cast<off_t>(from), SEEK_HOLE);
    if (hole < 0 || static_cast<std::uint64_t>(hole) >= until) return until;
    const std::uint64_t begin = static_cast<std::uint64_t>(hole);
    from = EndOfHole(begin);
    if (from - begin >= kHoleBytesLeast) return begin;
    if (from == begin) return until;
  }
  return until;
}

absl::Status OutgoingFile::Read(proto::FileChunk& chunk, std::size_t bytes_max) {
  std::string data = std::move(*chunk.mutable_data());  // Not cleared, to be filled once.
  if (begun_) {
    chunk.Clear();
  } else {
    chunk.set_name(head_.name);
    chunk.set_bytes(head_.bytes);
    chunk.set_mode(head_.mode);
    chunk.clear_hole();
    begun_ = true;
  }
  std::uint64_t end = at_ + std::min<std::uint64_t>(bytes_max, head_.bytes - at_);
  if (leaves_holes_) {
    const std::uint64_t hole = EndOfHole(at_) - at_;
    if (hole >= kHoleBytesLeast) {
      chunk.set_hole(hole);
      at_ += hole;
    }
    end = NextHole(at_, at_ + std::min<std::uint64_t>(bytes_max, head_.bytes - at_));
  }
  data.resize(end - at_);
  const ssize_t n = pread(file_.get(), data.data(), data.size(), static_cast<off_t>(at_));
  if (n < 0) return absl::ErrnoToStatus(errno, absl::StrCat("reading ", head_.name));
  if (n == 0 && !data.empty())
    return absl::AbortedError(absl::StrCat("file ", head_.name, " changed while it was sent"));
  data.resize(static_cast<std::size_t>(n));
  chunk.set_data(std::move(data));
  at_ += static_cast<std::uint64_t>(n);
  return absl::OkStatus();
}

}  // namespace bspnow::files
