// The files that a job left, chunk by chunk, as a client fetches them. One that cannot be read is
// told of in its place, and the others come.
#ifndef COORDINATOR_RPC_LEFT_FILES_H_
#define COORDINATOR_RPC_LEFT_FILES_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/file_chunks.h"
#include "files/file_store.h"
#include "proto/jobs.pb.h"

namespace bspnow::coordinator {

class LeftFiles {
 public:
  /// Those below `directory` that the request names, or all of them.
  LeftFiles(std::string directory, const proto::FetchFilesRequest& request);

  /// The next chunk, of at most `bytes_max` bytes; false after the last. An error ends all.
  absl::StatusOr<bool> Next(proto::FileChunk& chunk, std::size_t bytes_max);

 private:
  absl::Status List();
  absl::StatusOr<bool> Unread(const absl::Status& why, proto::FileChunk& chunk) const;

  const std::string directory_;
  const proto::FetchFilesRequest request_;
  bool listed_ = false;
  std::vector<std::string> unlisted_;  ///< Directories, and why.
  std::vector<files::StoredFile> files_;
  std::size_t next_ = 0;  ///< Of `files_`.
  std::optional<files::OutgoingFile> file_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_RPC_LEFT_FILES_H_
