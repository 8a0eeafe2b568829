#include "worker/exchange/peer_streams.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace bspnow::worker {
namespace {

// A stream takes a connection for broken after half of that.
constexpr std::uint64_t kSilentNs = 4 * kNsPerS;

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

PeerStreams::PeerStreams(EventLoop& loop, Resolver& resolver, PeerStreamsSettings settings,
                         SendingStreamEvents events, OnFailed failed)
    : loop_(loop),
      resolver_(resolver),
      settings_(std::move(settings)),
      events_(std::move(events)),
      failed_(std::move(failed)) {}

void PeerStreams::Forget(Peer& peer) {
  Add(gone_, peer.stream->counts());
  peer.stream.reset();
}

void PeerStreams::SetSelf(WorkerId self) {
  if (self == self_) return;
  addresses_.clear();
  for (auto& [worker, peer] : peers_) {
    if (peer.jobs != 0) {
      former_.push_back(std::move(peer));
    } else {
      Forget(peer);
    }
  }
  peers_.clear();
  self_ = self;
}

void PeerStreams::ConnectAnew(const std::string& why) {
  for (const auto& [worker, peer] : peers_) peer.stream->ConnectAnew(why);
  for (const Peer& peer : former_) peer.stream->ConnectAnew(why);
}

void PeerStreams::SetAddress(WorkerId worker, const std::string& data_address) {
  if (data_address.empty()) {
    addresses_.erase(worker);
    return;
  }
  addresses_[worker] = data_address;
  const auto peer = peers_.find(worker);
  const absl::StatusOr<HostPort> host_port = ParseHostPort(data_address);
  if (peer != peers_.end() && host_port.ok()) peer->second.stream->SetAddress(*host_port);
}

absl::StatusOr<SendingStream*> PeerStreams::Use(const PlannedHost& host) {
  const auto told = addresses_.find(host.worker);
  const absl::StatusOr<HostPort> host_port =
      ParseHostPort(told == addresses_.end() ? host.data_address : told->second);
  if (!host_port.ok()) return host_port.status();
  Peer& peer = peers_[host.worker];
  if (!peer.stream) {
    // The incarnation is the stream's own: a new one starts at sequence 1, and the peer must not
    // take that for more of an earlier one. Nor can a peer, which sees its own, foresee others: it
    // would use up the sequences there with frames of no job, and ours would count as received.
    std::uint64_t incarnation = 0;
    while (incarnation == 0)  // That of a probe.
      FillRandom(std::as_writable_bytes(std::span(&incarnation, 1)));
    SendingStreamOptions options{.key = settings_.key,
                                 .self = self_,
                                 .incarnation = incarnation,
                                 .target = host.worker,
                                 .target_name = host.node,
                                 .address = *host_port,
                                 .socket = settings_.socket,
                                 .unreachable_ms = settings_.unreachable_ms,
                                 .integrity = settings_.integrity};
    SendingStreamEvents events = events_;
    events.failed = [this, worker = host.worker](const std::string& reason) {
      failed_(worker, reason);
    };
    peer.stream =
        std::make_unique<SendingStream>(loop_, resolver_, std::move(options), std::move(events));
  } else {
    peer.stream->SetAddress(*host_port);
  }
  peer.jobs += 1;
  return peer.stream.get();
}

void PeerStreams::Release(const SendingStream* stream) {
  for (auto at = peers_.begin(); at != peers_.end(); ++at) {
    Peer& peer = at->second;
    if (peer.stream.get() != stream) continue;
    peer.jobs -= 1;
    // A worker that has gone for good is not called again; its successor has another id.
    if (peer.jobs != 0 || stream->connected()) return;
    Forget(peer);
    peers_.erase(at);
    return;
  }
  const auto former = std::find_if(former_.begin(), former_.end(), [stream](const Peer& peer) {
    return peer.stream.get() == stream;
  });
  BSP_CHECK(former != former_.end());
  former->jobs -= 1;
  if (former->jobs != 0) return;
  Forget(*former);
  former_.erase(former);
}

std::set<WorkerId> PeerStreams::Silent(std::uint64_t now_ns) const {
  std::set<WorkerId> silent;
  for (const auto& [worker, peer] : peers_)
    if (now_ns - peer.stream->silent_since_ns(now_ns) >= kSilentNs) silent.insert(worker);
  return silent;
}

SendingStreamCounts PeerStreams::Counts() const {
  SendingStreamCounts sum = gone_;
  for (const auto& [worker, peer] : peers_) Add(sum, peer.stream->counts());
  for (const Peer& peer : former_) Add(sum, peer.stream->counts());
  return sum;
}

}  // namespace bspnow::worker
