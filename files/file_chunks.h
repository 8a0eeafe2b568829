// Files in pieces, as messages carry them (FileChunk in proto/files.proto).
#ifndef FILES_FILE_CHUNKS_H_
#define FILES_FILE_CHUNKS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/unique_fd.h"
#include "files/file_sink.h"
#include "proto/files.pb.h"

namespace bspnow::files {

inline constexpr std::size_t kChunkBytesMax = std::size_t{1} << 20;
/// Metadata of a reply: the files of this call may have FileChunk.hole.
inline constexpr char kTakesHoles[] = "bspnow-takes-holes";

/// Hands a chunk that has come to who takes the file.
absl::Status TakeChunk(const proto::FileChunk& chunk, FileSink& sink);

/// A file that is read chunk by chunk, with the length that it had when it was opened.
class OutgoingFile {
 public:
  /// What it is called there is `name`.
  static absl::StatusOr<OutgoingFile> Of(UniqueFd file, std::string name);

  /// Follows no symbolic link.
  static absl::StatusOr<OutgoingFile> Open(const std::string& path, std::string name);

  const FileHead& head() const { return head_; }

  /// All has been read; even an empty file has one chunk.
  bool ended() const { return begun_ && at_ == head_.bytes; }

  /// It has holes, as it seems, which need not be read: who takes it may take FileChunk.hole.
  bool sparse() const { return sparse_; }
  void LeaveHoles() { leaves_holes_ = true; }

  /// The next chunk, of at most `bytes_max` bytes. The first one describes the file; other fields
  /// of `chunk` stay as they are. Aborted if the file is shorter than it was.
  absl::Status Read(proto::FileChunk& chunk, std::size_t bytes_max);

 private:
  OutgoingFile(UniqueFd file, FileHead head) : file_(std::move(file)), head_(std::move(head)) {}

  /// At `at`, if there is one; `at` if not.
  std::uint64_t EndOfHole(std::uint64_t at) const;
  /// Where the next one begins that is worth it; `until` if that is not before it.
  std::uint64_t NextHole(std::uint64_t from, std::uint64_t until) const;

  UniqueFd file_;
  FileHead head_;
  std::uint64_t at_ = 0;
  bool begun_ = false;
  bool sparse_ = false;
  bool leaves_holes_ = false;
};

}  // namespace bspnow::files

#endif  // FILES_FILE_CHUNKS_H_
