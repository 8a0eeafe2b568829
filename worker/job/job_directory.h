// The directory of one job on this node, STATE_DIR/jobs/JOB: program, files that travelled with it,
// and what its processes write there. Its path is one over all epochs, since the program may have
// noted it; so an epoch makes it after the one before has removed its own. Removed with the object.
#ifndef WORKER_JOB_JOB_DIRECTORY_H_
#define WORKER_JOB_JOB_DIRECTORY_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "files/file_chunks.h"
#include "files/file_store.h"
#include "files/job_files.h"
#include "proto/jobs.pb.h"
#include "worker/job/blob_cache.h"
#include "worker/rpc/open_calls.h"

namespace bspnow::worker {

/// A file that the job made or changed.
using LeftFile = files::StoredFile;

/// What reads them, with no more rights than the job's programs had.
struct LeftFileReader {
  /// Who has opened one knows why it could not be.
  std::function<absl::StatusOr<files::OutgoingFile>(const LeftFile& file)> open;
  /// It could not be read to its end, so it is not sent.
  std::function<void(const LeftFile& file, const absl::Status& why)> unread;
};

class JobDirectory {
 public:
  /// Makes the directory, which nobody else has, and puts program and files of `spec` there. Stop
  /// of `calls` breaks that off.
  static absl::StatusOr<JobDirectory> Create(const std::string& path, const proto::JobSpec& spec,
                                             BlobCache& cache, OpenCalls& calls);

  JobDirectory(JobDirectory&& other) noexcept;
  JobDirectory& operator=(JobDirectory&&) = delete;
  ~JobDirectory();

  const std::string& path() const { return path_; }
  std::string program_path() const { return path_ + "/" + program_; }

  /// What came with the job.
  std::vector<files::GivenFile> given() const;

  /// Regular files that are new or changed.
  absl::StatusOr<files::FilesFound> LeftFiles() const;

 private:
  explicit JobDirectory(std::string path) : path_(std::move(path)) {}
  absl::Status Fill(const proto::JobSpec& spec, BlobCache& cache, OpenCalls& calls);

  std::string path_;
  std::string program_;
  std::map<std::string, files::GivenFile> given_;
};

/// Core files among those of a node that does not host pid 0, under names that tell the node:
/// "core.4711.w2".
std::vector<LeftFile> CoresOf(std::vector<LeftFile> files, const std::string& node);

}  // namespace bspnow::worker

#endif  // WORKER_JOB_JOB_DIRECTORY_H_
