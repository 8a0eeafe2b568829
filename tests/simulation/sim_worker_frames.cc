// The frame stream of a simulated worker to its coordinator.
#include <string.h>

#include "base/units.h"
#include "net/frame_check.h"
#include "tests/simulation/sim_worker.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kRetryNs = 100 * kMillisecond;

}  // namespace

void SimWorker::Connect() {
  if (frames_) frames_->Close(SimLink::kCaller);
  welcome_ = false;
  frames_at_ = surroundings_.coordinator();
  if (frames_at_ != nullptr && frames_at_->superseded()) frames_at_ = nullptr;
  frames_ = MakeLink(frames_at_);
  const Link link = frames_;
  link->OnBroken(SimLink::kCaller, [this](const Link& broken) {
    if (dead() || frames_ != broken) return;
    loop_.On(daemon_, loop_.Below(kRetryNs), [this, broken] {
      if (!dead() && frames_ == broken) Connect();
    });
  });
  if (cut_off()) return link->Break();
  const HelloBody hello{.incarnation = identity_.incarnation, .target = 0, .term = term_};
  SendFrame(HeaderOf(FrameKind::kHello), BytesOf(hello));
  RenewLease(jobs_.heartbeat_ms());
}

void SimWorker::RenewLease(std::uint64_t every_ms) {
  heartbeat_ns_ = every_ms * kNsPerMs;
  heartbeats_ += 1;
  if (frames_) Beat(frames_, heartbeats_);
}

void SimWorker::Beat(const Link& link, std::uint64_t series) {
  if (dead() || frames_ != link || series != heartbeats_) return;
  const HeartbeatBody body{.sent_ns = clock_ns()};
  SendFrame(HeaderOf(FrameKind::kHeartbeat), BytesOf(body));
  loop_.On(daemon_, heartbeat_ns_, [this, link, series] { Beat(link, series); });
}

void SimWorker::SendFrame(FrameHeader header, std::span<const std::byte> payload) {
  header.source_worker = Value(id_);
  frames_->Send(
      SimLink::kCaller,
      [this, link = frames_, at = frames_at_,
       frame = SimFrameBytes{.header = header, .payload = {payload.begin(), payload.end()}}] {
        if (at == nullptr || at->dead()) return link->Break();
        at->OnFrame(link, frame, *this);
      });
}

void SimWorker::OnFrame(const Link& link, const SimFrameBytes& frame) {
  if (dead() || frames_ != link) return;
  const FrameHeader& header = frame.header;
  switch (FrameKind{header.kind}) {
    case FrameKind::kWelcome:
      return OnWelcome();
    case FrameKind::kLease: {
      HeartbeatBody body;
      memcpy(&body, frame.payload.data(), sizeof body);
      return jobs_.OnLeaseRenewed(body.sent_ns);
    }
    case FrameKind::kBegin: {
      BeginBody body;
      memcpy(&body, frame.payload.data(), sizeof body);
      const JobId job{header.job};
      const Epoch epoch{header.epoch};
      if (SimNode* const node = Find(job, epoch)) return node->OnBegin(body.nprocs);
      return early_begins_.Keep(job, epoch, body.nprocs);
    }
    case FrameKind::kRelease:
      if (SimNode* node = Find(JobId{header.job}, Epoch{header.epoch}))
        node->OnRelease(frame.payload);
      return;
    default:
      oracle_.Fail("a frame of no known kind");
  }
}

void SimWorker::OnWelcome() {
  welcome_ = true;
  for (const auto& [key, node] : nodes_) {
    if (node->exchanging()) node->OnCoordinatorReconnected();
  }
}

void SimWorker::SendOfJob(const SimNode& node, FrameKind kind, std::uint64_t superstep,
                          std::span<const std::byte> payload) {
  if (!welcome_ || !node.exchanging()) return;
  FrameHeader header = HeaderOf(kind);
  header.job = Value(node.job());
  header.epoch = Value(node.epoch());
  header.superstep = superstep;
  SendFrame(header, payload);
}

}  // namespace bspnow
