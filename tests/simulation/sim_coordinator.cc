#include "tests/simulation/sim_coordinator.h"

#include <string.h>

#include <algorithm>

#include <absl/strings/match.h>
#include "base/version.h"
#include "net/stream_key.h"

namespace bspnow {
namespace {

using coordinator::Barriers;
using coordinator::CheckpointFigures;
using coordinator::CheckpointLimits;
using coordinator::ClusterPorts;
using coordinator::ClusterSettings;
using coordinator::OrderSink;
using coordinator::Refusal;

constexpr std::uint64_t kJournalNs = 20 * kMillisecond;
constexpr std::uint32_t kQuotaMax = 3;  // Slots of a user; 0: no quota.
constexpr std::uint64_t kTermKeys = std::uint64_t{1} << 60;
constexpr CheckpointLimits kLimits{
    .mtbf_ns = 10 * kSecond, .overhead_max = 0.5, .renewal_ns_min = 20 * kMillisecond};

}  // namespace

/// A worker's control stream, at this end.
class SimCoordinator::ControlStream final : public OrderSink {
 public:
  ControlStream(SimCoordinator& coordinator, WorkerId worker, Link link, SimWorkerPort& port)
      : coordinator_(coordinator), worker_(worker), link_(std::move(link)), port_(port) {}

  void Send(const proto::Order& order) override {
    coordinator_.Watch(order);
    link_->Send(SimLink::kCalled,
                [link = link_, &port = port_, order] { port.OnOrder(link, order); });
  }
  void Acknowledge(std::uint64_t sequence) override {
    coordinator_.CheckAcknowledged(worker_, sequence);
    link_->Send(SimLink::kCalled,
                [link = link_, &port = port_, sequence] { port.OnAcknowledge(link, sequence); });
  }
  void Close(const absl::Status& reason) override {
    if (absl::StrContains(std::string(reason.message()), "lease expired"))
      coordinator_.oracle_.Count("leases lost");
    coordinator_.CheckListened(worker_, std::string(reason.message()));
    if (absl::StrContains(std::string(reason.message()), "no order has arrived"))
      coordinator_.oracle_.Count("nodes that no order reaches given up");
    if (absl::StrContains(std::string(reason.message()), "has not ended the processes"))
      coordinator_.oracle_.Count("nodes given up");
    if (absl::IsNotFound(reason))
      link_->Send(SimLink::kCalled, [link = link_, &port = port_] { port.OnForgotten(link); });
    link_->Close(SimLink::kCalled);
  }

 private:
  SimCoordinator& coordinator_;
  const WorkerId worker_;
  const Link link_;
  SimWorkerPort& port_;
};

SimCoordinator::SimCoordinator(SimLoop& loop, SimOracle& oracle, SimJournal& journal, Nodes nodes)
    : loop_(loop),
      oracle_(oracle),
      journal_(journal),
      nodes_(std::move(nodes)),
      writer_(
          loop, journal_, actor_, [this] { return !superseded() && !journal_hangs_; }, kJournalNs),
      stored_(journal.Load(loop.Below(kTermKeys) + 1)),
      term_(stored_.term),
      run_(journal.runs),
      user_slots_(journal.quotas ? static_cast<std::uint32_t>(loop.Below(kQuotaMax + 1)) : 0) {
  if (!strange()) oracle_.promises().OnFound(stored_);
  for (const JobRecord& record : stored_.jobs) {
    if (HasEnded(record)) oracle_.OnEndStored(record);
    placed_.emplace(record.job().job(), record.job().epoch());  // By another one.
    if (!record.job().losses().empty() && !record.job().losses().rbegin()->resumed())
      open_losses_[IdOf(record)] = std::nullopt;
  }
  cluster_ = std::make_unique<Cluster>(
      ClusterPorts{
          .timers = *this,
          .journal = *this,
          .logs = *this,
          .frames = *this,
          .start_anew = [this] { nodes_.start_anew(*this); },
          .ended_by_client = [](const auto&) {},
          .find_missing = [](const auto&, const auto&, const auto& missing) { missing(""); },
          .has_room = [](const auto&) { return absl::OkStatus(); }},
      ClusterSettings{.barrier_address = "simulated:1",
                      .checkpoint_limits = kLimits,
                      .checkpoint_copies = journal.copies,
                      .own_key = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'o')),
                      .quotas = {.slots = user_slots_}},
      stored_);
  for (const JobRecord& record : stored_.jobs)
    if (!HasEnded(record)) WaitForEnd(IdOf(record));
}

SimCoordinator::~SimCoordinator() = default;

void SimCoordinator::Die() {
  if (std::exchange(dead_, true)) return;
  CountFigures();
  writer_.Die();
  for (auto& [job, writer] : log_writers_) writer.Die();
  CutConnections();
}

void SimCoordinator::LosePower() {
  Die();
  if (superseded()) return;
  if (loop_.Chance(50)) journal_.failed_row = nullptr;
  for (auto& [job, log] : journal_.logs) {
    for (auto& [stream, text] : log.texts) {
      const std::uint64_t kept = loop_.Between(log.synced[stream], text.size());
      if (kept < text.size()) oracle_.Count("output lost with power");
      log.lossy = log.lossy || kept < text.size();
      text.resize(kept);
    }
  }
}

void SimCoordinator::DamageALog() {
  if (superseded()) return;
  std::vector<JobId> jobs;  // That print, or will again: nobody reads the logs of others.
  for (const auto& [id, record] : journal_.jobs)
    if (!HasEnded(record) && record.job().state() != proto::ENDING) jobs.push_back(id);
  if (jobs.empty()) return;
  SimLog& log = journal_.logs[jobs[loop_.Below(jobs.size())]];
  for (auto& [stream, text] : log.texts) {
    text.resize(loop_.Between(0, text.size()));
    log.synced[stream] = std::min<std::uint64_t>(log.synced[stream], text.size());
  }
  log.damaged = true;
  oracle_.Count("damaged logs");
}

void SimCoordinator::CutConnections() {
  for (const Link& link : links_) dead_ ? link->Close(SimLink::kCalled) : link->Break();
  links_.clear();
}

void SimCoordinator::CountFigures() {
  const CheckpointFigures figures = cluster_->Figures().checkpoints;
  const auto count = [this](const char* what, std::uint64_t n) { oracle_.Count(what, n); };
  count("checkpoints given up", figures.ended.at("given_up"));
  count("checkpoints found damaged", figures.damaged);
  count("slow writes", writer_.slow_writes());
  for (const auto& [job, writer] : log_writers_) count("slow writes", writer.slow_writes());
  for (const std::uint64_t n : figures.recovery_ns->Look().counts) count("losses overcome", n);
}

void SimCoordinator::Turn(const std::function<void()>& event) {
  if (dead_) return;
  event();
  copies_.Look(cluster_->table(), loop_.now_ns());
  const Barriers& barriers = cluster_->barriers();
  for (const Refusal refusal : {Refusal::kContradiction, Refusal::kMalformed})
    if (barriers.refused(refusal) != 0) oracle_.Fail("a frame of a worker is refused");
  if (!superseded() && !journal_.is_strange()) oracle_.CheckTable(cluster_->table());
  if (!superseded()) CheckWaits();
}

// ---- Clients ------------------------------------------------------------------------------------

// Who is told that this is more than he may have asks for less.
void SimCoordinator::Submit(proto::SubmitJobRequest request, OnJob acknowledged) {
  if (user_slots_ != 0)
    request.mutable_spec()->set_nprocs(std::min(request.spec().nprocs(), user_slots_));
  const coordinator::Caller caller{.user = "", .scopes = coordinator::kAllScopes};
  const std::uint64_t jobs = request.has_array() ? coordinator::ElementsOf(request.array()) : 1;
  const auto answer = [this, jobs, acknowledged](const absl::StatusOr<JobId>& job) {
    if (absl::IsInvalidArgument(job.status())) oracle_.Fail(job.status().ToString());
    if (!job.ok()) return;
    for (std::uint64_t i = 0; i < jobs; ++i) WaitForEnd(JobId{Value(*job) + i});
    acknowledged(*job);
  };
  Turn([&] { cluster_->Submit(caller, request, Owe("a submission", answer)); });
}

void SimCoordinator::WaitForEnd(JobId job) {
  if (!awaited_.insert(job).second) return;
  const JobRecord* record = cluster_->table().Find(job);
  if (record == nullptr) return;
  if (HasEnded(
          *record)) {  // Since long, or as soon as it was submitted: what it awaited has failed.
    if (!oracle_.KnowsEnd(job)) OnEnded(job);
    return;
  }
  cluster_->Wait(job, [this, job](const absl::StatusOr<proto::Job>& ended) {
    if (ended.ok()) OnEnded(job);
  });
}

void SimCoordinator::OnEnded(JobId job) {
  if (superseded()) return;
  CheckNothingLeft(job);
  const JobRecord& record = *cluster_->table().Find(job);
  if (record.job().reason().starts_with("was to start after"))
    oracle_.Count("cancelled since another did not succeed");
  oracle_.OnEnded(record);
}

bool SimCoordinator::AttachClient(JobId job, const std::string& key,
                                  std::shared_ptr<coordinator::AttachedClient> client) {
  absl::Status attached;
  Turn([&] { attached = cluster_->Attach(job, key, std::move(client)); });
  return attached.ok();
}

// What was on its way when a stream broke may come before it: only a client knows better.
void SimCoordinator::SendInput(JobId job, coordinator::InputChunk chunk) {
  Turn([&] { cluster_->OnInput(job, std::move(chunk)).IgnoreError(); });
}

void SimCoordinator::LoseClient(JobId job, const coordinator::AttachedClient* client) {
  Turn([&] { cluster_->OnClientLost(job, client); });
}

void SimCoordinator::LetClientLeave(JobId job, const coordinator::AttachedClient* client) {
  Turn([&] { cluster_->OnClientLeft(job, client); });
}

// ---- Workers ------------------------------------------------------------------------------------

absl::StatusOr<proto::RegisterReply> SimCoordinator::Register(
    const proto::RegisterRequest& request) {
  absl::StatusOr<proto::RegisterReply> reply;
  const std::string& name = request.node().name();
  const WorkerId before = Standing(name, request.incarnation());
  Turn([&] { reply = cluster_->Register(request); });
  if (before != WorkerId{0} && Standing(name, request.incarnation()) != before)
    oracle_.Fail(name + " is lost to a daemon of its name");
  if (absl::IsInvalidArgument(reply.status())) oracle_.Fail(reply.status().ToString());
  return reply;
}

WorkerId SimCoordinator::Standing(const std::string& name, std::uint64_t but_for) const {
  for (const JobTable::NodeView& view : cluster_->table().nodes())
    if (view.node->name == name && view.node->lease.connected() &&
        view.node->registration.incarnation() != but_for)
      return view.node->worker;
  return WorkerId{0};
}

void SimCoordinator::RegisterNamesake(const std::string& name) {
  proto::RegisterRequest request;
  request.mutable_node()->set_name(name);
  request.mutable_node()->set_slots(1);
  request.set_protocol_oldest(kProtocolOldest);
  request.set_protocol(kProtocol);
  request.set_data_address(name + ":1");
  request.set_incarnation(~std::uint64_t{0});
  request.set_unfit("no space left on device");
  if (Register(request).ok()) oracle_.Fail("a worker without room is registered");
  oracle_.Count("daemons without room and of a name that others have");
}

void SimCoordinator::AttachWorker(const proto::WorkerEvent& first, const Link& control,
                                  SimWorkerPort& port) {
  if (first.term() != term_) oracle_.Count("refused old terms");
  const auto stream =
      std::make_shared<ControlStream>(*this, WorkerId{first.worker()}, control, port);
  links_.push_back(control);
  control->OnBroken(SimLink::kCalled, [this, id = WorkerId{first.worker()}, stream](const Link&) {
    if (!dead_) cluster_->OnStreamBroken(id, stream.get());
  });
  Turn([&] {
    const absl::Status attached = cluster_->AttachWorker(first, stream);
    if (!attached.ok()) stream->Close(attached);
  });
}

void SimCoordinator::OnEvent(WorkerId id, const Link& control, const proto::WorkerEvent& event) {
  Turn([&] {
    arriving_ = {id, event.sequence()};
    const absl::Status handled = cluster_->OnEvent(id, event);
    if (absl::IsInvalidArgument(handled)) oracle_.Fail(handled.ToString());
    if (!handled.ok()) control->Close(SimLink::kCalled);
  });
}

// ---- Frames -------------------------------------------------------------------------------------

void SimCoordinator::OnFrame(const Link& link, const SimFrameBytes& frame, SimWorkerPort& port) {
  if (FrameKind{frame.header.kind} == FrameKind::kHello) return OnHello(link, frame, port);
  const auto from = frames_.find(WorkerId{frame.header.source_worker});
  if (from == frames_.end() || from->second.link != link) return;
  if (FrameKind{frame.header.kind} == FrameKind::kHeartbeat) heard_ns_[from->first] = AwakeNs();
  Turn([&] { cluster_->barriers().OnFrame(frame.header, frame.payload); });
}

void SimCoordinator::OnHello(const Link& link, const SimFrameBytes& frame, SimWorkerPort& port) {
  // Who has lost the journal's lock gives no leases: its address is another's.
  if (superseded()) return link->Break();
  Barriers& barriers = cluster_->barriers();
  HelloBody hello;
  memcpy(&hello, frame.payload.data(), sizeof hello);
  if (hello.term != term_) oracle_.Count("refused old terms");
  if (barriers.OnHello(frame.header, frame.payload) != FrameFault::kNone)
    return link->Close(SimLink::kCalled);
  const WorkerId worker{frame.header.source_worker};
  Close(worker, "the worker has connected anew");
  frames_[worker] = {.link = link, .port = &port};
  links_.push_back(link);
  link->OnBroken(SimLink::kCalled, [this, worker](const Link& broken) {
    const auto found = frames_.find(worker);
    if (dead_ || found == frames_.end() || found->second.link != broken) return;
    frames_.erase(found);
    broken_ns_[worker] = AwakeNs();
    cluster_->barriers().OnDisconnected(worker);
  });
  Turn([&] { barriers.OnConnected(worker); });
}

void SimCoordinator::Send(WorkerId worker, const FrameHeader& header,
                          std::span<const std::byte> payload) {
  const auto found = frames_.find(worker);
  if (found == frames_.end()) return;
  if (FrameKind{header.kind} == FrameKind::kRelease) WatchRelease(worker, header, payload);
  found->second.link->Send(
      SimLink::kCalled,
      [end = found->second,
       frame = SimFrameBytes{.header = header, .payload = {payload.begin(), payload.end()}}] {
        end.port->OnFrame(end.link, frame);
      });
}

void SimCoordinator::Close(WorkerId worker, const char*) {
  const auto found = frames_.find(worker);
  if (found == frames_.end()) return;
  const Link link = found->second.link;
  frames_.erase(found);
  link->Close(SimLink::kCalled);
  cluster_->barriers().OnDisconnected(worker);
}

}  // namespace bspnow
