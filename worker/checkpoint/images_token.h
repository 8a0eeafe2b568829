// What opens the service Images: a token that only the workers of a cluster can make, from the key
// of its streams.
#ifndef WORKER_CHECKPOINT_IMAGES_TOKEN_H_
#define WORKER_CHECKPOINT_IMAGES_TOKEN_H_

#include <mutex>
#include <string>
#include <string_view>

#include "net/stream_key.h"

namespace bspnow::worker {

/// All calls may come from any thread.
class ImagesToken {
 public:
  /// With each registration.
  void Set(const StreamKey& key);

  /// The metadata `authorization` of calls of other workers; empty without a key.
  std::string authorization() const;

  /// Whether a call that has this may be answered. Without a key none may.
  bool Opens(std::string_view authorization) const;

 private:
  mutable std::mutex mutex_;
  std::string authorization_;  ///< Guarded by mutex_.
};

}  // namespace bspnow::worker

#endif  // WORKER_CHECKPOINT_IMAGES_TOKEN_H_
