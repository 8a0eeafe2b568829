// The workers' side of the cluster: they register, report and are lost. The rest of the class is in
// cluster.cc.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <absl/strings/str_cat.h>
#include "base/units.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/cluster_view.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kTickMs = 5'000;

HeldEpoch HeldEpochOf(const proto::HeldJob& held) {
  HeldEpoch epoch{.job = JobId{held.job()},
                  .epoch = Epoch{held.epoch()},
                  .participants = held.participants(),
                  .clearing = held.clearing(),
                  .begun = {},
                  .exited = {},
                  .resumed_from = Superstep{held.resumed_from()},
                  .put_back = held.put_back(),
                  .started = held.started().pids_size() != 0,
                  .never_began = held.never_began()};
  for (const std::uint32_t pid : held.begun()) epoch.begun.push_back(Pid{pid});
  for (const proto::ProcessExited& exited : held.exited())
    epoch.exited.emplace_back(Pid{exited.pid()}, ProcessEndOf(exited));
  return epoch;
}

}  // namespace

// ---- Coming and going ---------------------------------------------------------------------------

// Epochs that ran when the coordinator was started; their workers come back and go on. Those that
// were being cleared away may go on, too, for a while.
void Cluster::AdoptJobs() {
  started_ns_ = NowNs();
  for (const JobRecord* record : table_.records()) {
    awaits_hosts_ = awaits_hosts_ || (!HasEnded(*record) && !record->hosts().empty());
    if (record->job().state() != proto::RUNNING) continue;
    std::vector<BarrierHost> hosts;
    for (const NodeShare& share : SharesOf(*record))
      hosts.push_back({.worker = share.worker, .pids = share.pids});
    FindLive(IdOf(*record))
        ->running.emplace(EpochOf(*record),
                          EpochPlan{.nprocs = record->job().spec().nprocs(),
                                    .hosts = std::move(hosts),
                                    .totals = LastTotals(*record),
                                    .origin = EpochOrigin::kAdopted,
                                    .direct = record->direct(),
                                    .recorders = RecordersOf(*FindLive(IdOf(*record)))});
  }
}

absl::Status Cluster::CheckNamesake(const Node& earlier, const proto::RegisterRequest& request) {
  const bool same = earlier.registration.incarnation() == request.incarnation();
  if (same || (!earlier.sink && !earlier.lease.connected())) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("a worker named ", earlier.name, " lives at ",
                                                    earlier.registration.data_address(),
                                                    "; give this one another --name"));
}

// Processes of a daemon that is gone may pass barriers for as long as its last lease held. One that
// is awaited may come back until it is given up, and another in its place would cost its jobs.
absl::Status Cluster::CheckPredecessor(const std::string& name, const Node* earlier) const {
  const std::uint64_t now_ns = NowNs();
  const std::uint64_t age_ns = earlier != nullptr ? earlier->lease.AgeNs(now_ns)
                               : awaits_hosts_    ? now_ns - started_ns_
                                                  : kLeaseOverNs;
  if (earlier == nullptr && table_.WouldMiss(name))
    return absl::UnavailableError(
        "another worker of this name is awaited, which had jobs when the coordinator was "
        "restarted; it is given up after 10 s");
  if (age_ns >= kLeaseOverNs) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the lease of a worker that was here before holds for another ",
                   (kLeaseOverNs - age_ns) / kNsPerMs, " ms"));
}

// It may be the first thing that is heard after a pause, before the heartbeats of the very worker.
absl::StatusOr<proto::RegisterReply> Cluster::Register(const proto::RegisterRequest& request) {
  barriers_.NotePause();
  if (absl::Status checked = CheckRegistration(request); !checked.ok()) return checked;
  if (KeepsOfAnotherCluster(request, cluster_id_)) return RefuseStranger(request);
  const bool knows_another =
      request.term() == term_ && request.term_key() != 0 && request.term_key() != term_key_;
  if (request.cluster() == cluster_id_ && (request.term() > term_ || knows_another))
    return TakeHigherTerm(request);
  if (!request.unfit().empty()) return RefuseUnfit(request);
  const std::string& name = request.node().name();
  const bool returns =
      request.cluster() == cluster_id_ && table_.Awaits(WorkerId{request.previous_worker()});
  const Node* earlier = nodes_.FindUp(name);
  if (earlier != nullptr) {
    const bool same = earlier->registration.incarnation() == request.incarnation();
    // Unless its jobs are gone meanwhile: by its orphan timeout, or a coordinator of an older term.
    if (same && !earlier->attached && HoldTheSame(earlier->registration, request))
      return earlier->reply;
    if (absl::Status free = CheckNamesake(*earlier, request); !free.ok()) return free;
  }
  // A daemon that comes from another cluster may have been started since this one was last here.
  const bool first = request.previous_worker() == 0 || request.cluster() != cluster_id_;
  if (earlier != nullptr || first)
    if (absl::Status gone = CheckPredecessor(name, earlier); !gone.ok()) return gone;
  if (earlier != nullptr) Lose(earlier->worker, "it was started anew");

  const WorkerId id = returns ? WorkerId{request.previous_worker()} : nodes_.NewId();
  Node& node = nodes_.Add(id, request, NowNs());
  if (!request.images_address().empty()) image_nodes_[name] = request.images_share();
  for (const proto::HeldJob& held : request.held()) {
    table_.OnJobSeen(JobId{held.job()});
    table_.OnEpochSeen(JobId{held.job()}, Epoch{held.epoch()});
  }
  spdlog::info("event=worker_{} worker={} id={} slots={} address={}",
               returns ? "returned" : "registered", name, Value(id), node.slots,
               request.data_address());
  proto::RegisterReply& reply = node.reply;
  reply.set_worker(Value(id));
  reply.set_barrier_address(settings_.barrier_address);
  reply.set_heartbeat_ms(kHeartbeatMs);
  reply.set_idle_heartbeat_ms(kIdleHeartbeatMs);
  reply.set_lease_ms(kLeaseNs / kNsPerMs);
  reply.set_term(term_);
  reply.set_term_key(term_key_);
  reply.set_cluster(cluster_id_);
  reply.set_stream_key(settings_.stream_key.bytes());
  reply.set_data_tls(settings_.stream_key.encrypts());
  reply.set_barrier_key(settings_.own_key.For(absl::StrCat("worker ", Value(id))).bytes());
  peer_news_.OnUp(id);
  return returns ? AdoptNode(node) : JoinNode(node);
}

// It asks again and again, until its disk has room.
absl::Status Cluster::RefuseUnfit(const proto::RegisterRequest& request) {
  const std::string& name = request.node().name();
  if (const Node* earlier = nodes_.FindUp(name)) {
    if (absl::Status free = CheckNamesake(*earlier, request); !free.ok()) return free;
    const bool had_lease = earlier->attached || earlier->lease.connected();
    if (absl::Status gone = had_lease ? CheckPredecessor(name, earlier) : absl::OkStatus();
        !gone.ok())
      return gone;
    Lose(earlier->worker, request.unfit());
  }
  Node& node = nodes_.Named(name);
  if (node.why_lost != request.unfit())
    spdlog::warn("event=worker_unfit worker={} reason=\"{}\"", name, request.unfit());
  node.registration = request;
  node.why_lost = request.unfit();
  return absl::ResourceExhaustedError(
      absl::StrCat("it is not registered before it has room: ", request.unfit()));
}

proto::RegisterReply Cluster::JoinNode(Node& node) {
  const proto::RegisterReply reply = node.reply;  // What is performed may lose it.
  node.registration.clear_started();
  OnStoredJobs(node);
  Perform(table_.OnNodeUp(node.worker, Now()));
  return reply;
}

proto::RegisterReply Cluster::AdoptNode(Node& node) {
  std::vector<HeldEpoch> epochs;
  for (const proto::HeldJob& held : node.registration.held()) {
    epochs.push_back(HeldEpochOf(held));
    table_.SetOsPids(JobId{held.job()}, Epoch{held.epoch()}, node.name, held.started());
    LiveJob* job = FindLive(JobId{held.job()});
    if (job == nullptr || !job->running || job->running->epoch != Epoch{held.epoch()}) continue;
    if (held.resumed_from() != 0) job->running->OnResumed(Superstep{held.resumed_from()});
    if (held.put_back()) job->running->OnPutBack();
    job->from_main = !held.put_back();
  }
  JobTable::Return returned = table_.OnHostReturned(node.worker, epochs, Now());
  node.registration.clear_started();  // It has been of use, and is long.
  for (const JobId job : returned.kept) node.reply.add_keep_jobs(Value(job));
  const proto::RegisterReply reply = node.reply;
  OnStoredJobs(node);
  Perform(std::move(returned.orders));
  return reply;
}

absl::Status Cluster::AttachWorker(const proto::WorkerEvent& first,
                                   std::shared_ptr<OrderSink> sink) {
  if (closed_) return absl::UnavailableError("the coordinator is shutting down");
  if (absl::Status s = nodes_.Attach(first, std::move(sink), NowNs()); !s.ok()) return s;
  const WorkerId worker{first.worker()};
  if (nodes_.Find(worker)->OnAddresses(first)) peer_news_.OnMoved(worker);
  OnStreamStands();
  return absl::OkStatus();
}

// In a later turn: the stream is to say what it owes first.
void Cluster::OnStreamStands() {
  table_.ExpectNodesChanged();
  ports_.timers.Post([this, stream = ++streams_stood_] {
    if (closed_) return;
    Perform(table_.OnNodesChanged(Now()));
    if (stream == streams_stood_) LeaveClosedNodes();  // Once for those that come together.
  });
}

void Cluster::Lose(WorkerId worker, const std::string& reason) {
  const Node* lost = nodes_.Find(worker);
  if (lost == nullptr) return;
  spdlog::log(lost->may_leave ? spdlog::level::info : spdlog::level::warn,
              "event=worker_lost worker={} id={} reason=\"{}\"", lost->name, Value(worker), reason);
  std::map<JobId, Superstep> superstep_of;
  for (const JobId job : table_.JobsOn(worker)) {
    superstep_of[job] = FindLive(job)->reached();
    FindLive(job)->NeedNoCheckpointToSuspend();  // The loss of its copies is looked at first.
    KeepFigures(job);
  }
  peer_news_.OnLost(worker);
  barriers_.CloseStream(*lost);
  const std::string node = lost->name;
  image_nodes_.erase(node);
  nodes_.Remove(worker, absl::NotFoundError(absl::StrCat("given up: ", reason)));
  OnHolderLost(node);
  Perform(table_.OnNodeLost(worker, absl::StrCat("worker ", node, " lost"), reason, superstep_of,
                            Now()));
  ForgetLeftNodes();
}

// ---- Events -------------------------------------------------------------------------------------

absl::Status Cluster::OnEvent(WorkerId id, proto::WorkerEvent event) {
  Node* node = nodes_.Find(id);
  if (node == nullptr) return absl::NotFoundError("this worker was lost; register again");
  node->session.OnOrdersTaken(event.orders_taken());
  const auto novelty = node->session.OnEvent(event.sequence());
  if (!novelty.ok()) return novelty.status();
  if (*novelty == WorkerSession::Novelty::kNew) {
    if (event.has_output()) {
      OnOutput(*node, event);
    } else if (node->session.awaits_log() != 0) {
      node->session.AwaitLog();
      node->after_output.push_back(std::move(event));
    } else {
      Perform(OnJobEvent(*node, event));
      node = nodes_.Find(id);  // What was performed may have lost it.
    }
  }
  if (node != nullptr) node->Acknowledge();
  return absl::OkStatus();
}

// Events that follow output take effect once that output is in the log: else an end or a checkpoint
// could outlive a crash that its output does not. The event with this sequence is output.
void Cluster::OnLogged(WorkerId id, std::uint64_t sequence) {
  while (Node* node = nodes_.Find(id)) {
    node->session.OnLogged(sequence);
    node->Acknowledge();
    if (node->after_output.empty() ||
        node->after_output.front().sequence() != node->session.awaits_log())
      return;
    const proto::WorkerEvent event = std::move(node->after_output.front());
    node->after_output.pop_front();
    sequence = event.sequence();
    Perform(OnJobEvent(*node, event));
  }
}

JobOrders Cluster::OnJobEvent(Node& node, const proto::WorkerEvent& event) {
  const JobId job{event.job()};
  const Epoch epoch{event.epoch()};
  if (event.has_load()) {
    node.load = event.load().load();  // It counts at the next placement.
    return {};
  }
  if (event.has_barrier_wait()) {
    OnBarrierWait(node, event);
    return {};
  }
  if (event.has_groups_open()) {
    OnGroupsOpen(node, event);
    return {};
  }
  if (event.has_stand_still()) return OnStandStill(node, event);
  if (event.has_leaving()) return OnLeaving(node);
  if (event.has_peers_probed()) {
    OnPeersProbed(node, event.peers_probed());
    return table_.OnNodesChanged(Now());
  }
  if (IsCheckpointEvent(event)) return OnCheckpointEvent(node, event);
  if (event.has_not_started())
    return table_.OnNotStarted(job, epoch,
                               {.node = node.name,
                                .reason = event.not_started().reason(),
                                .exit_status = event.not_started().exit_status()},
                               Now());
  if (event.has_begun()) return table_.OnBegun(job, epoch, Pid{event.begun().pid()}, Now());
  if (event.has_exited())
    return table_.OnExited(job, epoch, Pid{event.exited().pid()}, ProcessEndOf(event.exited()),
                           Now());
  if (event.has_broken())
    return event.broken().final() ? table_.OnFailed(job, epoch, event.broken().reason(), Now())
                                  : table_.OnBroken(job, epoch, event.broken().reason(), Now());
  if (event.has_input_taken())
    if (LiveJob* live = FindLive(job); live != nullptr && live->attachment)
      live->attachment->OnInputTaken(event.input_taken().bytes());
  if (!event.has_cleared()) return {};
  const auto found = table_.jobs().find(job);  // Its end is stored with its figures.
  if (found != table_.jobs().end() && found->second.hosts_left.size() == 1) KeepFigures(job);
  proto::JobCleared cleared = event.cleared();
  // Those of a job that goes on are in its checkpoint, or made anew.
  if (found == table_.jobs().end() || found->second.state() != proto::ENDING)
    cleared.clear_files_lost();
  const std::string& lost = cleared.files_lost();
  if (table_.AddUsage(job, epoch, node.worker, cleared) && !lost.empty())
    Say(job, absl::StrCat("files that it left on node ", node.name, " are lost: ", lost));
  return table_.OnCleared(job, epoch, node.worker, Now());
}

void Cluster::OnOutput(Node& node, proto::WorkerEvent& event) {
  const JobId job{event.job()};
  const Epoch epoch{event.epoch()};
  const JobRecord* record = table_.Find(job);
  proto::ProcessOutput& output = *event.mutable_output();
  if (record == nullptr || HasEnded(*record) || EpochOf(*record) != epoch) return;
  if (output.text().size() > kLogTextBytesMax)
    return Perform(
        table_.OnFailed(job, epoch, "its worker sent more output at once than is allowed", Now()));
  output_bytes_of_all_ += output.text().size();
  const std::uint64_t sequence = node.session.AwaitLog();
  LogRecord line{
      .pid = output.pid(),
      .origin = output.stream() == proto::STDERR ? LogOrigin::kStderr : LogOrigin::kStdout,
      .offset = output.offset(),
      .text = std::move(*output.mutable_text())};
  FindLive(job)->printed.OnPrinted(StreamOf(line), line.offset + line.text.size());
  const auto logged = [this, id = node.worker, sequence, job, epoch](const absl::Status& status) {
    const std::string reason(status.message());
    if (!status.ok())  // Before the events that follow this output: an end would count without it.
      Perform(absl::IsOutOfRange(status) ? table_.OnFailed(job, epoch, reason, Now())
                                         : table_.OnBroken(job, epoch, reason, Now()));
    OnLogged(id, sequence);
  };
  ports_.logs.Append(job, std::move(line), logged);
}

void Cluster::OnFilesTaken(JobId job, const absl::Status& taken) {
  LiveJob* const live = FindLive(job);
  if (live != nullptr) live->files_wait = taken.ok() ? "" : std::string(taken.message());
}

absl::Status Cluster::MayStoreFiles(JobId job) const {
  const auto record = FindJob(job);
  if (!record.ok()) return record.status();
  const proto::JobState state = (*record)->job().state();
  if (state == proto::RUNNING || state == proto::ENDING) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(StateSentence((*record)->job()), ": no files are expected of it"));
}

// ---- From time to time --------------------------------------------------------------------------

void Cluster::Tick() {
  barriers_.NotePause();
  EndAbandoned();
  LeaveClosedNodes();
  GiveUpSilent();
  RecallOutcomesAgain();
  if (const std::uint64_t now_ns = NowNs(); now_ns > kStoreProgressNs)
    StoreProgress(now_ns - kStoreProgressNs);
  tick_ = ports_.timers.AddTimer(kTickMs, [this] { Tick(); });
}

void Cluster::StoreProgress(std::uint64_t stored_by_ns) {
  const std::vector<JobId> jobs = table_.StoredBy(stored_by_ns);
  for (const JobId job : jobs) KeepFigures(job);
  Perform(table_.StoreProgress(jobs, Now()));
}

}  // namespace bspnow::coordinator
