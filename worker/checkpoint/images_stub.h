// Calls the service Images of other workers. Calls block, so they run on work threads. A peer that
// is dead or stopped is noticed within about five seconds; one from which nothing comes, within two
// minutes. While something comes a file may take hours.
#ifndef WORKER_CHECKPOINT_IMAGES_STUB_H_
#define WORKER_CHECKPOINT_IMAGES_STUB_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/ids.h"
#include "net/tls/rpc_credentials.h"
#include "worker/checkpoint/image_store.h"
#include "worker/rpc/open_calls.h"

namespace bspnow::worker {

class ImagesStub {
 public:
  explicit ImagesStub(const RpcCredentials& credentials,
                      std::chrono::milliseconds patience = std::chrono::minutes(1))
      : credentials_(credentials), patience_(patience) {}

  /// Sends one file of this store; it is verified and durable there when this returns.
  absl::Status Put(const std::string& address, const ImageStore& from, JobId job,
                   const std::string& name);

  /// Fetches one file into this store; verified, but not synced: it is to be read at once. Stop of
  /// `restore`, too, cancels it.
  absl::Status Get(const std::string& address, ImageStore& into, JobId job, const std::string& name,
                   OpenCalls& restore);

  /// The names of the images that the other worker has of this job, of the cluster of this store.
  absl::StatusOr<std::vector<std::string>> List(const std::string& address, const ImageStore& of,
                                                JobId job);

  /// Cancels all calls; later ones fail at once. From any thread.
  void Stop() { calls_.Stop(); }

 private:
  const RpcCredentials credentials_;
  const std::chrono::milliseconds patience_;
  OpenCalls calls_;
};

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_IMAGES_STUB_H_
