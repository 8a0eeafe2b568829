// The sockets of the superstep path at the coordinator: the workers' frame streams, each after it
// has proven the key that the worker got when it registered. What the frames mean is
// core/barriers.h's. Everything on the loop's thread.
#ifndef COORDINATOR_RPC_BARRIER_SERVER_H_
#define COORDINATOR_RPC_BARRIER_SERVER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "base/ids.h"
#include "coordinator/core/barriers.h"
#include "coordinator/core/ports.h"
#include "net/event_loop.h"
#include "net/frame_check.h"
#include "net/frame_stream.h"
#include "net/listener.h"
#include "net/log/refusal_pace.h"
#include "net/socket.h"
#include "net/stream_key.h"
#include "net/stream_proof.h"

namespace bspnow::coordinator {

class BarrierServer final : public WorkerFrames {
 public:
  /// Listens at once; port 0: any. Streams are accepted after Serve.
  static absl::StatusOr<std::unique_ptr<BarrierServer>> Listen(EventLoop& loop,
                                                               const SocketAddress& address);
  /// For Listen.
  explicit BarrierServer(EventLoop& loop);
  ~BarrierServer() override;

  /// Before the loop runs. `barriers` must live until EndService; `key`, the cluster's, must not be
  /// empty: with it streams are encrypted, if they are.
  void Serve(Barriers& barriers, const StreamKey& key);
  void EndService();

  /// With the real port.
  const SocketAddress& address() const { return listener_->address(); }

  void Send(WorkerId worker, const FrameHeader& header,
            std::span<const std::byte> payload) override;
  void Close(WorkerId worker, const char* reason) override;

  /// Frames whose checksums, lengths or proofs were wrong, and connections that proved nothing in
  /// time; each closed its stream. Those that
  /// Barriers refused are not among them.
  std::uint64_t faults(FrameFault fault) const;
  std::uint64_t bytes_read() const;
  std::uint64_t bytes_written() const;

 private:
  enum class ConnectionId : std::uint64_t {};

  struct Connection {
    std::unique_ptr<FrameStream> stream;
    std::string peer;
    std::optional<AcceptingProof> proof{};  ///< From Hello on.
    WorkerId worker{0};                     ///< 0 until it has proven the key.
    std::uint64_t accepted_ns;
    bool refused = false;  ///< Barriers closed it, and counted that.
  };

  void OnAccepted(Accepted accepted);
  void OnClosed(ConnectionId id, const absl::Status& reason);
  /// Destroys the stream, but not inside one of its own callbacks.
  void Discard(ConnectionId id);
  FrameFault OnFrame(ConnectionId id, const FrameHeader& header,
                     std::span<const std::byte> payload);
  FrameFault OnHello(ConnectionId id, const FrameHeader& header,
                     std::span<const std::byte> payload);
  FrameFault OnProof(ConnectionId id, std::span<const std::byte> payload);
  FrameFault RefuseProof(ConnectionId id, FrameFault fault);
  /// Of a connection that Barriers did not refuse.
  void CountRefused(const Connection& connection, WorkerId claimed, FrameFault fault);
  void Tick();

  EventLoop& loop_;
  Barriers* barriers_ = nullptr;
  StreamKey key_;
  std::unique_ptr<Listener> listener_;
  std::unordered_map<ConnectionId, Connection> connections_;
  std::unordered_map<WorkerId, ConnectionId> of_worker_;  ///< Those that have proven the key.
  TimerId tick_ = kNoTimer;
  std::uint64_t last_connection_ = 0;
  std::uint64_t closed_bytes_read_ = 0;  ///< Of connections that are no more.
  std::uint64_t closed_bytes_written_ = 0;
  std::array<std::uint64_t, kFrameFaults> faults_{};
  RefusalPace refusals_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< For what is posted.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_RPC_BARRIER_SERVER_H_
