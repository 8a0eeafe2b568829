#include "tests/simulation/sim_worker.h"

#include <algorithm>
#include <utility>

namespace bspnow {
namespace {

constexpr std::uint64_t kHeartbeatNs = 250 * kMillisecond;
constexpr std::uint64_t kLeaseNs = kSecond;
constexpr std::uint64_t kRetryNs = 100 * kMillisecond;
constexpr std::uint64_t kCallNs = 5 * kSecond;
constexpr std::uint64_t kStreamsMax = 1 << 20;  // Of one incarnation.

}  // namespace

SimWorker::SimWorker(SimLoop& loop, SimOracle& oracle, Identity identity, Surroundings surroundings)
    : loop_(loop),
      oracle_(oracle),
      identity_(std::move(identity)),
      surroundings_(std::move(surroundings)),
      streams_(loop, daemon_, oracle, identity_.incarnation * kStreamsMax, surroundings_.streams,
               [this](const SimFrame& frame) { OnFrame(frame); }) {
  Register();
}

void SimWorker::Die() {
  streams_.Die();
  for (auto& [key, node] : nodes_) node->Die();
  for (auto& node : abandoned_) node->Die();
  for (const Link& link : {registering_, control_, frames_}) {
    if (link) link->Close(SimLink::kCaller);
  }
}

void SimWorker::PauseMachine(std::uint64_t ns) {
  loop_.Pause(daemon_, ns);
  loop_.Pause(processes_, ns);
}

void SimWorker::CutOff(std::uint64_t until_ns) {
  cut_off_until_ns_ = until_ns;
  for (const Link& link : {registering_, control_, frames_}) {
    if (link) link->Break();
  }
}

void SimWorker::StallOneWay(SimLink::End from, std::uint64_t ns) {
  stalled_until_ns_[from] = loop_.now_ns() + ns;
  for (const Link& link : {registering_, control_, frames_}) {
    if (link) link->Stall(from, stalled_until_ns_[from]);
  }
}

bool SimWorker::KillOneProcess() {
  std::vector<SimNode*> nodes;
  for (auto& [key, node] : nodes_) nodes.push_back(node.get());
  return !nodes.empty() && nodes[loop_.Below(nodes.size())]->KillOne();
}

bool SimWorker::HasAnyOf(JobId job) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [job](const auto& each) {
    return each.second->job() == job && !each.second->gone();
  });
}

bool SimWorker::undisturbed() const {
  const std::uint64_t now_ns = loop_.now_ns();
  return !dead() && !paused() && !cut_off() && welcome_ && now_ns < lease_until_ns_ &&
         now_ns >= std::max(stalled_until_ns_[0], stalled_until_ns_[1]);
}

bool SimWorker::IsIdle() const {
  return nodes_.empty() && std::all_of(abandoned_.begin(), abandoned_.end(),
                                       [](const auto& node) { return node->gone(); });
}

// ---- Registration -------------------------------------------------------------------------------

SimWorker::Link SimWorker::MakeLink(SimCoordinator* coordinator) {
  const Link link =
      SimLink::Make(loop_, {daemon_, coordinator == nullptr ? nullptr : coordinator->actor()});
  for (const SimLink::End end : {SimLink::kCaller, SimLink::kCalled}) {
    link->Stall(end, stalled_until_ns_[end]);
  }
  return link;
}

void SimWorker::RegisterLater() {
  registering_ = nullptr;
  loop_.On(daemon_, kRetryNs / 2 + loop_.Below(kRetryNs), [this] {
    if (!dead() && !registering_) Register();
  });
}

SimRegistration SimWorker::Describe() {
  SimRegistration request{.name = identity_.name,
                          .slots = identity_.slots,
                          .incarnation = identity_.incarnation,
                          .previous = id_,
                          .held = {},
                          .stored = surroundings_.store.Stored(),
                          .port = this};
  std::set<Key> held;
  for (const auto& [key, node] : nodes_) {
    request.held.push_back(node->Held());
    held.insert(key);
  }
  for (HeldEpoch& epoch : request.held) {  // Exits that are still to be reported come in turn.
    std::erase_if(epoch.exited, [&](const auto& exited) {
      return std::any_of(unacknowledged_.begin(), unacknowledged_.end(), [&](const SimEvent& e) {
        return e.job == epoch.job && e.epoch == epoch.epoch && e.exited == exited.first;
      });
    });
  }
  for (const SimEvent& event : unacknowledged_) {  // Its processes are gone; not all is said.
    if (event.epoch == Epoch{0} || !held.insert({event.job, event.epoch}).second) continue;
    request.held.push_back({.job = event.job,
                            .epoch = event.epoch,
                            .participants = 0,
                            .clearing = true,
                            .begun = {},
                            .exited = {}});
  }
  return request;
}

void SimWorker::Register() {
  SimCoordinator* coordinator = surroundings_.coordinator();
  registering_ = MakeLink(coordinator);
  const Link link = registering_;
  const auto again = [this, link] {
    if (dead() || registering_ != link) return;
    link->Close(SimLink::kCaller);
    RegisterLater();
  };
  link->OnBroken(SimLink::kCaller, [again](const Link&) { again(); });
  loop_.On(daemon_, kCallNs, again);
  link->Send(SimLink::kCaller, [this, link, coordinator, again, request = Describe()] {
    if (coordinator == nullptr || coordinator->dead() || cut_off()) return link->Break();
    const SimRegistered reply = coordinator->Register(request);
    link->Send(SimLink::kCalled, [this, link, reply, again] {
      if (dead() || registering_ != link) return;
      if (!reply.refusal.empty() || reply.term < term_) {
        if (reply.refusal.empty()) oracle_.Count("refused old terms");
        return again();
      }
      link->Close(SimLink::kCaller);
      registering_ = nullptr;
      OnRegistered(reply);
    });
  });
}

// What a coordinator that is gone did not acknowledge is the next one's to hear, of the jobs that
// go on.
void SimWorker::OnRegistered(const SimRegistered& reply) {
  const std::set<JobId> kept(reply.keep.begin(), reply.keep.end());
  std::erase_if(unacknowledged_, [&](const SimEvent& event) { return !kept.contains(event.job); });
  last_sequence_ = unacknowledged_.size();
  orders_taken_ = 0;
  if (!kept.empty()) oracle_.Count("adoptions");
  term_ = reply.term;
  AbandonAllBut(kept);
  id_ = reply.worker;
  streams_.SetSelf(id_);
  Connect();
  Attach();
}

void SimWorker::AbandonAllBut(const std::set<JobId>& kept) {
  for (auto it = nodes_.begin(); it != nodes_.end();) {
    if (kept.contains(it->first.first)) {
      ++it;
      continue;
    }
    oracle_.Count("abandoned epochs");
    it->second->Abandon();
    abandoned_.push_back(it->second);
    it = nodes_.erase(it);
  }
}

// ---- The control stream -------------------------------------------------------------------------

void SimWorker::Attach() {
  SimCoordinator* coordinator = surroundings_.coordinator();
  if (control_) control_->Close(SimLink::kCaller);
  control_ = MakeLink(coordinator);
  control_at_ = coordinator;
  const Link link = control_;
  sent_sequence_ = last_sequence_ - unacknowledged_.size();
  link->OnBroken(SimLink::kCaller, [this](const Link& broken) {
    if (!dead() && control_ == broken) AttachLater();
  });
  link->Send(SimLink::kCaller,
             [this, link, coordinator, id = id_, term = term_, taken = orders_taken_] {
               if (coordinator == nullptr || coordinator->dead() || cut_off()) return link->Break();
               coordinator->AttachWorker(id, identity_.incarnation, term, taken, link, *this);
             });
  WriteEvents();
}

void SimWorker::AttachLater() {
  control_ = nullptr;
  loop_.On(daemon_, kRetryNs / 2 + loop_.Below(kRetryNs), [this, registrations = registrations_] {
    if (!dead() && !control_ && registrations == registrations_) Attach();
  });
}

void SimWorker::OnForgotten(const Link& control) {
  if (dead() || control_ != control) return;
  control_->Close(SimLink::kCaller);
  control_ = nullptr;
  registrations_ += 1;
  if (!registering_) Register();
}

void SimWorker::Report(SimEvent event) {
  last_sequence_ += 1;
  unacknowledged_.push_back(std::move(event));
  WriteEvents();
}

void SimWorker::WriteEvents() {
  if (!control_ || control_->broken(SimLink::kCaller)) return;
  while (sent_sequence_ < last_sequence_) {
    sent_sequence_ += 1;
    const std::size_t index = unacknowledged_.size() - 1 - (last_sequence_ - sent_sequence_);
    control_->Send(SimLink::kCaller,
                   [id = id_, link = control_, at = control_at_, sequence = sent_sequence_,
                    taken = orders_taken_, event = unacknowledged_[index]] {
                     if (at != nullptr && !at->dead())
                       at->OnEvent(id, link, sequence, taken, event);
                   });
  }
}

void SimWorker::OnAcknowledge(const Link& control, std::uint64_t sequence) {
  if (dead() || control_ != control) return;
  while (!unacknowledged_.empty() && last_sequence_ - unacknowledged_.size() < sequence) {
    unacknowledged_.pop_front();
  }
  sent_sequence_ = std::max(sent_sequence_, sequence);
}

void SimWorker::OnOrder(const Link& control, std::uint64_t sequence, const SimOrder& order) {
  if (dead() || control_ != control || sequence <= orders_taken_) return;
  orders_taken_ = sequence;
  order(*this);
}

// ---- The frame stream ---------------------------------------------------------------------------

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
  ToCoordinator(
      [id = id_, term = term_, incarnation = identity_.incarnation,
       link](SimCoordinator& coordinator) { coordinator.OnHello(id, incarnation, term, link); });
  Beat(link);
}

void SimWorker::Beat(const Link& link) {
  if (dead() || frames_ != link) return;
  ToCoordinator([id = id_, link, sent_ns = loop_.now_ns()](SimCoordinator& coordinator) {
    coordinator.OnHeartbeat(id, link, sent_ns);
  });
  loop_.On(daemon_, kHeartbeatNs, [this, link] { Beat(link); });
}

void SimWorker::ToCoordinator(std::function<void(SimCoordinator&)> say) {
  frames_->Send(SimLink::kCaller, [link = frames_, at = frames_at_, say = std::move(say)] {
    if (at == nullptr || at->dead()) return link->Break();
    say(*at);
  });
}

void SimWorker::OnWelcome(const Link& link) {
  if (dead() || frames_ != link) return;
  welcome_ = true;
  for (auto& [key, node] : nodes_) node->OnCoordinatorReconnected();
}

void SimWorker::OnLease(const Link& link, std::uint64_t sent_ns) {
  if (dead() || frames_ != link) return;
  lease_until_ns_ = sent_ns + kLeaseNs;
  for (auto& [key, node] : nodes_) node->OnLeaseRenewed(lease_until_ns_);
}

void SimWorker::SendArrive(const SimNode& node, const std::vector<std::byte>& payload) {
  if (!welcome_) return;
  ToCoordinator(
      [id = id_, job = node.job(), epoch = node.epoch(), payload](SimCoordinator& coordinator) {
        coordinator.OnArrive(id, job, epoch, payload);
      });
}

void SimWorker::SendBegin(const SimNode& node) {
  if (!welcome_) return;
  ToCoordinator([id = id_, job = node.job(), epoch = node.epoch(), p = node.processes()](
                    SimCoordinator& coordinator) { coordinator.OnBeginFrame(id, job, epoch, p); });
}

void SimWorker::SendProgress(const SimNode& node, std::uint64_t supersteps) {
  if (!welcome_) return;
  ToCoordinator([job = node.job(), epoch = node.epoch(), supersteps](SimCoordinator& coordinator) {
    coordinator.OnProgress(job, epoch, supersteps);
  });
}

// ---- Orders and frames --------------------------------------------------------------------------

SimNode* SimWorker::Find(JobId job, Epoch epoch) const {
  const auto found = nodes_.find({job, epoch});
  return dead() || found == nodes_.end() ? nullptr : found->second.get();
}

void SimWorker::OnStart(const StartOrder& order, const std::string& spec,
                        const std::optional<SimResume>& resume) {
  if (Find(order.job, order.epoch) != nullptr) return;
  std::uint32_t self = 0;
  while (order.hosts[self].worker != id_) self += 1;
  SimNodeRim& rim = *this;
  auto node = std::make_shared<SimNode>(loop_, oracle_, streams_, rim,
                                        SimNode::Plan{.order = order,
                                                      .self = self,
                                                      .program = SimProgram::FromSpec(spec),
                                                      .resume = resume,
                                                      .daemon = daemon_,
                                                      .processes = processes_});
  nodes_[{order.job, order.epoch}] = node;
  node->OnLeaseRenewed(lease_until_ns_);
  node->Start();
  const auto begin = early_begins_.find({order.job, order.epoch});
  if (begin != early_begins_.end()) node->OnBegin(begin->second);
}

void SimWorker::OnEnd(const EndOrder& order) {
  const auto cleared = [this, job = order.job, epoch = order.epoch] {
    if (nodes_.erase({job, epoch}) == 0 && dead()) return;
    Report({.job = job,
            .epoch = epoch,
            .output = false,
            .exited = {},
            .act = [job, epoch](SimCoordinator& coordinator, WorkerId worker) {
              coordinator.OnCleared(job, epoch, worker);
            }});
  };
  SimNode* node = Find(order.job, order.epoch);
  node == nullptr ? cleared() : node->End(cleared);
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

}  // namespace bspnow
