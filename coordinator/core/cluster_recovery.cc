// How jobs go back to a checkpoint. See "Recovery" in docs/design.md.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/exit_status.h"
#include "base/failpoint.h"
#include "base/units.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/cluster_view.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kLookMs = 500;
constexpr std::uint64_t kRefusedMs = 1'000;  // As the job table tries again.
/// For the nodes that hold its images a job waits as long as it would take to do the work again,
/// but within these limits.
constexpr std::uint64_t kHoldersNsMin = 15'000'000'000;
constexpr std::uint64_t kHoldersNsMax = 600'000'000'000;

/// What a loss counts as in the metrics.
const char* KindOfLoss(const proto::JobLoss& loss) {
  if (loss.reason().starts_with("worker")) return "worker";
  return loss.reason().find("signal") != std::string::npos ? "process" : "other";
}

// Each node gets to know the images of its own processes; those of others do not concern it.
void OrderStart(const std::vector<NodeShare>& hosts, proto::Order order,
                const std::map<Pid, proto::ImageOfPid>& images, Nodes& nodes) {
  proto::StartJob& start = *order.mutable_start();
  for (const NodeShare& share : hosts) {
    if (start.has_resume()) start.mutable_resume()->clear_images();
    for (const Pid pid : share.pids)
      if (const auto image = images.find(pid); image != images.end())
        *start.mutable_resume()->add_images() = image->second;
    nodes.Order(share.worker, order);
  }
}

bool IsOnClosedNode(const std::vector<NodeShare>& hosts, const Nodes& nodes) {
  return std::any_of(hosts.begin(), hosts.end(), [&](const NodeShare& share) {
    const Node* const node = nodes.Find(share.worker);
    return node != nullptr && !node->open();
  });
}

}  // namespace

// ---- From one epoch to the next -----------------------------------------------------------------

// What the old epoch still sends comes too late.
void Cluster::AbandonEpoch(JobId id, Epoch epoch) {
  LiveJob* job = FindLive(id);
  if (job == nullptr || job->epoch == Epoch{0} || job->epoch != epoch) return;
  spdlog::debug("event=epoch_over job={} epoch={}", Value(id), Value(epoch));
  job->epoch = Epoch{0};
  job->policy.OnStopped(NowNs());
  Perform(PerformCheckpoint(id, job->checkpoints.GiveUp("the job stopped running")));
}

void Cluster::OnRecovering(JobId id) {
  const proto::Job& job = table_.Find(id)->job();
  if (!job.losses().empty() && !job.losses().rbegin()->resumed()) {  // Not suspended, nor moved.
    const proto::JobLoss& loss = *job.losses().rbegin();
    // A start that fails belongs to the same loss.
    const std::uint64_t lost_ns = table_.jobs().at(id).lost_ns;
    if (LiveJob* const lost = FindLive(id);
        lost != nullptr && std::exchange(lost->counted_loss_ns, lost_ns) != lost_ns) {
      checkpoint_figures_.recoveries[KindOfLoss(loss)] += 1;
      lost->counters.recoveries += 1;
    }
    spdlog::warn("event=job_lost job={} epoch={} reason=\"{}\"", Value(id), job.epoch(),
                 loss.reason());
  }
  LiveJob* live = FindLive(id);
  if (live != nullptr && live->attachment) live->attachment->OnStopped();
  if (live != nullptr) live->NeedNoCheckpointToSuspend();
  if (live != nullptr) AbandonEpoch(id, live->epoch);
  if (live != nullptr) ServeWithoutCheckpoint(id, *live);
  Failpoint("coordinator.recovery.begin");
}

// False once it is lost, cancelled or suspended, though its nodes do not count as cleared yet.
bool Cluster::IsStarting(JobId id, const LiveJob& job) const {
  const JobRecord* record = table_.Find(id);
  return job.starting && record != nullptr && record->job().state() == proto::RUNNING &&
         EpochOf(*record) == job.starting->epoch;
}

// The job is placed; nobody has been told yet. What has come may be the first after a pause.
void Cluster::Prepare(JobId id) {
  barriers_.NotePause();
  LiveJob* job = FindLive(id);
  if (job == nullptr || !IsStarting(id, *job) || job->cutting) return;
  if (WaitsForLeases(*job) || WaitsForHolders(id, *job)) return;
  Failpoint("coordinator.recovery.placed");
  CutBack(id, *job, job->checkpoints.Best(ImageNodes()));
}

// If the journal is an older copy, a later epoch may run on nodes that it does not name.
bool Cluster::WaitsForLeases(const LiveJob& job) {
  const std::uint64_t past_ns = NowNs() - started_ns_;
  if (!job.restored || past_ns >= kLeaseOverNs) return false;
  PrepareLater((kLeaseOverNs - past_ns + kNsPerMs - 1) / kNsPerMs);
  return true;
}

void Cluster::PrepareLater(std::uint64_t after_ms) {
  ports_.timers.CancelTimer(prepare_timer_);
  prepare_timer_ = ports_.timers.AddTimer(after_ms, [this] {
    prepare_timer_ = kNoCoreTimer;
    std::vector<JobId> waiting;
    for (const auto& [each, state] : LiveJobs())
      if (state->starting) waiting.push_back(each);
    for (const JobId each : waiting) Prepare(each);
  });
}

bool Cluster::WaitsForHolders(JobId id, LiveJob& job) {
  const std::vector<std::string> awaited = job.checkpoints.Awaited(ImageNodes());
  if (awaited.empty()) {
    job.waits_since_ns = 0;
    return false;
  }
  const std::uint64_t now_ns = NowNs();
  const std::string names = absl::StrJoin(awaited, ", ");
  if (job.waits_since_ns == 0) {
    job.waits_since_ns = now_ns;
    Say(id, absl::StrCat("waits for a node that holds its last checkpoint: ", names));
  }
  const std::uint64_t worth_ns = TotalsAt(job.checkpoints.last()).total_ns();
  if (now_ns - job.waits_since_ns > std::clamp(worth_ns, kHoldersNsMin, kHoldersNsMax)) {
    Say(id, absl::StrCat("no node that holds its last checkpoint has come back: ", names));
    return false;
  }
  PrepareLater(kLookMs);
  return true;
}

// First the journal forgets what is newer, then the log does; only then anything runs.
void Cluster::CutBack(JobId id, LiveJob& job, const coordinator::Checkpoint* from) {
  job.cutting = true;
  job.resumes_from = from == nullptr ? 0 : from->number;
  const Epoch epoch = job.starting->epoch;
  const std::uint32_t nprocs = table_.Find(id)->job().spec().nprocs();
  const auto cut = [this, id, epoch, positions = PositionsOf(from, nprocs)] {
    ports_.logs.Cut(id, positions, [this, id, epoch](const absl::StatusOr<LogCut>& done) {
      OnCutBack(id, epoch, done);
    });
  };
  job.history.epoch_totals = TotalsAt(from);
  const auto forgotten = job.checkpoints.GoBackTo(job.resumes_from);
  if (!forgotten) return cut();
  WriteCatalogue(id, *forgotten, {}, [this, id, epoch, cut](const absl::Status& status) {
    status.ok() ? cut() : OnNotForgotten(id, epoch, status);
  });
}

// No fault of the job's, nor of its nodes: it counts as little as a start that is not stored.
void Cluster::OnNotForgotten(JobId id, Epoch epoch, const absl::Status& refusal) {
  spdlog::error("event=journal_failed error=\"{}\"", refusal.ToString());
  LiveJob* job = FindLive(id);
  if (job == nullptr || !IsStarting(id, *job) || job->starting->epoch != epoch) return;
  job->cutting = false;
  job->start_refusal = std::string(refusal.message());
  PrepareLater(kRefusedMs);
}

void Cluster::OnCutBack(JobId id, Epoch epoch, const absl::StatusOr<LogCut>& cut) {
  LiveJob* job = FindLive(id);
  if (job == nullptr || !IsStarting(id, *job) || job->starting->epoch != epoch) return;
  job->cutting = false;
  job->start_refusal.clear();
  if (!cut.ok())
    return Perform(table_.OnBroken(
        id, epoch,
        absl::StrCat("its output could not be cut back: ", std::string(cut.status().message())),
        Now()));
  if (cut->missing_bytes != 0) return GoFurtherBack(id, *job, cut->missing_bytes);
  Failpoint("coordinator.recovery.cut");
  const coordinator::Checkpoint* from = job->checkpoints.Best(ImageNodes());
  if ((from == nullptr ? 0 : from->number) != job->resumes_from) return Prepare(id);
  job->printed.OnCut(cut->kept);
  table_.SetCpuFeatures(id, from == nullptr ? std::vector<std::string>() : from->cpu_features);
  const StartOrder order = *std::exchange(job->starting, std::nullopt);
  Launch(order, from);
  Failpoint("coordinator.recovery.started");
}

// What was printed before that checkpoint is not in the log any more, and nobody would print it
// again. The start needs nothing of the log.
void Cluster::GoFurtherBack(JobId id, LiveJob& job, std::uint64_t missing_bytes) {
  const std::uint64_t number = job.resumes_from;
  spdlog::error("event=output_lost job={} checkpoint={} bytes={}", Value(id), number,
                missing_bytes);
  Say(id,
      absl::StrCat("its log lacks ", missing_bytes, " bytes that were printed before checkpoint ",
                   number, ", so the job goes further back"));
  checkpoint_figures_.damaged += 1;
  job.checkpoints.OnDamaged(number);
  Prepare(id);
}

void Cluster::Launch(const StartOrder& order, const coordinator::Checkpoint* from) {
  LiveJob& job = *FindLive(order.job);
  const JobRecord* record = table_.Find(order.job);
  BSP_CHECK(record != nullptr);
  const proto::JobSpec& spec = record->job().spec();
  // Processes with registered areas begin in `main` again, and find them.
  const bool put_back = from != nullptr && !from->of_areas;
  const Superstep at = from == nullptr ? Superstep{0} : from->superstep;
  const std::uint32_t participants = put_back ? from->participants : 0;
  if (order.resumes)
    table_.SetResumePoint(
        order.job, order.epoch,
        {.from_start = from == nullptr, .superstep = at, .participants = participants});
  EpochPlan plan{.nprocs = spec.nprocs(),
                 .hosts = {},
                 .participants = participants,
                 .first_superstep = Superstep{std::max<std::uint64_t>(Value(at), 1) - 1},
                 .totals = TotalsAt(from),
                 .direct = order.direct,
                 .recorders = RecordersOf(job)};
  for (const NodeShare& share : order.hosts)
    plan.hosts.push_back({.worker = share.worker, .pids = share.pids});
  job.running.emplace(order.epoch, std::move(plan));
  job.epoch = order.epoch;
  job.from_main = !put_back;
  job.policy.OnStarted(NowNs(), at);
  if (!order.resumes) CountQueued(record->job());
  job.CountCopies(StayingNodes());
  proto::Order message;
  proto::StartJob& start = *message.mutable_start();
  start = StartMessage(order, spec, nodes_);
  start.set_key(
      settings_.own_key.For(absl::StrCat("job ", Value(order.job), " epoch ", Value(order.epoch)))
          .bytes());
  std::map<Pid, proto::ImageOfPid> images;
  if (spec.cpu() == proto::CPU_COMMON) {
    const auto allowed = put_back ? from->cpu_features : CommonCpuFeatures(nodes_);
    start.mutable_cpu_features()->Assign(allowed.begin(), allowed.end());
  }
  if (from != nullptr) {
    *start.mutable_resume() = ResumeMessage(job.checkpoints, *from);
    job.checkpoints.OnDirectoryAt(NodesOf(*record));
    images = ImagesOf(*from, nodes_);
  }
  OrderStart(order.hosts, std::move(message), images, nodes_);
  table_.OnLaunched(order.job, order.epoch, from == nullptr ? 0 : from->file_bytes(), Now());
  spdlog::info("event=job_started job={} epoch={} nprocs={} nodes={} checkpoint={}",
               Value(order.job), Value(order.epoch), spec.nprocs(), order.hosts.size(),
               from == nullptr ? 0 : from->number);
  // A node may have been closed since the job was placed there.
  if (!IsOnClosedNode(order.hosts, nodes_)) return;
  JobTable::SpareRoom room = table_.SpareRoomNow();
  Move(order.job, room);
}

// Its workers have never heard of this epoch.
bool Cluster::EndsUnstarted(const EndOrder& order) {
  LiveJob* job = FindLive(order.job);
  if (job == nullptr || !job->starting || job->starting->epoch != order.epoch) return false;
  ports_.timers.Post(
      [this, order] { Perform(table_.OnCleared(order.job, order.epoch, order.worker, Now())); });
  return true;
}

// ---- How it goes --------------------------------------------------------------------------------

JobOrders Cluster::OnHostRuns(const Node& node, const proto::WorkerEvent& event) {
  const JobId id{event.job()};
  const auto open = [this, id] {
    const JobRecord* record = table_.Find(id);
    return record != nullptr && !record->job().losses().empty() &&
           !record->job().losses().rbegin()->resumed();
  };
  const bool was_open = open();
  JobOrders orders = table_.OnResumed(id, Epoch{event.epoch()}, node.worker, Now());
  if (was_open && !open()) {
    FindLive(id)->doubted_checkpoint = 0;
    const std::uint64_t took_ns = table_.Find(id)->job().losses().rbegin()->after_ms() * kNsPerMs;
    checkpoint_figures_.recovery_ns->Record(took_ns, 1);
    FindLive(id)->counters.recovery_ns += took_ns;
  }
  // Not before: a start that fails is tried elsewhere, and nobody has this input twice.
  if (LiveJob& job = *FindLive(id); job.attachment && table_.Runs(id, Epoch{event.epoch()})) {
    job.attachment->OnStarted();
    orders.Append(SendInput(id, job));
  }
  return orders;
}

// The host has tried its own store and all holders that the order named. Images count as damaged
// only if two epochs in turn end so: the fault may be a node's. What has failed so often that the
// job would be given up is not tried again either: an older checkpoint may do.
JobOrders Cluster::OnRestoreFailed(const Node& node, const proto::WorkerEvent& event) {
  const JobId id{event.job()};
  const proto::RestoreFailed& failed = event.restore_failed();
  LiveJob& job = *FindLive(id);
  Job& entry = table_.jobs().at(id);
  // By the record: after a restart of the coordinator other hosts may still be on their way back.
  // The first to say so has ended the epoch: what others say is of the same attempt.
  if (entry.epoch() != Epoch{event.epoch()} || entry.state() != proto::RUNNING) return {};
  const coordinator::Checkpoint* from = job.checkpoints.Best(ImageNodes());
  if (from != nullptr && from->number == failed.checkpoint()) {
    const bool damaged = failed.pids_size() != 0 && HoldersAnswer(*from);
    const bool doubted = job.doubted_checkpoint == from->number;
    if (damaged) job.doubted_checkpoint = from->number;
    if ((damaged && doubted) || entry.failed_starts >= kStartsMax) {
      job.checkpoints.OnDamaged(from->number);
      entry.failed_starts = 0;  // The next one gets its own tries.
      checkpoint_figures_.damaged += 1;
    }
  }
  spdlog::error("event=restore_failed job={} checkpoint={} worker={} reason=\"{}\"", Value(id),
                failed.checkpoint(), node.name, failed.reason());
  return table_.OnNotStarted(
      id, Epoch{event.epoch()},
      {.node = node.name, .reason = failed.reason(), .exit_status = kFailureStatus}, Now());
}

// Else one of them may just have died, and its images be well. (Who refuses sooner than kHeardNs
// after its death has broken its stream, too.)
bool Cluster::HoldersAnswer(const coordinator::Checkpoint& checkpoint) {
  for (const CheckpointPart& part : checkpoint.parts) {
    for (const std::string& holder : part.holders) {
      const Node* node = nodes_.FindUp(holder);
      if (node == nullptr || !node->lease.connected() || node->lease.AgeNs(NowNs()) > kHeardNs)
        return false;
    }
  }
  return true;
}

void Cluster::Say(JobId job, const std::string& text) {
  ports_.logs.Append(job,
                     {.pid = 0, .origin = LogOrigin::kLauncher, .text = absl::StrCat(text, "\n")},
                     [](const absl::Status&) {});
}

}  // namespace bspnow::coordinator
