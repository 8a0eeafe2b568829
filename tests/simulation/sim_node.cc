#include "tests/simulation/sim_node.h"

#include <string.h>

#include <algorithm>
#include <utility>

#include "net/frame_check.h"
#include "worker/core/output_credit.h"

namespace bspnow {
namespace {

using FrameClass = worker::NodeExchange::FrameClass;

constexpr int kFailedStatus = 3;
constexpr std::uint32_t kStopPercent = 3;  // Of frames: the worker is stopped in the middle.
constexpr std::uint32_t kStopAheadPercent = 50;

bool IsCounted(FrameClass frame_class) {
  return frame_class == FrameClass::kBatch || frame_class == FrameClass::kGets;
}

}  // namespace

SimNode::SimNode(const Parts& parts, worker::HostedJob& job)
    : loop_(parts.loop),
      oracle_(parts.oracle),
      streams_(parts.streams),
      host_(parts.host),
      actors_(parts.actors),
      hosted_(job),
      job_(JobId{job.start().job()}),
      epoch_(Epoch{job.start().epoch()}),
      program_(SimProgram::FromSpec(job.start().spec())),
      exchange_({.self = job.node(),
                 .hosts = hosts(),
                 .barriers_per_superstep = program_.barriers_per_superstep()}),
      lanes_(parts.lanes),
      lane_(lane_state_, job.node(), hosts()),
      lane_hosts_(hosts()),
      sent_(hosts()),
      owed_(hosts()) {
  if (start().direct()) direct_.emplace(self(), hosts());
  if (resumes()) first_superstep_ = start().resume().superstep() - 1;
}

SimNode::~SimNode() {
  lanes_.Leave(Place(self()));
  host_.Forget(*this);
}

std::uint32_t SimNode::HostOf(std::uint32_t pid) const {
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    const auto& there = place(host).pids();
    if (std::find(there.begin(), there.end(), pid) != there.end()) return host;
  }
  return hosts();
}

std::uint32_t SimNode::TakingPart(std::uint32_t host) const {
  const auto& there = place(host).pids();
  return static_cast<std::uint32_t>(std::count_if(
      there.begin(), there.end(), [this](std::uint32_t pid) { return pid < participants_; }));
}

std::vector<std::uint32_t> SimNode::PidsTakingPart() const {
  std::vector<std::uint32_t> pids(place(self()).pids().begin(), place(self()).pids().end());
  std::erase_if(pids, [this](std::uint32_t pid) { return pid >= participants_; });
  return pids;
}

void SimNode::OnProcesses(std::uint64_t delay_ns, std::function<void()> event) {
  loop_.On(actors_.processes, delay_ns,
           [this, alive = std::weak_ptr(alive_), event = std::move(event)] {
             if (!alive.expired() && !gone_) event();
           });
}

void SimNode::After(std::uint64_t delay_ns, void (SimNode::*step)()) {
  OnProcesses(delay_ns, [this, step] {
    if (!stuck_) (this->*step)();
  });
}

void SimNode::OnDaemon(std::uint64_t delay_ns, std::function<void()> event) {
  loop_.On(actors_.daemon, delay_ns,
           [this, alive = std::weak_ptr(alive_), event = std::move(event)] {
             if (!alive.expired() && !daemon_dead_) event();
           });
}

// In the order in which it happened, whoever it happened to.
void SimNode::Report(proto::WorkerEvent event) {
  OnDaemon(kBellNs, [this, event = std::move(event)] { hosted_.OnHostEvent(event); });
}

// ---- A superstep --------------------------------------------------------------------------------

void SimNode::Compute() {
  std::fill(sent_.begin(), sent_.end(), 0);
  std::fill(owed_.begin(), owed_.end(), 0);
  if (EndsSuperstep(left()) && !repeats(superstep())) PrepareSuperstep();
  After(loop_.Below(5 * kMillisecond), &SimNode::SendEarly);
}

// What its processes will say in this superstep.
void SimNode::PrepareSuperstep() {
  const std::uint64_t s = shown();
  PrepareVotes(s);
  for (const std::uint32_t pid : PidsTakingPart()) {
    Process& process = processes_[pid];
    if (program_.prints(s, pid)) Print(pid);
    for (const SimProgram::Message& message : program_.messages(s, pid, participants_)) {
      const std::uint64_t value = SimProgram::ValueOf(process.state.digest, message);
      const std::uint32_t host = HostOf(message.to);
      if (host != self() && message.put) {
        process.puts.push_back(message);
      } else if (host != self()) {
        outbox_.push_back({.host = host, .from_pid = pid, .message = message, .value = value});
        owed_[host] += 1;
        if (message.get) awaits_.insert(host);
      } else if (message.get) {
        const std::uint64_t digest = processes_[message.to].state.digest;
        process.received += SimProgram::Received(message.to, message.index, digest);
      } else {
        processes_[message.to].received += SimProgram::Received(pid, message.index, value);
      }
    }
  }
}

void SimNode::Print(std::uint32_t pid) {
  SimState& state = processes_[pid].state;
  const std::uint64_t offset = state.printed++;
  proto::WorkerEvent event;
  proto::ProcessOutput& output = *event.mutable_output();
  output.set_pid(pid);
  output.set_stream(proto::STDOUT);
  output.set_text(SimProgram::TextOf(state.digest));
  output.set_offset(offset * SimProgram::kWordBytes);
  credit_bytes_ -= static_cast<std::int64_t>(worker::OutputCharge(output.text().size()));
  Report(std::move(event));
}

// What was acknowledged may be printed again.
void SimNode::Grant(std::uint64_t bytes) {
  credit_bytes_ += static_cast<std::int64_t>(bytes);
  if (credit_bytes_ > kCreditBytes) oracle_.Fail("more output is acknowledged than was printed");
  if (credit_bytes_ > 0 && std::exchange(waits_for_credit_, false)) After(0, &SimNode::SendEarly);
}

void SimNode::SendEarly() {
  if (credit_bytes_ <= 0) {
    oracle_.Count("programs that wait for the log");
    waits_for_credit_ = true;
    return;
  }
  for (const std::uint32_t pid : PidsTakingPart()) {
    if (repeats(superstep()) || !program_.fails(shown(), pid, participants_)) continue;
    stuck_ = true;
    return LeaveOne(pid, kFailedStatus, 0);
  }
  const std::uint64_t sendable = ahead_ || !program_.sends_early(shown()) ? 0 : outbox_.size();
  for (std::uint64_t early = loop_.Below(sendable + 1); early > 0; --early) {
    if (outbox_.back().message.get || outbox_.back().message.vote) break;
    SendMessage(outbox_.back(), superstep());
    outbox_.pop_back();
  }
  After(loop_.Below(5 * kMillisecond), &SimNode::ReachBarrier);
}

void SimNode::SendMessage(const Outgoing& outgoing, std::uint64_t s) {
  Transmit(outgoing.host, LentFrameOf(outgoing, s));
}

SimFrame SimNode::LentFrameOf(const Outgoing& outgoing, std::uint64_t s) {
  SimFrame frame = FrameOf(outgoing, s);
  lent_[s].push_back(frame.number);
  return frame;
}

SimFrame SimNode::FrameOf(const Outgoing& outgoing, std::uint64_t s) {
  return {.job = job_,
          .epoch = epoch_,
          .superstep = s,
          .from_host = self(),
          .frame_class = outgoing.message.get ? FrameClass::kGets : FrameClass::kBatch,
          .number = outgoing.number ? *outgoing.number : oracle_.OnSent(Place(outgoing.host), s),
          .from_pid = outgoing.from_pid,
          .to_pid = outgoing.message.to,
          .index = outgoing.message.index,
          .value = outgoing.value,
          .put = outgoing.message.put,
          .vote = outgoing.message.vote};
}

void SimNode::Transmit(std::uint32_t host, SimFrame frame) {
  if (IsCounted(frame.frame_class)) sent_[host] += 1;
  OnDaemon(kBellNs, [this, host, frame] { streams_.Send(WorkerId{place(host).worker()}, frame); });
}

void SimNode::ReachBarrier() {
  if (ahead_) return ComeBack();
  // Who drove at the barrier before is one of the processes, and so is who sent its answers.
  if (driving_ || answers_by_lanes_)
    return After(loop_.Below(kMillisecond), &SimNode::ReachBarrier);
  if (!PutByBulkLanes()) Arrive();
}

void SimNode::Arrive() {
  worker::BarrierCounts counts{};
  counts.gets = awaits_.empty() ? 0 : 1;
  if (owed_ != std::vector<std::uint64_t>(hosts())) counts.data = 1;
  if (repeats(superstep())) counts.votes = TakingPart(self());
  counts.groups = InGroups(shown());
  const bool last = EndsSuperstep(passed_) && shown() + 1 == program_.supersteps();
  if (last && !repeats(superstep())) counts.ending = TakingPart(self());
  if (Registers()) counts.votes = TakingPart(self());
  oracle_.OnArrived(Place(self()), passed_);
  arrived_counts_ = counts;
  if (SendByLanes(counts)) return;
  for (const Outgoing& outgoing : std::exchange(outbox_, {})) SendMessage(outgoing, superstep());
  if (sent_ != owed_) return oracle_.Fail("a node sends other frames than it owes");
  if (alone()) {
    exchange_.OnLocalArrival(counts, sent_);
    return ReleaseAlone();
  }
  OnDaemon(kBellNs, [this, barrier = passed_] { OnArrival(barrier); });
}

// The worker may have taken it over before.
void SimNode::OnArrival(std::uint64_t barrier) {
  CatchUp();
  if (exchange_.waiting() || exchange_.barrier() != barrier) {
    if (!keeper_) oracle_.Fail("processes arrive at a barrier that is not the next");
    return;
  }
  const std::vector<std::uint64_t> sent =
      ahead_ ? std::exchange(sent_, std::vector<std::uint64_t>(hosts())) : sent_;
  const worker::NodeExchange::Actions actions = exchange_.OnLocalArrival(arrived_counts_, sent);
  if (Directly()) return ArriveDirectly(arrived_counts_);
  arrives_[exchange_.barrier() & 1] = {exchange_.arrival().superstep, EncodeArrival()};
  Perform(actions);
}

void SimNode::SetPassed(std::uint64_t barriers, const worker::BarrierCounts& counts) {
  passed_ = barriers;
  passed_counts_ = counts;
}

// Released, by lanes or by the worker.
void SimNode::GoOnFrom(std::uint64_t barriers, const worker::BarrierCounts& counts) {
  SetPassed(barriers, counts);
  if (std::exchange(ahead_, false)) return EndAhead();
  leaving_ = true;
  After(loop_.Below(20 * kMicrosecond), &SimNode::LeaveBarrier);
}

// Its processes release each other, whatever their daemon does.
void SimNode::ReleaseAlone() {
  exchange_.OnRelease(exchange_.barrier(), exchange_.arrival().counts,
                      std::vector<std::uint64_t>(1));
  SetPassed(exchange_.released_barriers(), exchange_.global_counts());
  TellProgress();
  After(loop_.Below(20 * kMicrosecond), &SimNode::LeaveBarrier);
}

void SimNode::TellProgress() {
  if (!released_ends_superstep() || !loop_.Chance(30)) return;
  OnDaemon(kBellNs, [this, supersteps = superstep()] {
    ProgressBody body{};
    body.superstep = supersteps;
    body.totals.supersteps = supersteps;
    body.processes = participants_;
    host_.SendOfJob(*this, FrameKind::kProgress, supersteps, BytesOf(body));
  });
}

std::vector<std::byte> SimNode::EncodeArrival() const {
  const worker::NodeExchange::Arrival& arrival = exchange_.arrival();
  ArriveBody body{};
  body.barrier = arrival.barrier;
  body.processes = TakingPart(self());
  body.with_data = arrival.counts.data;
  body.with_gets = arrival.counts.gets;
  body.with_votes = arrival.counts.votes;
  body.ending = arrival.counts.ending;
  body.with_groups = arrival.counts.groups;
  body.ends_superstep = exchange_.ends_superstep() ? 1 : 0;
  std::vector<PeerOwed> peers;
  for (std::size_t host = 0; host < arrival.frames.size(); ++host) {
    if (arrival.frames[host] == 0) continue;
    peers.push_back({.worker = place(static_cast<std::uint32_t>(host)).worker(),
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

// ---- The exchange -------------------------------------------------------------------------------

void SimNode::OnRelease(std::span<const std::byte> release) {
  ReleaseBody body;
  memcpy(&body, release.data(), sizeof body);
  if (!exchange_.waiting() || body.barrier != exchange_.barrier()) return;  // Repeated.
  release_ = body;
  ordered_ = std::max(ordered_, std::uint64_t{body.checkpoint});
  std::vector<std::uint64_t> owed(hosts());
  for (std::uint32_t i = 0; i < body.peers; ++i) {
    PeerOwed peer;
    memcpy(&peer, &release[sizeof body + i * sizeof peer], sizeof peer);
    for (std::uint32_t host = 0; host < hosts(); ++host) {
      if (place(host).worker() == peer.worker) owed[host] = peer.frames;
    }
  }
  Perform(exchange_.OnRelease(body.barrier,
                              {.data = body.with_data,
                               .gets = body.with_gets,
                               .votes = body.with_votes,
                               .ending = body.ending,
                               .groups = body.with_groups},
                              owed));
}

void SimNode::OnFrame(const SimFrame& frame) {
  if (stopped_) return after_stop_.push_back([this, frame] { OnFrame(frame); });
  CatchUp();
  if (frame.lane) return OnRepeated(frame);
  if (exchange_.Check(frame.superstep, frame.frame_class) != worker::NodeExchange::Verdict::kTake) {
    return oracle_.Fail("a frame comes in a superstep that is not its own");
  }
  if (frame.frame_class == FrameClass::kArrival &&
      !(direct_ &&
        direct_->OnArrival(frame.from_host, frame.arrival, TakingPart(frame.from_host)))) {
    return oracle_.Fail("an arrival at a barrier that cannot be");
  }
  if (IsCounted(frame.frame_class)) {
    oracle_.OnTaken(Place(self()), frame.superstep, frame.number);
  }
  if (frame.frame_class == FrameClass::kGets) {
    asked_[frame.superstep][frame.from_host].push_back({frame.from_pid, frame.to_pid, frame.index});
  } else if (frame.frame_class == FrameClass::kBatch || frame.frame_class == FrameClass::kAnswers) {
    inbox_[frame.superstep].push_back(frame);
  }
  // Of the next barrier: these processes may still pass the one before by lanes.
  const bool ahead = frame.superstep == exchange_.barrier();
  Midway(ahead ? kStopAheadPercent : kStopPercent, [this, frame] { FinishFrame(frame); });
}

void SimNode::FinishFrame(const SimFrame& frame) {
  const bool take_over = LeavesToWorker(frame);
  Perform(exchange_.OnFrame(frame.from_host, frame.superstep, frame.frame_class));
  if (take_over) TakeOver(frame.superstep + 1);
  PassDirectly();
}

void SimNode::SendBegin() {
  const BeginBody body{.nprocs = participants_, .reserved = 0};
  host_.SendOfJob(*this, FrameKind::kBegin, 0, BytesOf(body));
}

void SimNode::SendArrive(std::uint64_t barrier) {
  const ArriveFrame& arrive = arrives_[barrier & 1];
  host_.SendOfJob(*this, FrameKind::kArrive, arrive.superstep, arrive.payload);
}

void SimNode::OnCoordinatorReconnected() {
  if (participants_ != 0 && has_pid_0()) SendBegin();
  if (Directly()) return SendArrive(0);
  if (!alone()) Perform(exchange_.OnCoordinatorReconnected());
}

void SimNode::Perform(const worker::NodeExchange::Actions& actions) {
  if (actions.arrive) SendArrive(exchange_.barrier());
  if (actions.arrive_before) SendArrive(exchange_.barrier() - 1);
  if (actions.prune && exchange_.pruned() != 0) {
    streams_.Prune(job_, epoch_, exchange_.pruned() - 1);
  }
  if (actions.release) {
    HoldLanes();
    GoOnFrom(exchange_.released_barriers(), exchange_.global_counts());
    WakeDriver();
  }
  if (actions.release && direct_ && has_pid_0()) TellProgress();
  if (actions.take_answers) TakeAnswers();
  if (actions.send_answers) SendAnswers();
}

}  // namespace bspnow
