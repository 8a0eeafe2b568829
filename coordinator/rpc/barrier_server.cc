#include "coordinator/rpc/barrier_server.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kTickMs = 100;
constexpr std::uint64_t kHelloNs = 5'000'000'000;       // A connection proves who it is, or goes.
constexpr std::uint64_t kHelloOfCrowdNs = 500'000'000;  // Which takes some milliseconds.
constexpr std::size_t kConnectionsMax = 8192;
constexpr std::size_t kCrowd = kConnectionsMax / 2;  // Of those without a proof.
constexpr std::size_t kQueuedBytesMax = 64 << 20;    // A worker that reads nothing is cut off.

}  // namespace

absl::StatusOr<std::unique_ptr<BarrierServer>> BarrierServer::Listen(EventLoop& loop,
                                                                     const SocketAddress& address) {
  auto server = std::make_unique<BarrierServer>(loop);
  absl::StatusOr<std::unique_ptr<Listener>> listener = Listener::Create(
      loop, address, SocketOptions{},
      [server = server.get()](Accepted accepted) { server->OnAccepted(std::move(accepted)); });
  if (!listener.ok()) return listener.status();
  server->listener_ = *std::move(listener);
  return server;
}

BarrierServer::BarrierServer(EventLoop& loop) : loop_(loop) {}

BarrierServer::~BarrierServer() {
  *alive_ = false;
  loop_.CancelTimer(tick_);
}

void BarrierServer::Serve(Barriers& barriers, const StreamKey& key) {
  BSP_CHECK(!key.empty());
  barriers_ = &barriers;
  key_ = key;
  Tick();
}

void BarrierServer::EndService() {
  barriers_ = nullptr;
  loop_.CancelTimer(std::exchange(tick_, kNoTimer));
  connections_.clear();
  of_worker_.clear();
}

void BarrierServer::OnAccepted(Accepted accepted) {
  if (barriers_ == nullptr) return;
  if (connections_.size() >= kConnectionsMax) {
    if (const auto refused = refusals_.Next())
      spdlog::warn("event=connection_refused refused={} reason=too_many", *refused);
    return;
  }
  const ConnectionId id{++last_connection_};
  Connection& connection = connections_[id];
  connection.peer = accepted.peer.ToString();
  connection.accepted_ns = NowNs();
  connection.stream = std::make_unique<FrameStream>(
      loop_, std::move(accepted.fd), key_,
      FrameStreamEvents{
          .connected = nullptr,
          .frame =
              [this, id](const FrameHeader& header, std::span<const std::byte> payload) {
                const FrameFault fault = OnFrame(id, header, payload);
                if (fault != FrameFault::kNone) connections_.at(id).refused = true;
                return fault;
              },
          .closed = [this, id](const absl::Status& reason) { OnClosed(id, reason); }});
  connection.stream->LimitPayloads(kUnprovenPayloadBytesMax);
}

void BarrierServer::OnClosed(ConnectionId id, const absl::Status& reason) {
  const Connection& connection = connections_.at(id);
  const FrameFault fault = connection.stream->fault();
  if (fault != FrameFault::kNone && !connection.refused)
    CountRefused(connection, connection.worker, fault);
  // Who has proven nothing may come as often as he likes; workers that are not registered do.
  const auto level = connection.worker == WorkerId{0} ? spdlog::level::debug : spdlog::level::info;
  spdlog::log(level, "event=stream_closed worker={} peer={} reason=\"{}\"",
              Value(connection.worker), connection.peer, std::string(reason.message()));
  Discard(id);
}

void BarrierServer::Discard(ConnectionId id) {
  Connection& connection = connections_.at(id);
  const WorkerId worker = std::exchange(connection.worker, WorkerId{0});
  const auto found = of_worker_.find(worker);
  if (found != of_worker_.end() && found->second == id) {
    of_worker_.erase(found);
    barriers_->OnDisconnected(worker);
  }
  loop_.Post([this, id, alive = alive_] {
    if (!*alive) return;
    const auto gone = connections_.find(id);
    if (gone == connections_.end()) return;
    closed_bytes_read_ += gone->second.stream->bytes_read();
    closed_bytes_written_ += gone->second.stream->bytes_written();
    connections_.erase(gone);
  });
}

void BarrierServer::Tick() {
  const std::uint64_t now_ns = NowNs();
  // Many strangers would keep out workers.
  const bool crowded = connections_.size() - of_worker_.size() > kCrowd;
  const std::uint64_t patience_ns = crowded ? kHelloOfCrowdNs : kHelloNs;
  for (auto& [id, connection] : connections_) {
    const bool late =
        connection.worker == WorkerId{0} && now_ns - connection.accepted_ns > patience_ns;
    if (!connection.stream->open() ||
        (!late && connection.stream->queued_bytes() <= kQueuedBytesMax))
      continue;
    if (late) CountRefused(connection, connection.worker, FrameFault::kNoProof);
    connection.stream->Close(late ? FaultText(FrameFault::kNoProof) : "the receiver reads nothing");
    Discard(id);
  }
  tick_ = loop_.AddTimer(kTickMs, [this] { Tick(); });
}

// ---- Frames -------------------------------------------------------------------------------------

FrameFault BarrierServer::OnFrame(ConnectionId id, const FrameHeader& header,
                                  std::span<const std::byte> payload) {
  const FrameKind kind{header.kind};
  if (kind == FrameKind::kHello) return OnHello(id, header, payload);
  if (kind == FrameKind::kProof) return OnProof(id, payload);
  if (kind == FrameKind::kAbort) return FrameFault::kNone;  // `closed` follows, with the reason.
  const WorkerId worker = connections_.at(id).worker;
  if (worker == WorkerId{0} || WorkerId{header.source_worker} != worker)
    return barriers_->Refuse(Refusal::kUnknownWorker);
  return barriers_->OnFrame(header, payload);
}

// Who is not known gets no challenge, which is a proof.
FrameFault BarrierServer::OnHello(ConnectionId id, const FrameHeader& header,
                                  std::span<const std::byte> payload) {
  Connection& connection = connections_.at(id);
  if (connection.proof.has_value()) return barriers_->Refuse(Refusal::kMalformed);
  connection.proof = AcceptingProof::Of(header, payload);
  if (!connection.proof.has_value()) return barriers_->Refuse(Refusal::kMalformed);
  const FrameFault fault = barriers_->OnHello(header, connection.proof->body());
  if (fault != FrameFault::kNone) return fault;
  const StreamKey key = barriers_->KeyOf(WorkerId{header.source_worker});
  const ChallengeBody challenge = connection.proof->Challenge(key);
  connection.stream->Send(HeaderOf(FrameKind::kChallenge), BytesOf(challenge));
  return FrameFault::kNone;
}

FrameFault BarrierServer::OnProof(ConnectionId id, std::span<const std::byte> payload) {
  Connection& connection = connections_.at(id);
  if (!connection.proof.has_value() || connection.worker != WorkerId{0})
    return barriers_->Refuse(Refusal::kMalformed);
  // Its node may be gone by now.
  const FrameHeader hello = connection.proof->header();
  const FrameFault fault = barriers_->OnHello(hello, connection.proof->body());
  if (fault != FrameFault::kNone) return fault;
  const WorkerId worker{hello.source_worker};
  const FrameFault proven = connection.proof->OnProof(barriers_->KeyOf(worker), payload);
  if (proven != FrameFault::kNone) return RefuseProof(id, proven);
  if (const auto earlier = of_worker_.find(worker); earlier != of_worker_.end()) {
    const ConnectionId old = earlier->second;
    connections_.at(old).stream->Close("the worker has connected anew");
    Discard(old);
  }
  connection.worker = worker;
  connection.stream->LimitPayloads(kFramePayloadBytesMax);
  of_worker_[worker] = id;
  spdlog::info("event=worker_connected worker={} peer={}", Value(worker), connection.peer);
  barriers_->OnConnected(worker);
  return FrameFault::kNone;
}

// The peer is told why, which a fault alone does not do.
FrameFault BarrierServer::RefuseProof(ConnectionId id, FrameFault fault) {
  const Connection& connection = connections_.at(id);
  CountRefused(connection, WorkerId{connection.proof->header().source_worker}, fault);
  connection.stream->Close(FaultText(fault));
  Discard(id);
  return FrameFault::kNone;
}

void BarrierServer::CountRefused(const Connection& connection, WorkerId claimed, FrameFault fault) {
  faults_[static_cast<std::size_t>(fault)] += 1;
  if (const auto refused = refusals_.Next())
    spdlog::warn("event=stream_refused worker={} peer={} refused={} reason=\"{}\"", Value(claimed),
                 connection.peer, *refused, FaultText(fault));
}

void BarrierServer::Send(WorkerId worker, const FrameHeader& header,
                         std::span<const std::byte> payload) {
  const auto found = of_worker_.find(worker);
  if (found != of_worker_.end()) connections_.at(found->second).stream->Send(header, payload);
}

void BarrierServer::Close(WorkerId worker, const char* reason) {
  const auto found = of_worker_.find(worker);
  if (found == of_worker_.end()) return;
  const ConnectionId id = found->second;
  connections_.at(id).stream->Close(reason);
  Discard(id);
}

// ---- To look at ---------------------------------------------------------------------------------

std::uint64_t BarrierServer::faults(FrameFault fault) const {
  return faults_[static_cast<std::size_t>(fault)];
}

std::uint64_t BarrierServer::bytes_read() const {
  std::uint64_t bytes = closed_bytes_read_;
  for (const auto& [id, connection] : connections_) bytes += connection.stream->bytes_read();
  return bytes;
}

std::uint64_t BarrierServer::bytes_written() const {
  std::uint64_t bytes = closed_bytes_written_;
  for (const auto& [id, connection] : connections_) bytes += connection.stream->bytes_written();
  return bytes;
}

}  // namespace bspnow::coordinator
