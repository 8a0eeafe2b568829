#include "tests/simulation/sim_worker.h"

#include <algorithm>
#include <utility>

#include "base/version.h"

namespace bspnow {
namespace {

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
               [this](const SimFrame& frame) { OnPeerFrame(frame); }) {
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

proto::RegisterRequest SimWorker::Describe() {
  proto::RegisterRequest request;
  proto::NodeSpec& node = *request.mutable_node();
  node.set_name(identity_.name);
  node.set_slots(identity_.slots);
  node.set_version(kVersion);
  request.set_data_address(identity_.name + ":1");
  request.set_incarnation(identity_.incarnation);
  request.set_images_address(identity_.name);  // By which other workers find it.
  request.set_images_share(surroundings_.share);
  request.set_previous_worker(Value(id_));
  request.set_cluster(cluster_);
  for (const auto& [job, numbers] : surroundings_.store.Stored()) {
    proto::StoredJob& stored = *request.add_stored();
    stored.set_job(Value(job));
    stored.mutable_checkpoints()->Assign(numbers.begin(), numbers.end());
  }
  std::set<Key> held;
  for (const auto& [key, node_here] : nodes_) {
    proto::HeldJob& of_node = *request.add_held() = node_here->Held();
    held.insert(key);
    // Exits that are still to be reported come in turn.
    auto& exited = *of_node.mutable_exited();
    exited.erase(std::remove_if(exited.begin(), exited.end(),
                                [&](const proto::ProcessExited& exit) {
                                  return std::any_of(unacknowledged_.begin(), unacknowledged_.end(),
                                                     [&](const proto::WorkerEvent& event) {
                                                       return event.job() == of_node.job() &&
                                                              event.epoch() == of_node.epoch() &&
                                                              event.has_exited() &&
                                                              event.exited().pid() == exit.pid();
                                                     });
                                }),
                 exited.end());
  }
  for (const proto::WorkerEvent& event : unacknowledged_) {   // Its processes are gone, and that
    const Key key{JobId{event.job()}, Epoch{event.epoch()}};  // is not all reported yet.
    if (event.epoch() == 0 || !held.insert(key).second) continue;
    proto::HeldJob& of_event = *request.add_held();
    of_event.set_job(event.job());
    of_event.set_epoch(event.epoch());
    of_event.set_clearing(true);
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
    const absl::StatusOr<proto::RegisterReply> reply = coordinator->Register(request);
    if (loop_.Chance(3)) {
      oracle_.Count("lost replies to registrations");
      return link->Break();
    }
    link->Send(SimLink::kCalled, [this, link, reply, again] {
      if (dead() || registering_ != link) return;
      if (!reply.ok()) return again();
      if (reply->worker() == 0) return oracle_.Fail("a worker of this cluster is refused");
      if (reply->term() < term_) {
        oracle_.Count("refused old terms");
        return again();
      }
      link->Close(SimLink::kCaller);
      registering_ = nullptr;
      OnRegistered(*reply);
    });
  });
}

// What a coordinator that is gone did not acknowledge is the next one's to hear, of the jobs that
// go on.
void SimWorker::OnRegistered(const proto::RegisterReply& reply) {
  std::set<JobId> kept;
  for (const std::uint64_t job : reply.keep_jobs()) kept.insert(JobId{job});
  std::erase_if(unacknowledged_, [&](const proto::WorkerEvent& event) {
    return !kept.contains(JobId{event.job()});
  });
  last_sequence_ = unacknowledged_.size();
  orders_taken_ = 0;
  if (!kept.empty()) oracle_.Count("adoptions");
  term_ = reply.term();
  cluster_ = reply.cluster();
  AbandonAllBut(kept);
  id_ = WorkerId{reply.worker()};
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
  proto::WorkerEvent first;
  first.set_worker(Value(id_));
  first.set_incarnation(identity_.incarnation);
  first.set_term(term_);
  first.set_orders_taken(orders_taken_);
  link->Send(SimLink::kCaller, [this, link, coordinator, first] {
    if (coordinator == nullptr || coordinator->dead() || cut_off()) return link->Break();
    coordinator->AttachWorker(first, link, *this);
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

void SimWorker::Report(proto::WorkerEvent event) {
  last_sequence_ += 1;
  unacknowledged_.push_back(std::move(event));
  WriteEvents();
}

void SimWorker::WriteEvents() {
  if (!control_ || control_->broken(SimLink::kCaller)) return;
  while (sent_sequence_ < last_sequence_) {
    sent_sequence_ += 1;
    const std::size_t index = unacknowledged_.size() - 1 - (last_sequence_ - sent_sequence_);
    proto::WorkerEvent event = unacknowledged_[index];
    event.set_sequence(sent_sequence_);
    event.set_orders_taken(orders_taken_);
    control_->Send(SimLink::kCaller, [id = id_, link = control_, at = control_at_, event] {
      if (at != nullptr) at->OnEvent(id, link, event);
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

void SimWorker::OnOrder(const Link& control, const proto::Order& order) {
  if (dead() || control_ != control || order.sequence() <= orders_taken_) return;
  orders_taken_ = order.sequence();
  Perform(order);
}

void SimWorker::Perform(const proto::Order& order) {
  if (order.has_start()) return OnStart(order.start());
  if (order.has_end()) return OnEnd(order.end());
  if (order.has_take_checkpoint()) return OnTakeCheckpoint(order.take_checkpoint());
  if (order.has_copy_checkpoint()) return OnCopy(order.copy_checkpoint());
  if (order.has_keep_checkpoints()) return OnKeep(order.keep_checkpoints());
  if (order.has_release_held()) return OnReleaseHeld(order.release_held());
  if (!order.has_signal())  // These programs clean up for ever.
    oracle_.Fail("an order of no known kind");
}

// ---- Jobs --------------------------------------------------------------------------

SimNode* SimWorker::Find(JobId job, Epoch epoch) const {
  const auto found = nodes_.find({job, epoch});
  return dead() || found == nodes_.end() ? nullptr : found->second.get();
}

void SimWorker::OnStart(const proto::StartJob& start) {
  if (Find(JobId{start.job()}, Epoch{start.epoch()}) != nullptr) return;
  SimNodeHost& host = *this;
  auto node = std::make_shared<SimNode>(
      loop_, oracle_, streams_, host,
      SimNode::PlanOf(start, id_, {.daemon = daemon_, .processes = processes_}));
  const Key key{node->job(), node->epoch()};
  nodes_[key] = node;
  node->OnLeaseRenewed(lease_until_ns_);
  node->Start();
  const auto begin = early_begins_.find(key);
  if (begin != early_begins_.end()) node->OnBegin(begin->second);
}

void SimWorker::OnEnd(const proto::EndJob& end) {
  const Key key{JobId{end.job()}, Epoch{end.epoch()}};
  const auto cleared = [this, key] {
    if (nodes_.erase(key) == 0 && dead()) return;
    proto::WorkerEvent event;
    event.set_job(Value(key.first));
    event.set_epoch(Value(key.second));
    event.mutable_cleared();
    Report(std::move(event));
  };
  SimNode* node = Find(key.first, key.second);
  node == nullptr ? cleared() : node->End(cleared);
}

void SimWorker::OnPeerFrame(const SimFrame& frame) {
  if (SimNode* node = Find(frame.job, frame.epoch)) node->OnFrame(frame);
}

}  // namespace bspnow
