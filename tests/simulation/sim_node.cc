#include "tests/simulation/sim_node.h"

#include <string.h>

#include <algorithm>
#include <utility>

#include "net/frame.h"

namespace bspnow {
namespace {

constexpr int kFailedStatus = 3;

NodeExchangePlan ExchangePlan(const SimNode::Plan& plan) {
  return {.self = plan.self,
          .hosts = static_cast<std::uint32_t>(plan.order.hosts.size()),
          .barriers_per_superstep = plan.program.barriers_per_superstep()};
}

std::uint32_t Nprocs(const StartOrder& order) {
  std::size_t nprocs = 0;
  for (const NodeShare& share : order.hosts) nprocs += share.pids.size();
  return static_cast<std::uint32_t>(nprocs);
}

}  // namespace

SimNode::SimNode(SimLoop& loop, SimOracle& oracle, SimStreams& streams, SimNodeRim& rim, Plan plan)
    : loop_(loop),
      oracle_(oracle),
      streams_(streams),
      rim_(rim),
      plan_(std::move(plan)),
      exchange_(ExchangePlan(plan_)),
      left_(pids().size()),
      sent_(plan_.order.hosts.size()) {}

std::uint32_t SimNode::TakingPart(std::uint32_t host) const {
  const std::vector<Pid>& pids = plan_.order.hosts[host].pids;
  return static_cast<std::uint32_t>(
      std::count_if(pids.begin(), pids.end(), [this](Pid pid) { return Value(pid) < processes_; }));
}

void SimNode::After(std::uint64_t delay_ns, void (SimNode::*step)()) {
  loop_.After(delay_ns, [self = shared_from_this(), step] {
    if (!self->gone_) (self.get()->*step)();
  });
}

// ---- Start and end ------------------------------------------------------------------------------

void SimNode::Start() {
  loop_.After(loop_.Below(20 * kMillisecond), [self = shared_from_this()] {
    if (self->gone_) return;
    self->there_ = true;
    for (const Pid pid : self->pids()) {
      self->rim_.Tell([job = self->job(), epoch = self->epoch(), pid](SimCoordinator& coordinator) {
        coordinator.OnBegun(job, epoch, pid);
      });
    }
    if (self->pids().front() == Pid{0}) {
      self->Learn(self->plan_.program.processes(Nprocs(self->plan_.order)));
      self->rim_.SendBegin(*self);
    }
    self->BeginIfAllThere();
  });
}

void SimNode::OnBegin(std::uint32_t processes) {
  if (gone_ || processes_ != 0) return;
  Learn(processes);
  BeginIfAllThere();
}

void SimNode::Learn(std::uint32_t processes) {
  processes_ = processes;
  std::uint32_t hosts_taking_part = 0;
  for (std::uint32_t i = 0; i < hosts(); ++i) hosts_taking_part += TakingPart(i) > 0 ? 1 : 0;
  oracle_.OnParticipants(job(), hosts_taking_part);
  if (taking_part() > 0) oracle_.OnTakesPart(Place(plan_.self));
}

void SimNode::BeginIfAllThere() {
  if (!there_ || processes_ == 0 || exchange_.barrier() != 0 || exchange_.waiting()) return;
  Leave(processes_, Reached::kUnneeded, 0);
  if (taking_part() > 0) ReachBarrier();
}

void SimNode::Leave(std::uint32_t first_pid, Reached reached, int status) {
  for (std::size_t i = 0; i < pids().size(); ++i) {
    if (Value(pids()[i]) < first_pid || left_[i]) continue;
    left_[i] = true;
    const ProcessEnd end{.reached = reached,
                         .superstep = Superstep{exchange_.superstep()},
                         .exit_status = status,
                         .signal = 0};
    rim_.Tell([job = job(), epoch = epoch(), pid = pids()[i], end](SimCoordinator& coordinator) {
      coordinator.OnExited(job, epoch, pid, end);
    });
  }
}

void SimNode::End(WorkerId self) {
  if (std::exchange(gone_, true)) return;
  Leave(0, Reached::kRunning, 0);
  streams_.DropJob(job());
  loop_.After(loop_.Below(20 * kMillisecond), [node = shared_from_this(), self] {
    node->rim_.Tell([job = node->job(), epoch = node->epoch(), self](SimCoordinator& coordinator) {
      coordinator.OnCleared(job, epoch, self);
    });
  });
}

void SimNode::Abandon() {
  gone_ = true;
  streams_.DropJob(job());
}

// ---- A superstep --------------------------------------------------------------------------------

void SimNode::Compute() {
  std::fill(sent_.begin(), sent_.end(), 0);
  unread_puts_ = 0;
  at_barrier_ = false;
  After(loop_.Below(5 * kMillisecond), &SimNode::SendEarly);
}

std::uint64_t SimNode::Owed(std::uint32_t host) const {
  if (TakingPart(host) == 0) return 0;
  return plan_.program.frames(exchange_.superstep(), plan_.self, host);
}

void SimNode::SendEarly() {
  for (std::uint32_t host = 0; exchange_.ends_superstep() && host < hosts(); ++host) {
    const std::uint64_t owed = Owed(host);
    for (std::uint64_t early = loop_.Below(owed + 1); early > 1; --early) {
      Send(host, NodeExchange::FrameClass::kBatch, exchange_.superstep());
    }
  }
  if (plan_.program.fails(exchange_.superstep(), plan_.self)) {
    return Leave(0, Reached::kRunning, kFailedStatus);
  }
  After(loop_.Below(5 * kMillisecond), &SimNode::ReachBarrier);
}

void SimNode::Send(std::uint32_t host, NodeExchange::FrameClass frame_class, std::uint64_t s) {
  const bool counted = frame_class == NodeExchange::FrameClass::kBatch ||
                       frame_class == NodeExchange::FrameClass::kGets;
  SimFrame frame{.job = job(),
                 .epoch = epoch(),
                 .superstep = s,
                 .from_host = plan_.self,
                 .frame_class = frame_class,
                 .unread_put = at_barrier_ && counted && loop_.Chance(10),
                 .number = counted ? oracle_.OnSent(Place(host), s) : 0};
  if (counted) sent_[host] += 1;
  if (frame.unread_put) unread_puts_ += 1;
  streams_.Send(plan_.order.hosts[host].worker, frame);
}

void SimNode::ReachBarrier() {
  const std::uint64_t s = exchange_.superstep();
  at_barrier_ = true;
  BarrierCounts counts{};
  for (std::uint32_t host = 0; exchange_.ends_superstep() && host < hosts(); ++host) {
    const std::uint64_t owed = Owed(host);
    if (owed > 0) counts.data = 1;
    if (owed > 0 && plan_.program.gets(s, plan_.self, host)) {
      counts.gets = 1;
      Send(host, NodeExchange::FrameClass::kGets, s);
    }
    while (sent_[host] < owed) Send(host, NodeExchange::FrameClass::kBatch, s);
  }
  if (exchange_.ends_superstep() && s + 1 == plan_.program.supersteps()) {
    counts.ending = taking_part();
  }
  oracle_.OnArrived(Place(plan_.self), exchange_.barrier());
  Perform(exchange_.OnLocalArrival(counts, sent_, unread_puts_));
}

void SimNode::OnRelease(std::span<const std::byte> release) {
  if (gone_) return;
  ReleaseBody body;
  memcpy(&body, release.data(), sizeof body);
  std::vector<std::uint64_t> owed(hosts());
  for (std::uint32_t i = 0; i < body.peers; ++i) {
    PeerOwed peer;
    memcpy(&peer, &release[sizeof body + i * sizeof peer], sizeof peer);
    for (std::uint32_t host = 0; host < hosts(); ++host) {
      if (Value(plan_.order.hosts[host].worker) == peer.worker) owed[host] = peer.frames;
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
  if (gone_) return;
  if (exchange_.Check(frame.superstep, frame.frame_class) != NodeExchange::Verdict::kTake) {
    return oracle_.Fail("a frame comes in a superstep that is not its own");
  }
  if (frame.frame_class == NodeExchange::FrameClass::kBatch ||
      frame.frame_class == NodeExchange::FrameClass::kGets) {
    oracle_.OnTaken(Place(plan_.self), frame.superstep, frame.number);
  }
  Perform(exchange_.OnFrame(frame.from_host, frame.superstep, frame.frame_class));
}

void SimNode::OnCoordinatorReconnected() {
  if (gone_) return;
  if (processes_ != 0 && pids().front() == Pid{0}) rim_.SendBegin(*this);
  Perform(exchange_.OnCoordinatorReconnected());
}

void SimNode::Perform(const NodeExchange::Actions& actions) {
  if (gone_) return;
  if (actions.arrive) rim_.Arrive(*this);
  if (actions.prune) streams_.Prune(job(), epoch(), exchange_.pruned() - 1);
  if (actions.release) OnReleased();
  if (actions.send_answers) SendAnswers();
  if (actions.take_answers) TakeAnswers();
}

void SimNode::OnReleased() {
  oracle_.OnReleased(Place(plan_.self), exchange_.released_barriers() - 1);
  if (!exchange_.released_ends_superstep()) return GoOn();
  const std::uint64_t s = exchange_.released_superstep();
  oracle_.OnSuperstepOver(Place(plan_.self), s);
  if (exchange_.global_counts().gets == 0) return GoOn();
  in_gets_ = true;
  answering_ = true;
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    if (TakingPart(host) > 0 && plan_.program.gets(s, plan_.self, host)) awaits_.insert(host);
  }
  After(loop_.Below(kMillisecond), &SimNode::AnswerGets);
}

// ---- Gets ---------------------------------------------------------------------------------------

void SimNode::AnswerGets() {
  Perform(exchange_.OnLocalAnswers(exchange_.released_superstep()));
  answering_ = false;
  GoOnIfAnswered();
}

void SimNode::SendAnswers() {
  const std::uint64_t s = exchange_.answers_superstep();
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    if (TakingPart(host) > 0 &&
        exchange_.Asked(host) != (host != plan_.self && plan_.program.gets(s, host, plan_.self))) {
      return oracle_.Fail("a node does not know who has asked it");
    }
    if (!exchange_.Asked(host)) continue;
    Send(host, NodeExchange::FrameClass::kAnswers, s);
    Send(host, NodeExchange::FrameClass::kAnswersEnd, s);
  }
}

void SimNode::TakeAnswers() {
  for (std::uint32_t host = 0; host < hosts(); ++host) {
    if (!exchange_.TakeAnswered(host)) continue;
    if (awaits_.erase(host) == 0) oracle_.Fail("answers that were not asked for");
  }
  GoOnIfAnswered();
}

void SimNode::GoOnIfAnswered() {
  if (!in_gets_ || answering_ || !awaits_.empty()) return;
  in_gets_ = false;
  GoOn();
}

void SimNode::GoOn() {
  if (exchange_.superstep() == plan_.program.supersteps()) {
    Leave(0, Reached::kEnded, 0);
  } else {
    Compute();
  }
}

}  // namespace bspnow
