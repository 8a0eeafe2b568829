// The clients that stay with their jobs (bsprun): input one chunk at a time, and what becomes of a
// job whose client does not come, or does not come back. Pure. See "bsprun on a cluster" in
// docs/design.md.
#ifndef COORDINATOR_CORE_ATTACHMENTS_H_
#define COORDINATOR_CORE_ATTACHMENTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include "base/ids.h"

namespace bspnow::coordinator {

/// A client's stream. Called on the loop's thread, never blocks.
class AttachedClient {
 public:
  virtual ~AttachedClient() = default;
  /// Pid 0 has taken this many bytes of input in all.
  virtual void InputTaken(std::uint64_t bytes) = 0;
  /// The client has come again by another stream.
  virtual void Replaced() = 0;
};

/// A piece of pid 0's standard input.
struct InputChunk {
  std::uint64_t offset = 0;  ///< Of data in all input.
  std::string data = {};
  bool end = false;
};

inline constexpr std::size_t kInputBytesMax = 64 << 10;
/// For a client to attach after it has submitted.
inline constexpr std::uint64_t kAttachWithinNs = 30'000'000'000;

class Attachments {
 public:
  /// A job that needs its client, within this time at first and `reconnect_ns` whenever its stream
  /// has broken.
  struct Patience {
    std::uint64_t attach_ns;
    std::uint64_t reconnect_ns;
  };
  void Await(JobId job, Patience patience, std::uint64_t now_ns);
  void Forget(JobId job) { jobs_.erase(job); }

  /// An earlier stream of the client learns that it is replaced.
  absl::Status Attach(JobId job, std::shared_ptr<AttachedClient> client);
  bool IsClient(JobId job, const AttachedClient* client) const;
  /// This stream has broken. Does nothing if the client has another by now.
  void OnBroken(JobId job, const AttachedClient* client, std::uint64_t now_ns);

  /// What a client repeats on a new stream is taken once. INVALID_ARGUMENT if it must not send this
  /// now.
  absl::Status OnInput(JobId job, InputChunk chunk);
  /// Its StartJob is on its way: input may follow, and in a further epoch the end of it does so
  /// again.
  void OnStarted(JobId job);
  /// Its epoch is over: input is kept for the next.
  void OnStopped(JobId job);
  /// What is to be sent to pid 0's worker now, once each.
  std::vector<InputChunk> TakeInput(JobId job);
  /// Pid 0 has taken this many bytes in all, as its worker reports; perhaps again.
  void OnInputTaken(JobId job, std::uint64_t bytes);

  /// Jobs whose clients should be there by now; each is named once.
  std::vector<JobId> TakeAbandoned(std::uint64_t now_ns);

 private:
  struct Attachment {
    std::uint64_t attach_by_ns = 0;  ///< While there is no client.
    std::uint64_t reconnect_ns = 0;
    std::shared_ptr<AttachedClient> client;
    std::vector<InputChunk> kept;
    bool started = false;
    /// Bytes of input, as far as this coordinator has heard: pid 0 lacks those between the two.
    std::uint64_t received_bytes = 0;
    std::uint64_t taken_bytes = 0;
    bool ended = false;
  };

  std::map<JobId, Attachment> jobs_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_ATTACHMENTS_H_
