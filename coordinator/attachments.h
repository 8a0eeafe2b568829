// The clients that stay with their jobs (bsprun): input one chunk at a time, and what becomes of a
// job whose client does not come or leaves. Pure.
#ifndef COORDINATOR_ATTACHMENTS_H_
#define COORDINATOR_ATTACHMENTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include "base/ids.h"

namespace bspnow {

/// A client's stream. Called on the loop's thread, never blocks.
class AttachedClient {
 public:
  virtual ~AttachedClient() = default;
  /// Pid 0 has the last input.
  virtual void InputTaken() = 0;
};

/// A piece of pid 0's standard input.
struct InputChunk {
  std::string data;
  bool end = false;
};

inline constexpr std::size_t kInputBytesMax = 64 << 10;
/// For a client to attach after it has submitted.
inline constexpr std::uint64_t kAttachWithinNs = 30'000'000'000;

class Attachments {
 public:
  /// A job that needs its client.
  void Await(JobId job, std::uint64_t now_ns) {
    jobs_[job].attach_by_ns = now_ns + kAttachWithinNs;
  }
  void Forget(JobId job) { jobs_.erase(job); }

  absl::Status Attach(JobId job, std::shared_ptr<AttachedClient> client);
  bool IsClient(JobId job, const AttachedClient* client) const;

  /// INVALID_ARGUMENT if the client must not send it now.
  absl::Status OnInput(JobId job, InputChunk chunk);
  /// Its StartJob is on its way: input may follow, and in a further epoch the end of it does so
  /// again.
  void OnStarted(JobId job);
  /// Its epoch is over: input is kept for the next.
  void OnStopped(JobId job);
  /// What is to be sent to pid 0's worker now, once each.
  std::vector<InputChunk> TakeInput(JobId job);
  void OnInputTaken(JobId job);

  /// Jobs whose clients should have come by now; each is named once.
  std::vector<JobId> TakeAbandoned(std::uint64_t now_ns);

 private:
  struct Attachment {
    std::uint64_t attach_by_ns = 0;
    std::shared_ptr<AttachedClient> client;
    std::vector<InputChunk> kept;
    bool started = false;
    bool unacknowledged = false;  ///< Data that pid 0 has not taken.
    bool ended = false;
  };

  std::map<JobId, Attachment> jobs_;
};

}  // namespace bspnow

#endif  // COORDINATOR_ATTACHMENTS_H_
