// Barriers that the coordinator carries: see "A superstep over several nodes" in docs/design.md.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>

#include "net/frame_body.h"
#include "worker/exchange/job_exchange.h"

namespace bspnow::worker {

using enum ExchangeFault;

// ---- bsp_begin ----------------------------------------------------------------------------------

void JobExchange::OnBegun() {
  const std::uint32_t p = segment_.header().participants.value.load(std::memory_order_acquire);
  if (!IsRoot() || !shape_.IsHere(0) || p == 0 || p > shape_.host_of.size()) {
    return Break(
        kProgram,
        absl::StrCat("pid 0 has damaged its communication memory: bsp_begin with p = ", p));
  }
  shape_.participants = p;
  SendBegin();
}

void JobExchange::SendBegin() {
  const BeginBody body{.nprocs = shape_.participants, .reserved = 0};
  owner_.SendToCoordinator(Header(FrameKind::kBegin), BytesOf(body));
}

void JobExchange::OnBegin(std::uint32_t nprocs) {
  if (broken_ || shape_.IsHere(0) || shape_.participants != 0) return;
  if (nprocs == 0 || nprocs > shape_.host_of.size()) return;
  shape_.participants = nprocs;
  segment_.header().participants.Publish(nprocs);
}

// Before its first process runs: bsp_begin was long ago. A coordinator that was restarted before
// this node had its processes does not know p; another one does, and hears nothing new.
void JobExchange::OnResumed() {
  shape_.participants = plan_.participants;
  segment_.header().participants.Publish(plan_.participants);
  if (shape_.IsHere(0)) SendBegin();
}

// ---- Arrival -----------------------------------------------------------------------------------

void JobExchange::EncodeArrival() {
  const NodeExchange::Arrival& arrival = exchange_.arrival();
  const std::uint32_t here = shape_.TakingPart(shape_.self);
  peers_.clear();
  for (std::uint32_t host = 0; host < arrival.frames.size(); ++host) {
    if (arrival.frames[host] == 0) continue;
    peers_.push_back(PeerOwed{
        .worker = Value(plan_.hosts[host].worker), .reserved = 0, .frames = arrival.frames[host]});
  }
  EndingHere(arrival.counts);
  ArriveBody body{.barrier = arrival.barrier,
                  .processes = here,
                  .with_data = arrival.counts.data,
                  .with_gets = arrival.counts.gets,
                  .with_votes = arrival.counts.votes,
                  .ending = arrival.counts.ending,
                  .peers = static_cast<std::uint32_t>(peers_.size()),
                  .ending_bytes = static_cast<std::uint32_t>(ending_.size()),
                  .has_sums = arrival.superstep != 0 ? 1u : 0u,
                  .ends_superstep = exchange_.ends_superstep() ? 1u : 0u,
                  .with_groups = arrival.counts.groups,
                  .sums = {}};
  if (body.has_sums != 0)
    body.sums = SumsHere(segment_, shape_.participants, arrival.superstep - 1);
  SentArrive& sent = arrives_[arrival.barrier & 1];
  sent.header = Header(FrameKind::kArrive);
  EncodeBarrier(body, peers_, ending_, sent.payload);
}

// If some but not all of the processes here are in bsp_end: which ones.
void JobExchange::SendArrive(std::uint64_t barrier) {
  owner_.SendToCoordinator(arrives_[barrier & 1].header, arrives_[barrier & 1].payload);
}

// ---- Release -----------------------------------------------------------------------------------

FrameFault JobExchange::OnRelease(std::span<const std::byte> payload) {
  const std::optional<ReleaseView> view = ReleaseView::Decode(payload);
  if (!view.has_value()) return FrameFault::kMalformed;
  const ReleaseBody& body = view->body();
  if (broken_ || !exchange_.waiting() || exchange_.release_known() ||
      body.barrier != exchange_.barrier()) {
    return FrameFault::kNone;  // Repeated.
  }
  release_ = body;
  std::fill(owed_.begin(), owed_.end(), 0);
  for (std::uint32_t i = 0; i < body.peers; ++i) {
    const PeerOwed owed = view->peer(i);
    const std::uint32_t host = HostOf(WorkerId{owed.worker});
    if (host >= owed_.size()) return FrameFault::kMalformed;
    owed_[host] = owed.frames;
  }
  for (std::uint32_t i = 0; view->has_ending() && i < shape_.participants; ++i) {
    if (!shape_.IsHere(i)) segment_.cell(Pid{i}).in_end = view->InEnd(i) ? 1 : 0;
  }
  Perform(exchange_.OnRelease(body.barrier,
                              BarrierCounts{.data = body.with_data,
                                            .gets = body.with_gets,
                                            .votes = body.with_votes,
                                            .ending = body.ending,
                                            .groups = body.with_groups},
                              owed_));
  return FrameFault::kNone;
}

void JobExchange::OnCoordinatorReconnected() {
  if (broken_) return;
  if (shape_.IsHere(0) && shape_.participants != 0) SendBegin();
  if (Directly()) return SendArrive(0);
  Perform(exchange_.OnCoordinatorReconnected());
}

void JobExchange::OnRemoved() {
  const std::uint32_t here = shape_.TakingPart(shape_.self);
  if (broken_ || here == 0 || exchange_.waiting() || exchange_.released_barriers() == 0 ||
      exchange_.global_counts().ending != shape_.participants)
    return;
  const std::uint64_t last = exchange_.released_superstep();
  const ArriveBody body{.barrier = exchange_.barrier(),
                        .processes = here,
                        .with_data = 0,
                        .with_gets = 0,
                        .with_votes = 0,
                        .ending = 0,
                        .peers = 0,
                        .ending_bytes = 0,
                        .has_sums = 1,
                        .sums = SumsHere(segment_, shape_.participants, last)};
  FrameHeader header = Header(FrameKind::kArrive);
  header.superstep = last;
  owner_.SendToCoordinator(header, BytesOf(body));
}

}  // namespace bspnow::worker
