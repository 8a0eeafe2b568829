#include "tests/simulation/sim_worker.h"

#include <string.h>

#include <utility>

#include "net/frame.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kHeartbeatNs = 250 * kMillisecond;
constexpr std::uint64_t kRetryNs = 100 * kMillisecond;
constexpr std::uint64_t kStreamsMax = 1 << 20;  // Of one incarnation.

std::vector<std::byte> Encode(const SimNode& node) {
  const NodeExchange::Arrival& arrival = node.exchange().arrival();
  ArriveBody body{};
  body.barrier = arrival.barrier;
  body.processes = node.taking_part();
  body.with_data = arrival.counts.data;
  body.with_gets = arrival.counts.gets;
  body.with_votes = arrival.counts.votes;
  body.ending = arrival.counts.ending;
  std::vector<PeerOwed> peers;
  for (std::size_t host = 0; host < arrival.frames.size(); ++host) {
    if (arrival.frames[host] == 0) continue;
    peers.push_back({.worker = Value(node.order().hosts[host].worker),
                     .reserved = 0,
                     .frames = arrival.frames[host]});
  }
  body.peers = static_cast<std::uint32_t>(peers.size());
  std::vector<std::byte> payload(sizeof body + peers.size() * sizeof(PeerOwed));
  memcpy(payload.data(), &body, sizeof body);
  if (!peers.empty()) {
    memcpy(&payload[sizeof body], peers.data(), peers.size() * sizeof(PeerOwed));
  }
  return payload;
}

}  // namespace

SimWorker::SimWorker(SimLoop& loop, SimOracle& oracle, Identity identity,
                     FindCoordinator coordinator, FindStreams streams)
    : loop_(loop),
      oracle_(oracle),
      identity_(std::move(identity)),
      coordinator_(std::move(coordinator)),
      streams_(loop, oracle, identity_.incarnation * kStreamsMax, std::move(streams),
               {.taken = [this](const SimFrame& frame) { OnFrame(frame); },
                .delivered = [this](const SimFrame& frame) { OnDelivered(frame); }}) {
  Register();
}

void SimWorker::Die() {
  streams_.Die();
  for (auto& [job, node] : nodes_) node->Abandon();
  if (control_) control_->Close(SimLink::kCaller);
  if (frames_) frames_->Close(SimLink::kCaller);
}

void SimWorker::CutOff(std::uint64_t until_ns) {
  cut_off_until_ns_ = until_ns;
  BreakFrames();
}

// ---- Registration -------------------------------------------------------------------------------

void SimWorker::Register() {
  control_ = SimLink::Make(loop_);
  const Link control = control_;
  control->OnBroken(SimLink::kCaller, [this](const Link& broken) {
    if (!dead() && control_ == broken) Abandon();
  });
  control->Send(SimLink::kCaller, [this, control] {
    SimCoordinator* coordinator = coordinator_();
    if (coordinator == nullptr || cut_off()) return control->Break();
    const WorkerId id = coordinator->Register(identity_.name, identity_.slots,
                                              identity_.incarnation, *this, control);
    control->Send(SimLink::kCalled, [this, id, control] {
      if (!dead()) OnRegistered(id, control);
    });
  });
}

void SimWorker::OnRegistered(WorkerId id, const Link& control) {
  if (control_ != control) return;
  id_ = id;
  streams_.SetSelf(id);
  Connect();
}

// The coordinator has given it up, or knows nothing of it: all that it hosts goes.
void SimWorker::Abandon() {
  for (auto& [job, node] : nodes_) node->Abandon();
  nodes_.clear();
  if (frames_) frames_->Close(SimLink::kCaller);
  frames_ = nullptr;
  id_ = WorkerId{0};
  loop_.After(kRetryNs + loop_.Below(kRetryNs), [this] {
    if (!dead()) Register();
  });
}

// ---- The frame stream to the coordinator --------------------------------------------------------

void SimWorker::Connect() {
  welcome_ = false;
  frames_ = SimLink::Make(loop_);
  const Link link = frames_;
  link->OnBroken(SimLink::kCaller, [this](const Link& broken) {
    if (dead() || frames_ != broken) return;
    loop_.After(loop_.Below(kRetryNs), [this, broken] {
      if (!dead() && frames_ == broken) Connect();
    });
  });
  if (cut_off()) return link->Break();
  ToCoordinator(link, [this, link](SimCoordinator& coordinator) {
    coordinator.OnHello(id_, identity_.incarnation, link);
  });
  Beat(link);
}

void SimWorker::Beat(const Link& link) {
  if (dead() || frames_ != link) return;
  ToCoordinator(link, [id = id_](SimCoordinator& coordinator) { coordinator.OnHeartbeat(id); });
  loop_.After(kHeartbeatNs, [this, link] { Beat(link); });
}

void SimWorker::ToCoordinator(const Link& link, std::function<void(SimCoordinator&)> say) {
  link->Send(SimLink::kCaller, [this, link, say = std::move(say)] {
    SimCoordinator* coordinator = coordinator_();
    if (coordinator == nullptr) return link->Break();
    say(*coordinator);
  });
}

void SimWorker::OnWelcome(const Link& link) {
  if (dead() || frames_ != link) return;
  welcome_ = true;
  for (auto& [job, node] : nodes_) node->OnCoordinatorReconnected();
}

void SimWorker::Arrive(const SimNode& node) {
  if (!welcome_) return;
  ToCoordinator(
      frames_, [id = id_, job = node.job(), epoch = node.epoch(), payload = Encode(node)](
                   SimCoordinator& coordinator) { coordinator.OnArrive(id, job, epoch, payload); });
}

void SimWorker::SendBegin(const SimNode& node) {
  if (!welcome_) return;
  ToCoordinator(frames_,
                [id = id_, job = node.job(), epoch = node.epoch(), p = node.processes()](
                    SimCoordinator& coordinator) { coordinator.OnBeginFrame(id, job, epoch, p); });
}

void SimWorker::Tell(std::function<void(SimCoordinator&)> event) {
  control_->Send(SimLink::kCaller, [this, event = std::move(event)] {
    if (SimCoordinator* coordinator = coordinator_()) event(*coordinator);
  });
}

// ---- Orders and frames --------------------------------------------------------------------------

SimNode* SimWorker::Find(JobId job, Epoch epoch) {
  const auto found = nodes_.find(job);
  return dead() || found == nodes_.end() || found->second->epoch() != epoch ? nullptr
                                                                            : found->second.get();
}

void SimWorker::OnStart(const StartOrder& order, const std::string& spec) {
  if (dead()) return;
  std::uint32_t self = 0;
  while (order.hosts[self].worker != id_) self += 1;
  SimNodeRim& rim = *this;
  auto node = std::make_shared<SimNode>(
      loop_, oracle_, streams_, rim,
      SimNode::Plan{.order = order, .self = self, .program = SimProgram::FromSpec(spec)});
  nodes_[order.job] = node;
  node->Start();
  const auto begin = early_begins_.find({order.job, order.epoch});
  if (begin != early_begins_.end()) node->OnBegin(begin->second);
}

void SimWorker::OnEnd(const EndOrder& order) {
  SimNode* node = Find(order.job, order.epoch);
  if (node == nullptr) return;
  node->End(id_);
  nodes_.erase(order.job);
}

void SimWorker::OnBegin(JobId job, Epoch epoch, std::uint32_t processes) {
  if (SimNode* node = Find(job, epoch)) return node->OnBegin(processes);
  early_begins_[{job, epoch}] = processes;  // The order to start comes by another stream.
}

void SimWorker::OnRelease(JobId job, Epoch epoch, std::vector<std::byte> release) {
  if (SimNode* node = Find(job, epoch)) node->OnRelease(release);
}

void SimWorker::OnFrame(const SimFrame& frame) {
  if (SimNode* node = Find(frame.job, frame.epoch)) node->OnFrame(frame);
}

void SimWorker::OnDelivered(const SimFrame& frame) {
  SimNode* node = Find(frame.job, frame.epoch);
  if (node != nullptr && frame.unread_put) node->OnDelivered();
}

}  // namespace bspnow
