// Contents that a worker fetches from the coordinator, and files that it sends there. Waits, also
// for a coordinator that is being restarted; for work threads.
#ifndef WORKER_RPC_CONTENT_STUB_H_
#define WORKER_RPC_CONTENT_STUB_H_

#include <absl/status/status.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "files/blob_store.h"
#include "proto/workers.pb.h"
#include "worker/job/job_directory.h"
#include "worker/rpc/coordinator_channel.h"
#include "worker/rpc/open_calls.h"

namespace bspnow::worker {

class ContentStub {
 public:
  /// Of the coordinator, HOST:PORT. A call that sends files, and does not move any more for this
  /// long, is given up: its disk may hang.
  explicit ContentStub(const CoordinatorAddress& coordinator,
                       std::chrono::milliseconds patience = std::chrono::minutes(1));

  /// Fetches a content, for a job whose `calls` may be stopped.
  absl::Status ReadBlob(const std::string& sha256, const files::BlobStore& into, OpenCalls& calls);

  /// Sends what a job left in its directory. One attempt; unavailable: the coordinator is away, has
  /// no room, or its disk does not answer.
  absl::Status StoreFiles(JobId job, std::vector<LeftFile> files, const LeftFileReader& reader);

  /// Sends what its processes on the host with this number recorded. One attempt, of 20 s at most.
  absl::Status StoreProfile(JobId job, std::uint32_t host, const std::string& profile);

  /// Breaks off all calls; those that come later fail at once. From any thread.
  void Stop() { calls_.Stop(); }

 private:
  template <typename Try>
  absl::Status UntilAvailable(OpenCalls& calls, Try call);
  /// To its end; if not, `reader` has been told.
  bool IsReadable(const LeftFile& file, const LeftFileReader& reader) const;
  /// `unread`: the number of the file that could not be read; then nothing is stored.
  struct Stored {
    absl::Status status;
    std::optional<std::size_t> unread;
  };
  Stored TryStoreFiles(JobId job, const std::vector<LeftFile>& files, const LeftFileReader& reader);
  absl::Status TryReadBlob(const proto::ReadBlobRequest& request, const files::BlobStore& into,
                           OpenCalls& calls);

  const std::shared_ptr<grpc::Channel> channel_;
  const std::chrono::milliseconds patience_;
  OpenCalls calls_;
};

}  // namespace bspnow::worker

#endif  // WORKER_RPC_CONTENT_STUB_H_
