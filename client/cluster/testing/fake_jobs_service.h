// A coordinator's service of jobs for tests, in this process: it keeps what it is sent, and its
// jobs echo their input.
#ifndef CLIENT_CLUSTER_TESTING_FAKE_JOBS_SERVICE_H_
#define CLIENT_CLUSTER_TESTING_FAKE_JOBS_SERVICE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/testing/scratch_directory.h"
#include "proto/jobs.pb.h"

namespace bspnow::client {

/// What the service holds; looked at between calls only.
struct FakeJobs {
  std::map<std::string, std::string> blobs;  ///< By SHA-256.
  std::size_t largest_chunk = 0;
  int uploads = 0;
  int submissions = 0;         ///< Calls of SubmitJob, repeated ones too.
  int broken_submissions = 0;  ///< So many calls of SubmitJob do their work and lose their reply.
  std::vector<proto::JobSpec> jobs;          ///< Job 1 is the first.
  std::vector<proto::LogLine> log;           ///< Without offsets.
  std::map<std::string, std::string> files;  ///< That FetchFiles sends, by name.
  std::vector<std::string> unread;           ///< After them, as FileChunk has it.
  proto::Job end;                            ///< How every job ends.
  std::vector<std::uint64_t> suspended;      ///< Jobs, in the order of the calls.
  std::string given_up;                      ///< Not empty: why every checkpoint is given up.
  int breaks = 0;  ///< This many streams break after a message either way.
  std::function<void()> submitting = [] {};  ///< Called before a reply to SubmitJob.
  std::vector<std::uint64_t> cancelled;      ///< Jobs, in the order of the calls.
  bool stops = false;                        ///< After its files, as a coordinator does.
  bool left = false;                         ///< A client has announced that it leaves.
};

class FakeJobsService {
 public:
  explicit FakeJobsService(FakeJobs& jobs);
  ~FakeJobsService();

  /// As in 127.0.0.1:4711.
  const std::string& address() const { return address_; }

 private:
  class Server;
  const ScratchDirectory scratch_;
  std::string address_;
  std::unique_ptr<Server> server_;
};

}  // namespace bspnow::client

#endif  // CLIENT_CLUSTER_TESTING_FAKE_JOBS_SERVICE_H_
