#include "coordinator/core/cluster.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include "base/check.h"
#include "base/units.h"
#include "coordinator/core/cluster_view.h"

namespace bspnow::coordinator {
namespace {

absl::Status RequireEnd(const JobRecord& record, const char* what) {
  if (HasEnded(record)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(StateSentence(record.job()), "; ", what,
                                                    " when it has ended: `bsp wait ",
                                                    record.job().job(), "`"));
}

// For some seconds nobody knows whether its processes run.
std::string WhoHasNotReturned(const coordinator::Job& job) {
  std::vector<std::string> names;
  for (int i = 0; i < job.record.hosts_size(); ++i)
    if (std::find(job.awaited.begin(), job.awaited.end(), WorkerOf(job.record.hosts(i))) !=
        job.awaited.end())
      names.push_back(job.shown().placement(i).node());
  if (names.empty()) return "";
  constexpr std::size_t kNamesMax = 3;
  const std::size_t named = std::min(names.size(), kNamesMax);
  const std::size_t more = names.size() - named;
  names.resize(named);
  return absl::StrCat(
      absl::StrJoin(names, ", "), more == 0 ? "" : absl::StrCat(" and ", more, " more"),
      named == 1 ? " has" : " have", " not returned yet after a restart of the coordinator");
}

}  // namespace

// ---- Start and end ------------------------------------------------------------------------------

Cluster::Cluster(ClusterPorts ports, ClusterSettings settings, const StoredState& stored)
    : ports_(std::move(ports)),
      settings_(std::move(settings)),
      nodes_(stored.term, stored.term_key),
      table_(nodes_, settings_.quotas),
      cluster_id_(stored.cluster),
      term_(stored.term),
      term_key_(stored.term_key),
      peer_news_(ports_.timers, nodes_),
      barriers_(ports_.timers, ports_.frames, term_, table_.jobs(), nodes_, EventsOfBarriers()) {
  Restore(stored);
}

Cluster::~Cluster() {
  ports_.timers.CancelTimer(deadline_);
  ports_.timers.CancelTimer(tick_);
  ports_.timers.CancelTimer(prepare_timer_);
}

BarrierEvents Cluster::EventsOfBarriers() {
  BarrierEvents events;
  events.connected = [this](WorkerId worker) {
    for (const JobId job : table_.JobsOn(worker)) barriers_.TellBegin(job, worker);
    OnStreamStands();
  };
  events.worker_lost = [this](WorkerId worker, const std::string& reason) { Lose(worker, reason); };
  events.paused = [this](std::uint64_t ns) { OnPaused(ns); };
  events.job_broken = [this](JobId job, Epoch epoch, const std::string& reason) {
    Perform(table_.OnBroken(job, epoch, reason, Now()));
  };
  events.superstep_over = [this](JobId job, Epoch epoch, Superstep next) {
    return OnSuperstepOver(job, epoch, next);
  };
  events.totals_grew = [this](JobId job) { OnTotals(job); };
  events.progressed = [this](JobId job, Epoch epoch, Superstep next) {
    OnProgressed(job, epoch, next);
  };
  return events;
}

void Cluster::Restore(const StoredState& stored) {
  for (const std::string& node : stored.drained_nodes) nodes_.Named(node).drained = true;
  for (const std::string& bytes : stored.parameters)
    parameters_.emplace_back().ParseFromString(bytes);
  table_.OnJobSeen(stored.last_job);
  table_.OnForgotten(stored.forgotten);
  // Logs are read for that, which may take minutes; the time to return begins afterwards.
  for (const JobRecord& record : stored.jobs)
    if (!HasEnded(record)) ports_.logs.Begin(IdOf(record));
  JobOrders orders;
  for (const JobRecord& record : stored.jobs) orders.Append(table_.Restore(record, Now()));
  RestoreCheckpoints(stored);
  spdlog::info("event=restored cluster={} term={} jobs={} waiting={}", cluster_id_, term_,
               stored.jobs.size(), table_.CountByState()[proto::WAITING]);
  Perform(std::move(orders));
  AdoptJobs();
  barriers_.OnRestored();
  Tick();
}

absl::Status Cluster::ShuttingDown() {
  return absl::UnavailableError("the coordinator is shutting down; try again in a while");
}

void Cluster::Close() {
  StoreProgress(NowNs());
  closed_ = true;
  for (const auto& [id, job] : LiveJobs()) {
    for (const auto& [number, answer] : std::exchange(job->waits, {})) answer(ShuttingDown());
    for (const CheckpointRequest& request : job->TakeRequests())
      if (request.answer) request.answer(ShuttingDown());
  }
  for (const auto& [worker, node] : nodes_.up())
    if (node->sink) node->sink->Close(ShuttingDown());
}

// ---- What the table decides ---------------------------------------------------------------------

void Cluster::Perform(JobOrders orders) {
  for (LauncherLine& line : orders.lines)
    ports_.logs.Append(line.job,
                       {.pid = 0, .origin = LogOrigin::kLauncher, .text = std::move(line.text)},
                       [](const absl::Status&) {});
  for (JobTransition& transition : orders.store) Store(std::move(transition));
  for (const StartOrder& order : orders.starts) Start(order);
  for (const SignalOrder& order : orders.signals) {
    proto::Order message;
    message.mutable_signal()->set_job(Value(order.job));
    message.mutable_signal()->set_epoch(Value(order.epoch));
    message.mutable_signal()->set_signal(order.signal);
    nodes_.Order(order.worker, std::move(message));
  }
  for (const FinishedJob& finished : orders.finished) MakeOutputDurable(finished);
  for (const JobId job : orders.recovering) OnRecovering(job);
  for (const JobId job : orders.returned) OnReturned(job);
  for (const JobId job : orders.inputs)
    if (LiveJob* const live = FindLive(job)) Perform(SendInput(job, *live));
  for (const EndOrder& order : orders.ends) {
    AbandonEpoch(order.job, order.epoch);
    if (EndsUnstarted(order)) continue;
    proto::Order message;
    message.mutable_end()->set_job(Value(order.job));
    message.mutable_end()->set_epoch(Value(order.epoch));
    message.mutable_end()->set_keep_files(order.keep_files);
    message.mutable_end()->set_keep_profile(order.keep_profile);
    nodes_.Order(order.worker, std::move(message));
  }
  for (const DeafNode& deaf : orders.deaf) barriers_.GiveUp(deaf.worker, deaf.reason);
  for (const JobId job : orders.accepted)
    for (const OnSubmitted& submitted : TakeSubmissions(job)) submitted(job);
  for (const JobId job : orders.refused) ports_.logs.End(job);
  for (const JobId job : orders.cleared) Clear(job);
  for (const JobId job : orders.suspended) AnswerSuspended(job);
  for (const JobId job : orders.ended) OnEnded(job);
  for (const JobId job : orders.recalled) RecallOutcome(job);
  if (!orders.archived.empty()) ports_.journal.Archive(orders.archived);
  LetLeave();
  SetDeadline();
  PostPass();
}

// In a later turn: what comes with many events at once is placed once.
void Cluster::PostPass() {
  if (!table_.pass_due() || std::exchange(pass_posted_, true)) return;
  ports_.timers.Post([this] {
    pass_posted_ = false;
    if (!closed_) Perform(table_.Schedule(Now()));
  });
}

void Cluster::MakeOutputDurable(const FinishedJob& finished) {
  std::vector<LogPosition> reach;
  LiveJob& job = *FindLive(finished.job);
  for (const auto& [pid, printed] : PrintedBy(finished.printed, job)) {
    reach.push_back({.pid = Value(pid),
                     .stdout_bytes = printed.output_bytes,
                     .stderr_bytes = printed.error_bytes});
    job.printed.OnPrinted({Value(pid), LogOrigin::kStdout}, printed.output_bytes);
    job.printed.OnPrinted({Value(pid), LogOrigin::kStderr}, printed.error_bytes);
  }
  const auto synced = [this, job = finished.job, epoch = finished.epoch](const absl::Status& s) {
    Perform(table_.OnOutputDurable(job, epoch, s, Now()));
  };
  ports_.logs.Sync(finished.job, reach, synced);
}

void Cluster::Start(const StartOrder& order) {
  LiveJob* job = FindLive(order.job);
  if (!order.resumes && !job->restored) return Launch(order, nullptr);
  job->starting = order;
  job->cutting = false;
  job->waits_since_ns = 0;
  job->start_refusal.clear();
  Prepare(order.job);
}

void Cluster::Clear(JobId job) {
  LiveJob* left = FindLive(job);
  if (left == nullptr) return;
  AbandonEpoch(job, left->epoch);
  left->starting.reset();
  if (left->running) left->counters.Add(*left->running->stats);
  left->running.reset();
}

void Cluster::OnEnded(JobId job) {
  const absl::StatusOr<proto::Job> shown = Show(job);
  if (shown.ok())
    spdlog::info("event=job_ended job={} state={} exit_status={} reason=\"{}\"", Value(job),
                 StateText(shown->state()), shown->exit_status(), shown->reason());
  ports_.logs.End(job);
  KeepEnded(job);
  const std::map<std::uint64_t, OnJob> waits = std::exchange(FindLive(job)->waits, {});
  const std::vector<LiveJob::Done> done = std::exchange(FindLive(job)->done, {});
  EndCheckpoints(job);
  ForgetLeftNodes();
  for (const auto& [number, answer] : waits) answer(shown);
  for (const LiveJob::Done& each : done) AnswerWhenStored(job, each.answer);
}

void Cluster::SetDeadline() {
  const std::uint64_t due_ns = table_.next_deadline_ns();
  if (due_ns == deadline_ns_) return;
  ports_.timers.CancelTimer(std::exchange(deadline_, kNoCoreTimer));
  deadline_ns_ = due_ns;
  if (due_ns == kNoEnd) return;
  const std::uint64_t now_ns = NowNs();
  const std::uint64_t after_ms = due_ns > now_ns ? (due_ns - now_ns + kNsPerMs - 1) / kNsPerMs : 0;
  deadline_ = ports_.timers.AddTimer(after_ms, [this] {
    deadline_ns_ = kNoEnd;
    barriers_.NotePause();
    Perform(table_.OnTime(Now()));
  });
}

// ---- Jobs ---------------------------------------------------------------------------------------

WaitId Cluster::Wait(JobId job, OnJob answer) {
  const WaitId id{.job = job, .number = ++last_wait_};
  const auto record = FindJob(job);
  if (closed_) {
    answer(ShuttingDown());
  } else if (!record.ok()) {
    answer(record.status());
  } else if (HasEnded(**record) && FindLive(job) == nullptr) {  // And its end is stored.
    answer(Message(**record));
  } else {
    FindLive(job)->waits[id.number] = std::move(answer);
  }
  return id;
}

void Cluster::StopWaiting(WaitId wait) {
  if (LiveJob* live = FindLive(wait.job)) live->OnCallerLeft(wait.number);
}

absl::StatusOr<proto::Job> Cluster::Show(JobId job) const {
  const auto record = FindJob(job);
  if (!record.ok()) return record.status();
  proto::Job shown = Message(**record);
  if (const auto before = table_.JobsBefore(job))
    shown.set_reason(absl::StrCat("waits for its turn, after ", *before, " other jobs"));
  return shown;
}

absl::StatusOr<std::string> Cluster::OwnerOf(JobId job) const {
  const auto record = FindJob(job);
  if (!record.ok()) return record.status();
  return (*record)->job().spec().user();
}

void Cluster::Cancel(JobId job, const std::string& user, const OnJob& answer) {
  const auto record = FindJob(job);
  if (!record.ok()) return answer(record.status());
  Perform(table_.OnCancel(job, "cancelled by " + user, Now()));
  AnswerWhenStored(job, answer);
}

absl::Status Cluster::MayReadLog(const proto::ReadLogRequest& request) const {
  const auto record = FindJob(JobId{request.job()});
  if (!record.ok()) return record.status();
  const std::uint32_t nprocs = (*record)->job().spec().nprocs();
  if (request.one_pid() && request.pid() >= nprocs)
    return absl::InvalidArgumentError(absl::StrCat(
        "job ", request.job(), " has the processes 0 to ", nprocs - 1, ", no ", request.pid()));
  return absl::OkStatus();
}

absl::Status Cluster::MayFetchFiles(JobId job) const {
  const auto record = FindJob(job);
  return record.ok() ? RequireEnd(**record, "its files come") : record.status();
}

absl::StatusOr<std::string> Cluster::MayReadProfile(JobId job) const {
  const auto record = FindJob(job);
  if (!record.ok()) return record.status();
  if (const absl::Status s = RequireEnd(**record, "its profile comes"); !s.ok()) return s;
  return (*record)->job().spec().program().sha256();
}

/// Of a job that runs on a node that is to be left; else empty.
std::string Cluster::WhyItIsStillThere(const coordinator::Job& job) const {
  if (job.shown().state() != proto::RUNNING) return "";
  const auto closed = [this](const NodeShare& share) {
    const Node* const node = nodes_.Find(share.worker);
    return node != nullptr && !node->open();
  };
  if (std::none_of(job.shares.begin(), job.shares.end(), closed)) return "";
  if (job.record.took_input())
    return "stays on a node that is drained: input that it has read cannot be moved";
  if (job.live->WaitsToMove())
    return "leaves a node that is drained, once all of its processes have come to their next "
           "barrier";
  return "stays on a node that is drained, until it can be saved and there is room elsewhere";
}

proto::Job Cluster::Completed(const JobRecord& record, proto::Job job) const {
  if (HasEnded(record)) return job;
  const coordinator::Job& entry = table_.jobs().at(IdOf(record));
  job.set_run_ms(entry.RunMs(NowNs()));
  if (entry.place && job.reason().empty()) job.set_reason("waits for its turn");
  if (job.reason().empty()) job.set_reason(WhoHasNotReturned(entry));
  if (const LiveJob* live = FindLive(IdOf(record))) {
    *job.mutable_checkpoints() = StatusOf(*live, ImageNodes());
    if (live->running) {
      *job.mutable_totals() = live->running->stats->totals();
      NameNodesOfStragglers(job, *job.mutable_totals());
      AddBarrierWaits(*live->running, NowNs(), job);
      AddOpenGroups(*live->running, NowNs(), *job.mutable_checkpoints());
      // Where the coordinator releases, nodes do not know whether an image is due.
      if (proto::CheckpointStatus& saved = *job.mutable_checkpoints();
          saved.in_calls() && !ReleasesItself(record) && !live->HasPendingRequest() &&
          !live->policy.IsDue(NowNs(), live->superstep())) {
        saved.set_in_calls(false);
        saved.set_in_groups_ms(0);
      }
      if (job.reason().empty()) job.set_reason(WhyItStands(entry, *live->running, nodes_));
    }
    job.set_output_bytes(live->printed.bytes());
    if (job.reason().empty()) job.set_reason(WhyItIsStillThere(entry));
    if (!live->files_wait.empty() && job.reason().empty())
      job.set_reason(absl::StrCat("the files that it left wait: ", live->files_wait));
    if (live->starting && !live->start_refusal.empty() && job.reason().empty())
      job.set_reason(absl::StrCat(
          "its start waits until the coordinator's disk takes its journal: ", live->start_refusal));
    AddWaits(entry, nodes_, NowNs(), job);
  }
  for (const JobId awaited : entry.awaits) {
    job.add_awaits(Value(awaited));
    const auto found = unrecalled_.find(awaited);
    if (found != unrecalled_.end() && entry.state() == proto::WAITING)
      job.set_reason(
          absl::StrCat("waits to learn how job ", Value(awaited), " ended: ", found->second.why));
  }
  AddOutputWait(ports_.logs, NowNs(), job);
  return job;
}

}  // namespace bspnow::coordinator
