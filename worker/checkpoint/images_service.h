// Serves this node's images to the other workers: the service Images of proto/workers.proto.
#ifndef WORKER_CHECKPOINT_IMAGES_SERVICE_H_
#define WORKER_CHECKPOINT_IMAGES_SERVICE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "base/ids.h"
#include "net/event_loop.h"
#include "net/socket.h"
#include "net/tls/rpc_credentials.h"
#include "worker/checkpoint/image_store.h"

namespace bspnow::worker {

class ImagesServer {
 public:
  /// Called when a file of this checkpoint has been stored, on a thread of the server.
  using Received = std::function<void(JobId, std::uint64_t)>;

  /// Listens at once, and accepts on `loop`. Port 0: any.
  static absl::StatusOr<std::unique_ptr<ImagesServer>> Start(EventLoop& loop, ImageStore& store,
                                                             const HostPort& listen,
                                                             const RpcCredentials& credentials,
                                                             Received received);

  struct Parts;  // Of gRPC.
  /// For Start.
  explicit ImagesServer(std::unique_ptr<Parts> parts);
  ~ImagesServer();

  /// With the real port.
  const HostPort& address() const;

  /// Calls that did not prove to be a worker's of this cluster. From any thread.
  std::uint64_t refused() const;

  /// Cancels all calls, and waits until they have ended, which takes little time.
  void Shutdown();

 private:
  const std::unique_ptr<Parts> parts_;
};

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_IMAGES_SERVICE_H_
