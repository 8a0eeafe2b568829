// For tests: speaks to the service Images without the good manners of ImagesStub, as a
// worker of the cluster that the nodes of image_node.h are of.
#ifndef WORKER_CHECKPOINT_TESTING_IMAGES_RAW_STUB_H_
#define WORKER_CHECKPOINT_TESTING_IMAGES_RAW_STUB_H_

#include <absl/status/status.h>

#include <string>
#include <vector>

#include "proto/files.pb.h"

namespace bspnow::worker {

/// Sends these pieces, whatever they are.
absl::Status PutPieces(const std::string& address, const std::vector<proto::FileChunk>& pieces);

/// Asks for a file, and throws it away.
absl::Status GetByName(const std::string& address, const std::string& name);

/// Sends one piece and waits: the call is broken off by the end of this object, unless the rest is
/// sent.
class HalfAPut {
 public:
  HalfAPut(const std::string& address, const proto::FileChunk& piece);
  ~HalfAPut();

  absl::Status SendRest(const proto::FileChunk& piece);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_TESTING_IMAGES_RAW_STUB_H_
