#include "tests/simulation/sim_worker.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/keepalive.h"
#include "base/units.h"
#include "base/version.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kRetryNs = 100 * kMillisecond;
constexpr std::uint64_t kCallNs = 5 * kSecond;
constexpr std::uint64_t kStreamsMax = 1 << 20;  // Of one incarnation.
constexpr std::uint64_t kLookNs = kSecond;
constexpr std::uint64_t kReleasedNs = 20 * kSecond;  // For the disk to remove what was given up.
constexpr std::uint64_t kKeepaliveNs =
    (kWorkerKeepalive.time_ms + kWorkerKeepalive.timeout_ms) * kMillisecond;

}  // namespace

SimWorker::SimWorker(SimLoop& loop, SimOracle& oracle, Identity identity, Surroundings surroundings)
    : loop_(loop),
      oracle_(oracle),
      identity_(std::move(identity)),
      surroundings_(std::move(surroundings)),
      streams_(
          loop, daemon_, oracle, identity_.incarnation * kStreamsMax, surroundings_.streams,
          [this](const SimFrame& frame) { OnPeerFrame(frame); },
          [this](WorkerId peer, const SimStreams::Epochs& epochs) {
            OnStreamFailed(peer, epochs);
          }),
      disk_({.loop = loop,
             .oracle = oracle,
             .daemon = daemon_,
             .store = surroundings_.store,
             .reach = [this](const std::string& name) { return Reach(name); },
             .is_ordered =
                 [this](JobId job, const std::vector<std::uint64_t>& checkpoints) {
                   return keeps_ordered_.contains({job, checkpoints});
                 }}),
      session_(identity_.incarnation),
      jobs_(*this, disk_, identity_.orphan_timeout_ns,
            [this](proto::WorkerEvent event) { Report(std::move(event)); }),
      peers_([this](const worker::PeerAddress& peer) { Probe(peer); },
             [this](proto::WorkerEvent event) { Report(std::move(event)); }) {
  streams_.SetOwnAddress(identity_.name + ":1");
  Register();
}

bool SimWorker::HasAnyOf(JobId job) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [job](const auto& each) {
    return each.first.first == job && !each.second->abandoned();
  });
}

bool SimWorker::MayRun(JobId job) const {
  return jobs_.LeaseValid(clock_ns()) &&
         std::any_of(nodes_.begin(), nodes_.end(), [job](const auto& each) {
           return each.first.first == job && !each.second->abandoned() && !each.second->gone();
         });
}

bool SimWorker::undisturbed() const {
  const std::uint64_t now_ns = loop_.now_ns();
  return !dead() && !paused() && processes_->pauses == 0 && !cut_off() && jammed_ns() == 0 &&
         !disk_.slow() && now_ns >= daemon_->slow_until_ns && welcome_ &&
         jobs_.HearsCoordinator(clock_ns()) &&
         now_ns >= std::max(stalled_until_ns_[0], stalled_until_ns_[1]);
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

proto::RegisterRequest SimWorker::Located() const {
  proto::RegisterRequest request;
  request.set_data_address(streams_.address());
  request.set_images_address(identity_.images_address);
  return request;
}

proto::RegisterRequest SimWorker::Describe() {
  proto::RegisterRequest request = Located();
  proto::NodeSpec& node = *request.mutable_node();
  node.set_name(identity_.name);
  node.set_slots(identity_.slots);
  node.set_version(kVersion);
  request.set_images_share(surroundings_.share);
  const worker::KnownCoordinator& known = surroundings_.store.known;
  request.set_cluster(known.cluster);
  request.set_term(known.term);
  request.set_term_key(known.term_key);
  keeps_ordered_.clear();
  registered_ += 1;
  BSP_CHECK(jobs_.Describe(request).ok());
  session_.Describe(request);
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
  const proto::RegisterRequest described = Describe();
  if (coordinator != nullptr && loop_.Chance(2)) RegisterLateAgain(*coordinator, described);
  link->Send(SimLink::kCaller, [this, link, coordinator, again, request = described] {
    if (coordinator == nullptr || coordinator->dead() || cut_off()) return link->Break();
    const absl::StatusOr<proto::RegisterReply> reply = coordinator->Register(request);
    if (loop_.Chance(3)) {
      oracle_.Count("lost replies to registrations");
      return link->Break();
    }
    link->Send(SimLink::kCalled, [this, link, reply, request, again] {
      if (dead() || registering_ != link) return;
      if (!reply.ok()) return again();
      if (reply->worker() == 0) {
        if (reply->cluster() == request.cluster())
          return oracle_.Fail("a worker of this cluster is refused");
        oracle_.Count("workers that are of another cluster");
        if (request.unfinished() && request.stored_size() == 0 && request.held_size() == 0)
          oracle_.Count("workers that are not done with another cluster");
        return again();
      }
      worker::KnownCoordinator& known = surroundings_.store.known;
      const bool other =
          reply->cluster() != known.cluster;  // What has come meanwhile is kept, too.
      const auto now = worker::CheckCoordinator(known, other ? Describe() : request, *reply);
      if (!now.ok()) {
        oracle_.Count("refused old terms");
        return again();
      }
      known = *now;
      link->Close(SimLink::kCaller);
      registering_ = nullptr;
      OnRegistered(*reply);
    });
  });
}

// A call that the worker has given up, and that is read late: by who was paused, say.
void SimWorker::RegisterLateAgain(SimCoordinator& coordinator,
                                  const proto::RegisterRequest& request) {
  loop_.On(coordinator.actor(), loop_.Below(kCallNs), [this, &coordinator, request] {
    if (coordinator.dead()) return;
    oracle_.Count("registrations that come late, and again");
    coordinator.Register(request).IgnoreError();
  });
}

void SimWorker::OnRegistered(const proto::RegisterReply& reply) {
  if (reply.keep_jobs_size() != 0) oracle_.Count("adoptions");
  const bool first = id_ == WorkerId{0};
  id_ = WorkerId{reply.worker()};
  term_ = static_cast<std::uint32_t>(reply.term());
  session_.OnRegistered(reply);
  for (const std::uint64_t kept : reply.keep_jobs())
    for (const auto& [key, node] : nodes_)
      if (key.first == JobId{kept} && node->hangs())
        oracle_.Count("starts that hang while the coordinator is replaced");
  const std::size_t had = jobs_.Held().size();
  jobs_.OnRegistered(reply);
  oracle_.Count("abandoned epochs", had - jobs_.Held().size());
  early_begins_.Clear();
  streams_.SetSelf(id_);
  peers_.OnRegistered(id_);
  if (leaves_) SayThatItLeaves();
  Connect();
  Attach();
  if (first) LookForCoordinator();
}

void SimWorker::LookForCoordinator() {
  jobs_.EndOrphans(clock_ns());
  peers_.Look(streams_.Silent(), clock_ns());
  loop_.On(daemon_, kLookNs, [this] {
    if (!dead()) LookForCoordinator();
  });
}

// ---- The control stream -------------------------------------------------------------------------

void SimWorker::Attach() {
  SimCoordinator* coordinator = surroundings_.coordinator();
  if (control_) control_->Close(SimLink::kCaller);
  control_ = MakeLink(coordinator);
  control_at_ = coordinator;
  const Link link = control_;
  link->OnBroken(SimLink::kCaller, [this](const Link& broken) {
    if (!dead() && control_ == broken) AttachLater();
  });
  if (loop_.now_ns() < no_orders_until_ns_) {
    link->Swallow(SimLink::kCalled);
    loop_.After(kKeepaliveNs, [link] { link->Break(); });
  }
  link->Send(SimLink::kCaller, [this, link, coordinator, first = session_.OnAttached(Located())] {
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
  if (oracle_.traces()) oracle_.Trace(identity_.name + " reports " + event.ShortDebugString());
  if (event.peers_probed().unreachable_size() != 0) oracle_.Count("nodes found out of reach");
  if (event.broken().reason().starts_with("no coordinator")) oracle_.Count("orphans");
  if (event.has_not_started()) refused_.insert({JobId{event.job()}, Epoch{event.epoch()}});
  session_.Report(std::move(event));
  WriteEvents();
}

void SimWorker::WriteEvents() {
  if (!control_ || control_->broken(SimLink::kCaller)) return;
  while (session_.has_unsent()) {
    control_->Send(SimLink::kCaller,
                   [id = id_, link = control_, at = control_at_, event = session_.NextUnsent()] {
                     if (at != nullptr) at->OnEvent(id, link, event);
                   });
  }
}

void SimWorker::OnAcknowledge(const Link& control, std::uint64_t sequence) {
  if (dead() || control_ != control) return;
  for (const auto& [job, bytes] : session_.OnAcknowledge(sequence)) {
    jobs_.OnOutputKept(job.first, job.second, bytes);
  }
}

void SimWorker::OnOrder(const Link& control, const proto::Order& order) {
  if (dead() || control_ != control || !session_.Take(order)) return;
  if (oracle_.traces()) oracle_.Trace(identity_.name + " takes " + order.ShortDebugString());
  if (order.has_peers_changed()) return OnPeersChanged(order.peers_changed());
  if (order.has_leave()) {
    if (!jobs_.Held().empty()) oracle_.Fail(identity_.name + " is to leave, and has a job");
    oracle_.Count("workers that left");
    return End();
  }
  if (order.has_keep_checkpoints()) {
    const auto& keep = order.keep_checkpoints();
    keeps_ordered_.emplace(JobId{keep.job()}, std::vector<std::uint64_t>(keep.checkpoints().begin(),
                                                                         keep.checkpoints().end()));
  }
  for (const proto::Host& host : order.start().hosts())
    streams_.OnPlanned(WorkerId{host.worker()}, host.data_address());
  jobs_.OnOrder(order);
  if (order.has_start() && !ends_) CheckTaken(order.start());
  if (order.has_release_held()) CheckReleasedLater(order.release_held());
}

// Unless the coordinator wants it, as one that is committed, an image of its own goes: nobody names
// it again if no later checkpoint succeeds, and the disk fills.
void SimWorker::CheckReleasedLater(const proto::ReleaseHeld& order) {
  const JobId job{order.job()};
  const auto node = nodes_.find({job, Epoch{order.epoch()}});
  if (node == nodes_.end()) return;
  loop_.On(daemon_, kReleasedNs,
           [this, job, number = order.checkpoint(), pids = node->second->PidsTakingPart(),
            registered = registered_, paused_ns = daemon_->paused_ns] {
             if (dead() || disk_.slow() || registered != registered_) return;
             if (daemon_->paused_ns != paused_ns) return;  // Its disk had no time either.
             for (const auto& [of, numbers] : keeps_ordered_)
               if (of == job && std::find(numbers.begin(), numbers.end(), number) != numbers.end())
                 return;
             for (const std::uint32_t pid : pids)
               if (surroundings_.store.Find(job, number, pid) != nullptr)
                 oracle_.Fail("an image that was given up stays on " + identity_.name);
           });
}

// It goes on here, or the coordinator hears that it does not.
void SimWorker::CheckTaken(const proto::StartJob& start) const {
  const Key key{JobId{start.job()}, Epoch{start.epoch()}};
  const auto found = nodes_.find(key);
  if ((found == nodes_.end() || found->second->abandoned()) && !refused_.contains(key))
    oracle_.Fail(identity_.name + " takes the order to start job " + std::to_string(start.job()) +
                 ", and does nothing");
}

void SimWorker::OnPeersChanged(const proto::PeersChanged& change) {
  for (const std::uint32_t worker : change.left()) streams_.SetAddress(WorkerId{worker}, "");
  for (const proto::Peer& peer : change.came())
    streams_.SetAddress(WorkerId{peer.worker()}, peer.data_address());
  peers_.OnPeersChanged(change, clock_ns());
}

// ---- Other workers, and the jobs here -----------------------------------------------------------

SimPartner* SimWorker::Reach(const std::string& images_address) {
  SimWorker* const worker = surroundings_.worker_at(images_address);
  return worker == nullptr || worker->paused() || cut_off() ? nullptr : worker;
}

void SimWorker::Probe(const worker::PeerAddress& peer) {
  loop_.On(daemon_, 2 * loop_.Delay(), [this, peer] {
    if (dead()) return;
    const SimStreams* const called = surroundings_.streams(peer.worker);
    const bool there =
        called != nullptr && !called->dead() && called->address() == peer.data_address;
    peers_.OnProbed(peer, there ? "" : "nobody answers", clock_ns());
  });
}

void SimWorker::OnStreamFailed(WorkerId peer, const SimStreams::Epochs& epochs) {
  oracle_.Count("exchanges given up");
  peers_.OnExchangeFailed(peer, "nothing arrives", clock_ns());
  for (const auto& [job, epoch] : epochs)
    jobs_.OnBroken(job, epoch, worker::ExchangeFault::kEnvironment, "a worker cannot be reached");
}

void SimWorker::OnImagesReceived(JobId job, std::uint64_t checkpoint) {
  loop_.On(daemon_, loop_.Delay(), [this, job, checkpoint] {
    if (!dead()) jobs_.OnImagesReceived(job, checkpoint);
  });
}

std::unique_ptr<worker::JobHost> SimWorker::Host(worker::HostedJob& job) {
  SimNodeHost& host = *this;
  auto node = std::make_unique<SimNode>(
      SimNode::Parts{.loop = loop_,
                     .oracle = oracle_,
                     .streams = streams_,
                     .lanes = surroundings_.lanes,
                     .host = host,
                     .actors = {.daemon = daemon_, .processes = processes_}},
      job);
  nodes_[{node->job(), node->epoch()}] = node.get();
  return node;
}

// As NodeHosting has it.
void SimWorker::Forget(const SimNode& node) {
  nodes_.erase({node.job(), node.epoch()});
  for (const auto& [key, other] : nodes_)
    if (key.first == node.job() && !HasOlderEpoch(*other)) other->PrepareAfterOlder();
}

bool SimWorker::HasOlderEpoch(const SimNode& node) const {
  const auto oldest = nodes_.lower_bound({node.job(), Epoch{0}});
  return oldest != nodes_.end() && oldest->first < Key{node.job(), node.epoch()};
}

SimNode* SimWorker::Find(JobId job, Epoch epoch) const {
  const auto found = nodes_.find({job, epoch});
  const bool takes = !dead() && found != nodes_.end() && found->second->exchanging();
  return takes ? found->second : nullptr;
}

void SimWorker::OnPeerFrame(const SimFrame& frame) {
  if (SimNode* const node = Find(frame.job, frame.epoch)) node->OnFrame(frame);
}

}  // namespace bspnow
