// The client that stays with its job (bsprun): input one chunk at a time, and what becomes of the
// job if its client does not come, or does not come back. Pure. See "bsprun on a cluster" in
// docs/design.md.
#ifndef COORDINATOR_CORE_ATTACHMENT_H_
#define COORDINATOR_CORE_ATTACHMENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/status.h>

namespace bspnow::coordinator {

/// Who a client is.
struct ClientIdentity {
  std::string user{};     ///< As it was proven.
  std::string address{};  ///< Of its end of the connection.
};

/// A client's stream. Called on the loop's thread, never blocks.
class AttachedClient {
 public:
  virtual ~AttachedClient() = default;
  virtual ClientIdentity identity() const = 0;
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

class Attachment {
 public:
  /// How long a job waits for its client: at first, and whenever the client's stream has broken.
  struct Patience {
    std::uint64_t attach_ns;
    std::uint64_t reconnect_ns;
  };
  Attachment(Patience patience, std::uint64_t now_ns)
      : attach_by_ns_(now_ns + patience.attach_ns), reconnect_ns_(patience.reconnect_ns) {}

  /// An earlier stream of the client learns that it is replaced.
  void Attach(std::shared_ptr<AttachedClient> client);
  bool IsClient(const AttachedClient* client) const { return client_.get() == client; }
  /// Of the client that is or was there; empty if none has come.
  const ClientIdentity& last() const { return last_; }
  /// This stream has broken. Does nothing if the client has another by now.
  void OnBroken(const AttachedClient* client, std::uint64_t now_ns);

  /// What a client repeats on a new stream is taken once. INVALID_ARGUMENT if it must not send this
  /// now.
  absl::Status OnInput(InputChunk chunk);
  /// The job's processes run, on all hosts: input may follow, and in a further epoch the end of it
  /// does so again. Once more changes nothing.
  void OnStarted();
  /// The job's epoch is over: input is kept for the next.
  void OnStopped() { started_ = false; }
  /// Some of what TakeInput gives is more than the end of input.
  bool HasBytes() const;
  /// What is to be sent to pid 0's worker now, once each.
  std::vector<InputChunk> TakeInput();
  /// Pid 0 has taken this many bytes in all, as its worker reports; perhaps again.
  void OnInputTaken(std::uint64_t bytes);

  /// Nobody could be heard for this long: the coordinator itself was paused.
  void OnPaused(std::uint64_t ns, std::uint64_t now_ns);
  /// The client should be there by now. True once, until it has come.
  bool TakeAbandoned(std::uint64_t now_ns);

 private:
  std::uint64_t attach_by_ns_;  ///< While there is no client.
  std::uint64_t reconnect_ns_;
  std::shared_ptr<AttachedClient> client_;
  ClientIdentity last_;
  std::vector<InputChunk> kept_;
  bool started_ = false;
  /// Bytes of input, as far as this coordinator has heard: pid 0 lacks those between the two.
  std::uint64_t received_bytes_ = 0;
  std::uint64_t taken_bytes_ = 0;
  bool ended_ = false;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_ATTACHMENT_H_
