#include "worker/peer_streams.h"

#include <utility>

#include "base/check.h"

namespace bspnow {
namespace {

void Add(SendingStreamCounts& sum, const SendingStreamCounts& counts) {
  sum.bytes += counts.bytes;
  sum.frames += counts.frames;
  sum.resent_frames += counts.resent_frames;
  sum.resent_bytes += counts.resent_bytes;
  sum.connects += counts.connects == 0 ? 0 : counts.connects - 1;  // The first is no reconnect.
  sum.breaks += counts.breaks;
  sum.stalls += counts.stalls;
  for (std::size_t i = 0; i < counts.faults.size(); ++i) sum.faults[i] += counts.faults[i];
}

}  // namespace

PeerStreams::PeerStreams(EventLoop& loop, const SocketOptions& socket, std::uint64_t incarnation,
                         SendingStreamEvents events)
    : loop_(loop), socket_(socket), incarnation_(incarnation), events_(std::move(events)) {}

void PeerStreams::SetSelf(WorkerId self) {
  if (self == self_) return;
  for (const auto& [worker, peer] : peers_) {
    BSP_CHECK_OP(peer.jobs, ==, 0);
    Add(gone_, peer.stream->counts());
  }
  peers_.clear();
  self_ = self;
}

absl::StatusOr<SendingStream*> PeerStreams::Use(WorkerId worker, const std::string& address) {
  const absl::StatusOr<HostPort> host_port = ParseHostPort(address);
  if (!host_port.ok()) return host_port.status();
  const absl::StatusOr<SocketAddress> where = Resolve(*host_port);
  if (!where.ok()) return where.status();
  Peer& peer = peers_[worker];
  if (!peer.stream) {
    SendingStreamOptions options;
    options.self = self_;
    options.incarnation = incarnation_;
    options.target = worker;
    options.address = *where;
    options.socket = socket_;
    peer.stream = std::make_unique<SendingStream>(loop_, std::move(options), events_);
  } else {
    peer.stream->SetAddress(*where);
  }
  peer.jobs += 1;
  return peer.stream.get();
}

// A worker that has gone for good is not called again; its successor has another id.
void PeerStreams::Release(WorkerId worker) {
  const auto found = peers_.find(worker);
  BSP_CHECK(found != peers_.end());
  found->second.jobs -= 1;
  if (found->second.jobs != 0 || found->second.stream->connected()) return;
  Add(gone_, found->second.stream->counts());
  peers_.erase(found);
}

SendingStreamCounts PeerStreams::Counts() const {
  SendingStreamCounts sum = gone_;
  for (const auto& [worker, peer] : peers_) Add(sum, peer.stream->counts());
  return sum;
}

}  // namespace bspnow
