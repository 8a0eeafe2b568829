// The directory that holds all that the coordinator must not forget, and its layout.
//
//   address         where this coordinator listens, a line NAME=HOST:PORT each
//   jobs.sqlite     the journal; keeps other coordinators out (job_store.h)
//   stream.key      what the cluster's streams are proven with (stream_key_file.h)
//   history.sqlite  jobs that ended long ago (job_history.h)
//   cleaned         empty; changed when old files were looked for last (old_files.h)
//   blobs/SHA256    contents that clients uploaded (files/blob_store.h)
//   senders/        which user has uploaded which of them (uploads.h)
//   audit.log       who did what, and refused.log, what was refused or failed (audit_log.h)
//   jobs/ID/log     what the job printed (job_log.h)
//   jobs/ID/files/  what it left in its directory (file_store.h)
//   jobs/ID/profile/  what its processes recorded, a Profile (proto/profile.proto) for each node
#ifndef COORDINATOR_STATE_DIRECTORY_H_
#define COORDINATOR_STATE_DIRECTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include "base/ids.h"

namespace bspnow::coordinator {

class StateDirectory {
 public:
  /// Makes what is missing of it.
  static absl::StatusOr<StateDirectory> Open(const std::string& path);

  /// For questions and repairs, which may name a wrong one: makes nothing. NotFound if there is no
  /// such directory.
  static absl::StatusOr<StateDirectory> OpenExisting(const std::string& path);

  const std::string& path() const { return path_; }
  std::string stream_key() const { return path_ + "/stream.key"; }
  std::string tokens() const { return path_ + "/tokens"; }
  std::string audit_log() const { return path_ + "/audit.log"; }
  std::string cleaned() const { return path_ + "/cleaned"; }
  std::string refused_log() const { return path_ + "/refused.log"; }
  std::string blobs() const { return path_ + "/blobs"; }
  std::string senders() const { return path_ + "/senders"; }
  std::string job(JobId job) const;
  std::string log(JobId job) const { return this->job(job) + "/log"; }
  std::string files(JobId job) const { return this->job(job) + "/files"; }
  std::string profile(JobId job) const { return this->job(job) + "/profile"; }

  /// Replaces the file `address` as a whole: who reads it sees all lines or none.
  absl::Status WriteAddress(const std::string& lines) const;

  /// Whether a coordinator was ever ready with it.
  bool HasServed() const;

  /// The jobs that have a directory.
  std::vector<JobId> jobs() const;

  /// Removes all that is kept of a job.
  absl::Status RemoveJob(JobId job) const;

 private:
  explicit StateDirectory(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_STATE_DIRECTORY_H_
