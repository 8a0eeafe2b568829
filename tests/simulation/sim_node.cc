#include "tests/simulation/sim_node.h"

#include <string.h>

#include <algorithm>
#include <utility>

#include "net/frame_check.h"

namespace bspnow {
namespace {

using FrameClass = worker::NodeExchange::FrameClass;

constexpr int kFailedStatus = 3;

worker::NodeExchangePlan ExchangePlan(const SimNode::Plan& plan) {
  return {.self = plan.self,
          .hosts = static_cast<std::uint32_t>(plan.hosts.size()),
          .barriers_per_superstep = plan.program.barriers_per_superstep()};
}

bool IsCounted(FrameClass frame_class) {
  return frame_class == FrameClass::kBatch || frame_class == FrameClass::kGets;
}

}  // namespace

SimNode::SimNode(SimLoop& loop, SimOracle& oracle, SimStreams& streams, SimNodeHost& host,
                 Plan plan)
    : loop_(loop),
      oracle_(oracle),
      streams_(streams),
      host_(host),
      plan_(std::move(plan)),
      exchange_(ExchangePlan(plan_)),
      sent_(plan_.hosts.size()),
      owed_(plan_.hosts.size()) {
  if (plan_.resume) first_superstep_ = plan_.resume->superstep() - 1;
}

std::uint32_t SimNode::nprocs() const {
  std::size_t nprocs = 0;
  for (const NodeShare& share : plan_.hosts) nprocs += share.pids.size();
  return static_cast<std::uint32_t>(nprocs);
}

std::uint32_t SimNode::HostOf(std::uint32_t pid) const {
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    const std::vector<Pid>& there = plan_.hosts[host].pids;
    if (std::find(there.begin(), there.end(), Pid{pid}) != there.end()) return host;
  }
  return hosts();
}

std::uint32_t SimNode::TakingPart(std::uint32_t host) const {
  const std::vector<Pid>& there = plan_.hosts[host].pids;
  return static_cast<std::uint32_t>(std::count_if(
      there.begin(), there.end(), [this](Pid pid) { return Value(pid) < processes_; }));
}

std::vector<std::uint32_t> SimNode::PidsTakingPart() const {
  std::vector<std::uint32_t> taking_part;
  for (const Pid pid : pids()) {
    if (Value(pid) < processes_) taking_part.push_back(Value(pid));
  }
  return taking_part;
}

void SimNode::After(std::uint64_t delay_ns, void (SimNode::*step)()) {
  loop_.On(plan_.actors.processes, delay_ns, [self = shared_from_this(), step] {
    if (!self->gone_ && !self->stuck_) (self.get()->*step)();
  });
}

void SimNode::OnDaemon(std::uint64_t delay_ns, std::function<void()> event) {
  loop_.On(plan_.actors.daemon, delay_ns, [self = shared_from_this(), event = std::move(event)] {
    if (!self->silent_) event();
  });
}

proto::WorkerEvent SimNode::Event() const {
  proto::WorkerEvent event;
  event.set_job(Value(job()));
  event.set_epoch(Value(epoch()));
  return event;
}

// In the order in which it happened, whoever it happened to.
void SimNode::Report(proto::WorkerEvent event) {
  OnDaemon(kBellNs, [this, event = std::move(event)] { host_.Report(event); });
}

proto::HeldJob SimNode::Held() const {
  proto::HeldJob held;
  held.set_job(Value(job()));
  held.set_epoch(Value(epoch()));
  held.set_participants(processes_);
  held.set_clearing(ending_);
  for (const Pid pid : begun_) held.add_begun(Value(pid));
  for (const proto::ProcessExited& exited : exited_) *held.add_exited() = exited;
  held.set_first_superstep(first_superstep_);
  return held;
}

SimNode::Plan SimNode::PlanOf(const proto::StartJob& start, WorkerId self, Actors actors) {
  Plan plan{.job = JobId{start.job()},
            .epoch = Epoch{start.epoch()},
            .hosts = {},
            .self = 0,
            .program = SimProgram::FromSpec(start.spec()),
            .resume = {},
            .actors = std::move(actors)};
  for (const proto::Host& host : start.hosts()) {
    NodeShare share{.worker = WorkerId{host.worker()}, .pids = {}, .slots = 0};
    for (const std::uint32_t pid : host.pids()) share.pids.push_back(Pid{pid});
    if (share.worker == self) plan.self = static_cast<std::uint32_t>(plan.hosts.size());
    plan.hosts.push_back(std::move(share));
  }
  if (start.has_resume()) plan.resume = start.resume();
  return plan;
}

// ---- A superstep --------------------------------------------------------------------------------

void SimNode::Compute() {
  std::fill(sent_.begin(), sent_.end(), 0);
  std::fill(owed_.begin(), owed_.end(), 0);
  if (exchange_.ends_superstep() && !repeats(exchange_.superstep())) Prepare();
  After(loop_.Below(5 * kMillisecond), &SimNode::SendEarly);
}

// What its processes will say in this superstep.
void SimNode::Prepare() {
  const std::uint64_t s = shown();
  for (const std::uint32_t pid : PidsTakingPart()) {
    Process& process = processes_here_[pid];
    if (plan_.program.prints(s, pid)) Print(pid);
    for (const SimProgram::Message& message : plan_.program.messages(s, pid, processes_)) {
      const std::uint64_t value = SimProgram::ValueOf(process.state.digest, message);
      const std::uint32_t host = HostOf(message.to);
      if (host != plan_.self) {
        outbox_.push_back({.host = host, .from_pid = pid, .message = message, .value = value});
        owed_[host] += 1;
        if (message.get) awaits_.insert(host);
      } else if (message.get) {
        const std::uint64_t digest = processes_here_[message.to].state.digest;
        process.received += SimProgram::Received(message.to, message.index, digest);
      } else {
        processes_here_[message.to].received += SimProgram::Received(pid, message.index, value);
      }
    }
  }
}

void SimNode::Print(std::uint32_t pid) {
  SimState& state = processes_here_[pid].state;
  const std::uint64_t offset = state.printed++;
  proto::WorkerEvent event = Event();
  proto::ProcessOutput& output = *event.mutable_output();
  output.set_pid(pid);
  output.set_stream(proto::STDOUT);
  output.set_text(SimProgram::TextOf(state.digest));
  output.set_offset(offset * SimProgram::kWordBytes);
  Report(std::move(event));
}

void SimNode::SendEarly() {
  for (const std::uint32_t pid : PidsTakingPart()) {
    if (repeats(exchange_.superstep()) || !plan_.program.fails(shown(), pid, processes_)) continue;
    stuck_ = true;
    return LeaveOne(Pid{pid}, Reached::kRunning, kFailedStatus, 0);
  }
  for (std::uint64_t early = loop_.Below(outbox_.size() + 1); early > 0; --early) {
    if (outbox_.back().message.get) break;
    Send(outbox_.back(), exchange_.superstep());
    outbox_.pop_back();
  }
  After(loop_.Below(5 * kMillisecond), &SimNode::ReachBarrier);
}

void SimNode::Send(const Outgoing& outgoing, std::uint64_t s) {
  Transmit(outgoing.host,
           {.job = job(),
            .epoch = epoch(),
            .superstep = s,
            .from_host = plan_.self,
            .frame_class = outgoing.message.get ? FrameClass::kGets : FrameClass::kBatch,
            .number = oracle_.OnSent(Place(outgoing.host), s),
            .from_pid = outgoing.from_pid,
            .to_pid = outgoing.message.to,
            .index = outgoing.message.index,
            .value = outgoing.value});
}

void SimNode::Transmit(std::uint32_t host, SimFrame frame) {
  if (IsCounted(frame.frame_class)) sent_[host] += 1;
  OnDaemon(kBellNs, [this, host, frame] { streams_.Send(plan_.hosts[host].worker, frame); });
}

void SimNode::ReachBarrier() {
  worker::BarrierCounts counts{};
  counts.gets = awaits_.empty() ? 0 : 1;
  for (const Outgoing& outgoing : std::exchange(outbox_, {})) Send(outgoing, exchange_.superstep());
  if (sent_ != owed_) return oracle_.Fail("a node sends other frames than it owes");
  if (sent_ != std::vector<std::uint64_t>(hosts())) counts.data = 1;
  if (repeats(exchange_.superstep())) counts.votes = TakingPart(plan_.self);
  const bool last = exchange_.ends_superstep() && shown() + 1 == plan_.program.supersteps();
  if (last && !repeats(exchange_.superstep())) counts.ending = TakingPart(plan_.self);
  oracle_.OnArrived(Place(plan_.self), exchange_.barrier());
  if (alone()) {
    exchange_.OnLocalArrival(counts, sent_);
    return ReleaseAlone();
  }
  OnDaemon(kBellNs, [this, counts] {
    const worker::NodeExchange::Actions actions = exchange_.OnLocalArrival(counts, sent_);
    arrives_[exchange_.barrier() & 1] = {exchange_.arrival().superstep, EncodeArrival()};
    Perform(actions);
  });
}

// Its processes release each other, whatever their daemon does.
void SimNode::ReleaseAlone() {
  exchange_.OnRelease(exchange_.barrier(), exchange_.arrival().counts,
                      std::vector<std::uint64_t>(1));
  if (exchange_.released_ends_superstep() && loop_.Chance(30)) {
    OnDaemon(kBellNs, [this, supersteps = exchange_.superstep()] {
      ProgressBody body{};
      body.supersteps = supersteps;
      body.processes = processes_;
      host_.SendOfJob(*this, FrameKind::kProgress, supersteps, BytesOf(body));
    });
  }
  After(loop_.Below(20 * kMicrosecond), &SimNode::LeaveBarrier);
}

std::vector<std::byte> SimNode::EncodeArrival() const {
  const worker::NodeExchange::Arrival& arrival = exchange_.arrival();
  ArriveBody body{};
  body.barrier = arrival.barrier;
  body.processes = TakingPart(plan_.self);
  body.with_data = arrival.counts.data;
  body.with_gets = arrival.counts.gets;
  body.with_votes = arrival.counts.votes;
  body.ending = arrival.counts.ending;
  body.ends_superstep = exchange_.ends_superstep() ? 1 : 0;
  std::vector<PeerOwed> peers;
  for (std::size_t host = 0; host < arrival.frames.size(); ++host) {
    if (arrival.frames[host] == 0) continue;
    peers.push_back(
        {.worker = Value(plan_.hosts[host].worker), .reserved = 0, .frames = arrival.frames[host]});
  }
  body.peers = static_cast<std::uint32_t>(peers.size());
  std::vector<std::byte> payload(sizeof body + peers.size() * sizeof(PeerOwed));
  memcpy(payload.data(), &body, sizeof body);
  if (!peers.empty()) {
    memcpy(&payload[sizeof body], peers.data(), peers.size() * sizeof(PeerOwed));
  }
  return payload;
}

// ---- The exchange -------------------------------------------------------------------------------

void SimNode::OnRelease(std::span<const std::byte> release) {
  ReleaseBody body;
  memcpy(&body, release.data(), sizeof body);
  if (!exchange_.waiting() || body.barrier != exchange_.barrier()) return;  // Repeated.
  release_ = body;
  std::vector<std::uint64_t> owed(hosts());
  for (std::uint32_t i = 0; i < body.peers; ++i) {
    PeerOwed peer;
    memcpy(&peer, &release[sizeof body + i * sizeof peer], sizeof peer);
    for (std::uint32_t host = 0; host < hosts(); ++host) {
      if (Value(plan_.hosts[host].worker) == peer.worker) owed[host] = peer.frames;
    }
  }
  Perform(exchange_.OnRelease(body.barrier,
                              {.data = body.with_data,
                               .gets = body.with_gets,
                               .votes = body.with_votes,
                               .ending = body.ending},
                              owed));
}

void SimNode::OnFrame(const SimFrame& frame) {
  if (exchange_.Check(frame.superstep, frame.frame_class) != worker::NodeExchange::Verdict::kTake) {
    return oracle_.Fail("a frame comes in a superstep that is not its own");
  }
  if (IsCounted(frame.frame_class)) {
    oracle_.OnTaken(Place(plan_.self), frame.superstep, frame.number);
  }
  if (frame.frame_class == FrameClass::kGets) {
    asked_[frame.superstep][frame.from_host].push_back({frame.from_pid, frame.to_pid, frame.index});
  } else if (frame.frame_class != FrameClass::kAnswersEnd) {
    inbox_[frame.superstep].push_back(frame);
  }
  Perform(exchange_.OnFrame(frame.from_host, frame.superstep, frame.frame_class));
}

void SimNode::SendBegin() {
  const BeginBody body{.nprocs = processes_, .reserved = 0};
  host_.SendOfJob(*this, FrameKind::kBegin, 0, BytesOf(body));
}

void SimNode::SendArrive(std::uint64_t barrier) {
  const Arrive& arrive = arrives_[barrier & 1];
  host_.SendOfJob(*this, FrameKind::kArrive, arrive.superstep, arrive.payload);
}

void SimNode::OnCoordinatorReconnected() {
  if (processes_ != 0 && pids().front() == Pid{0}) SendBegin();
  if (!alone()) Perform(exchange_.OnCoordinatorReconnected());
}

void SimNode::Perform(const worker::NodeExchange::Actions& actions) {
  if (actions.arrive) SendArrive(exchange_.barrier());
  if (actions.arrive_before) SendArrive(exchange_.barrier() - 1);
  if (actions.prune && exchange_.pruned() != 0) {
    streams_.Prune(job(), epoch(), exchange_.pruned() - 1);
  }
  if (actions.release) After(loop_.Below(20 * kMicrosecond), &SimNode::LeaveBarrier);
  if (actions.take_answers) TakeAnswers();
  if (actions.send_answers) SendAnswers();
}

}  // namespace bspnow
