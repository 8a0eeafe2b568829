// How the cluster takes checkpoints: when, what nodes report, and the commit. What users want of
// them is in cluster_requests.cc, going back to one in cluster_recovery.cc.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include <absl/strings/str_cat.h>
#include "base/failpoint.h"
#include "base/units.h"
#include "coordinator/core/checkpoints/checkpoint_catalogue.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/cluster_view.h"

namespace bspnow::coordinator {
namespace {

/// Images are written, read again and synced, perhaps behind other jobs', and nothing is said
/// meanwhile: hundreds of GB on a file server take most of this. Their node gives up long before
/// those that do not get on, so this is for a worker that hangs itself.
constexpr std::uint64_t kSilenceNsMax = 3'600'000'000'000;

ReleaseDirective DirectiveOf(const JobCheckpoints::Asked& asked, Hold hold) {
  return {.checkpoint = asked.number, .base = asked.base, .hold = static_cast<std::uint32_t>(hold)};
}

/// The writers take turns on the cores of their node.
JobCheckpoints::Stored StoredOf(const proto::CheckpointStored& message, std::uint32_t slots) {
  JobCheckpoints::Stored stored{
      .number = message.checkpoint(),
      .superstep = Superstep{message.superstep()},
      .participants = message.participants(),
      .of_areas = message.of_areas(),
      .images = {},
      .cpu_features = {message.cpu_features().begin(), message.cpu_features().end()},
      .cost = {}};
  std::uint64_t cpu_ns = 0;
  for (const proto::StoredImage& image : message.images()) {
    stored.images.push_back({.pid = Pid{image.pid()},
                             .file_bytes = image.file_bytes(),
                             .output_bytes = image.output_bytes(),
                             .error_bytes = image.error_bytes()});
    stored.cost.pause_ns = std::max(stored.cost.pause_ns, image.pause_ns());
    cpu_ns += image.cpu_ns();
  }
  stored.cost.background_ns = cpu_ns / std::max(slots, 1u);
  return stored;
}

}  // namespace

LiveJob& Cluster::AddJob(JobId id, const proto::JobSpec& spec, std::uint64_t attach_ns) {
  const JobCheckpoints::Plan plan{
      .copies = settings_.checkpoint_copies, .term = term_, .term_key = term_key_};
  auto& owner = table_.jobs().at(id).live;
  owner = std::make_unique<LiveJob>(RuleOf(spec.checkpoints()), settings_.checkpoint_limits, plan);
  LiveJob& job = *owner;
  const Attachment::Patience patience{.attach_ns = attach_ns,
                                      .reconnect_ns = spec.reconnect_ms() * kNsPerMs};
  if (spec.attached()) job.attachment.emplace(patience, NowNs());
  return job;
}

LiveJob* Cluster::FindLive(JobId job) {
  const auto found = table_.jobs().find(job);
  return found == table_.jobs().end() ? nullptr : found->second.live.get();
}

const LiveJob* Cluster::FindLive(JobId job) const {
  return const_cast<Cluster*>(this)->FindLive(job);
}

std::vector<std::pair<JobId, LiveJob*>> Cluster::LiveJobs() {
  std::vector<std::pair<JobId, LiveJob*>> live;
  for (auto& [id, job] : table_.jobs())
    if (job.live) live.emplace_back(id, job.live.get());
  return live;
}

// ---- When one is taken --------------------------------------------------------------------------

// Within a barrier: one look-up, unless there is something to do.
ReleaseDirective Cluster::OnSuperstepOver(JobId id, Epoch epoch, Superstep next) {
  LiveJob* job = FindLive(id);
  if (job == nullptr || job->epoch != epoch) return {};
  if (!job->HasPendingRequest() && !job->policy.IsDue(NowNs(), next)) return {};
  return TakeCheckpoint(id, *job, next);
}

void Cluster::OnProgressed(JobId id, Epoch epoch, Superstep next) {
  LiveJob* job = FindLive(id);
  if (job == nullptr || job->epoch != epoch || Value(next) == 0) return;
  if (job->HasPendingRequest() || job->policy.IsDue(NowNs(), next)) OrderCheckpoint(id, next);
}

// It releases itself: only its workers can tell the processes.
void Cluster::OrderCheckpoint(JobId id, Superstep next) {
  // Before bsp_begin nobody knows on which of several nodes there will be something to save.
  if (table_.Find(id)->direct() && FindLive(id)->participants() == 0) return;
  const ReleaseDirective directive = TakeCheckpoint(id, *FindLive(id), next);
  if (directive.checkpoint == 0) return;
  const JobRecord& record = *table_.Find(id);
  proto::Order message;
  proto::TakeCheckpoint& take = *message.mutable_take_checkpoint();
  take.set_job(Value(id));
  take.set_epoch(record.job().epoch());
  take.set_checkpoint(directive.checkpoint);
  take.set_base(directive.base);
  take.set_hold(directive.hold != 0);
  for (const proto::JobHost& host : record.hosts()) nodes_.Order(WorkerOf(host), message);
}

ReleaseDirective Cluster::TakeCheckpoint(JobId id, LiveJob& job, Superstep next) {
  const JobRecord* record = table_.Find(id);
  if (record == nullptr || record->job().state() != proto::RUNNING) return {};
  if (job.checkpoints.under_way()) {
    GiveUpIfSilent(id, job);
    return {};
  }
  const std::uint32_t participants = job.participants();
  std::vector<std::string> hosts;
  for (const proto::Placement& placement : record->job().placement())
    if (participants == 0 || placement.pids(0) < participants) hosts.push_back(placement.node());
  Hold hold = Hold::kNo;
  for (const CheckpointRequest& request : job.requests)
    if (request.kind != CheckpointRequest::Kind::kCheckpoint) hold = Hold::kYes;
  JobCheckpoints::SoFar so_far{.totals = {}, .left = {}};
  for (const auto& [pid, printed] : PrintedBy(table_.jobs().at(id).ends.printed(), job))
    so_far.left.push_back(printed);
  if (job.running) {
    so_far.totals = job.running->stats->totals();
    job.running->totals_wanted = true;
  }
  const auto asked = job.checkpoints.Ask(std::move(hosts), hold, std::move(so_far));
  job.policy.OnTaken(NowNs(), next);
  if (!asked) {
    spdlog::debug("event=no_checkpoint job={}", Value(id));  // Numbers are to be stored first.
    if (const auto numbers = job.checkpoints.NumbersToStore()) StoreNumbers(id, *numbers);
    for (CheckpointRequest& request : std::exchange(job.requests, {}))
      if (request.answer)
        request.answer(absl::AbortedError("too many in a row have failed; try again"));
    return {};
  }
  job.overdue_since_ns = 0;
  for (CheckpointRequest& request : job.requests) request.number = asked->number;
  spdlog::debug("event=checkpoint_asked job={} checkpoint={} base={} superstep={}", Value(id),
                asked->number, asked->base, Value(next));
  return DirectiveOf(*asked, hold);
}

// Within a barrier: what it uses must not change. A job that releases itself takes it at the end of
// its superstep, however long that is: so the time since it was asked for says nothing.
void Cluster::GiveUpIfSilent(JobId id, LiveJob& job) {
  if (job.overdue_since_ns == 0) job.overdue_since_ns = NowNs();
  if (NowNs() - job.overdue_since_ns < kSilenceNsMax) return;
  job.overdue_since_ns = 0;
  ports_.timers.Post([this, id, number = job.checkpoints.under_way_number()] {
    LiveJob* found = FindLive(id);
    if (found == nullptr || found->checkpoints.under_way_number() != number) return;
    Perform(PerformCheckpoint(id, found->checkpoints.GiveUp("nothing was heard of it for long")));
  });
}

// Processes that are held come to no barrier, where another checkpoint would be due. Copies need no
// such look: the node that makes one gives up by itself.
void Cluster::GiveUpSilent() {
  for (const auto& [id, job] : LiveJobs()) {
    const JobRecord& record = *table_.Find(id);
    if (record.job().state() != proto::RUNNING) continue;
    const JobCheckpoints& checkpoints = job->checkpoints;
    if (!checkpoints.Holds()) continue;
    if (ReleasesItself(record) ? checkpoints.AwaitsMoreImages() : checkpoints.AwaitsImages())
      GiveUpIfSilent(id, *job);
  }
}

// ---- What nodes report --------------------------------------------------------------------------

bool Cluster::IsCheckpointEvent(const proto::WorkerEvent& event) {
  return event.has_started() || event.has_resumed() || event.has_restore_failed() ||
         event.has_checkpoint_stored() || event.has_checkpoint_failed() ||
         event.has_checkpoint_copied();
}

JobOrders Cluster::OnCheckpointEvent(const Node& node, const proto::WorkerEvent& event) {
  const JobId id{event.job()};
  LiveJob* job = FindLive(id);
  if (job == nullptr) {
    ForgetImages(node, event);
    return {};
  }
  job->overdue_since_ns = 0;
  if (event.has_started()) table_.SetOsPids(id, Epoch{event.epoch()}, node.name, event.started());
  if (event.has_restore_failed()) return OnRestoreFailed(node, event);
  if (event.has_started() && !job->from_main) return {};  // JobResumed follows.
  if (event.has_started() || event.has_resumed()) return OnHostRuns(node, event);
  if (event.has_checkpoint_stored()) return OnImagesStored(node, event);
  if (event.has_checkpoint_failed())
    return PerformCheckpoint(
        id, job->checkpoints.OnFailed(node.name, event.checkpoint_failed().checkpoint(),
                                      event.checkpoint_failed().reason()));
  const proto::CheckpointCopied& copied = event.checkpoint_copied();
  return PerformCheckpoint(
      id, job->checkpoints.OnCopied(node.name, copied.checkpoint(), copied.to_node(),
                                    copied.failure(), StayingNodes()));
}

// They became durable when the job had ended, and all nodes had been told to keep nothing.
void Cluster::ForgetImages(const Node& node, const proto::WorkerEvent& event) {
  const JobId job{event.job()};
  if (table_.IsUnknown(job)) return;
  if (event.has_checkpoint_stored()) SendKeeps(job, {{.node = node.name, .checkpoints = {}}});
  if (event.has_checkpoint_copied()) {
    const std::string& to_node = event.checkpoint_copied().to_node();
    SendKeeps(job, {{.node = to_node.empty() ? node.name : to_node, .checkpoints = {}}});
  }
}

JobOrders Cluster::OnImagesStored(const Node& node, const proto::WorkerEvent& event) {
  const JobId id{event.job()};
  LiveJob& job = *FindLive(id);
  const std::uint64_t number = event.checkpoint_stored().checkpoint();
  if (absl::Status failed = FailpointStatus("coordinator.checkpoint.stored"); !failed.ok())
    return PerformCheckpoint(
        id, job.checkpoints.OnFailed(node.name, number, std::string(failed.message())));
  return PerformCheckpoint(
      id, job.checkpoints.OnStored(node.name, StoredOf(event.checkpoint_stored(), node.slots),
                                   StayingNodes()));
}

// ---- What the job's checkpoints want done -------------------------------------------------------

JobOrders Cluster::PerformCheckpoint(JobId id, CheckpointOrders orders) {
  for (const CheckpointOrders::Copy& copy : orders.copies) {
    Node* host = nodes_.FindUp(copy.host);
    const Node* partner = nodes_.FindUp(copy.to_node);
    if (host == nullptr || partner == nullptr) continue;  // The loss of one of them follows.
    proto::Order message;
    proto::CopyCheckpoint& order = *message.mutable_copy_checkpoint();
    order.set_job(Value(id));
    order.set_checkpoint(copy.checkpoint);
    for (const std::uint64_t number : copy.chain) order.add_chain(number);
    order.set_to_node(copy.to_node);
    order.set_to_address(partner->registration.images_address());
    host->Order(std::move(message));
  }
  SendKeeps(id, orders.keeps);
  const JobRecord* record = table_.Find(id);
  if (record != nullptr) SendReleases(id, EpochOf(*record), orders.release_held);
  if (orders.commit) Commit(id, *std::move(orders.commit));
  if (orders.numbers) StoreNumbers(id, *orders.numbers);
  return orders.end ? OnCheckpointEnd(id, *orders.end) : JobOrders{};
}

void Cluster::SendKeeps(JobId job, const std::vector<CheckpointOrders::Keep>& keeps) {
  for (const CheckpointOrders::Keep& keep : keeps) {
    Node* node = nodes_.FindUp(keep.node);
    if (node == nullptr) continue;  // It gets the list when it comes back.
    proto::Order message;
    message.mutable_keep_checkpoints()->set_job(Value(job));
    for (const std::uint64_t number : keep.checkpoints)
      message.mutable_keep_checkpoints()->add_checkpoints(number);
    node->Order(std::move(message));
  }
}

void Cluster::SendReleases(JobId job, Epoch epoch,
                           const std::vector<CheckpointOrders::ReleaseHeld>& release_held) {
  for (const CheckpointOrders::ReleaseHeld& each : release_held) {
    Node* node = nodes_.FindUp(each.node);
    if (node == nullptr) continue;
    proto::Order message;
    message.mutable_release_held()->set_job(Value(job));
    message.mutable_release_held()->set_epoch(Value(epoch));
    message.mutable_release_held()->set_checkpoint(each.checkpoint);
    node->Order(std::move(message));
  }
}

// It counts when the journal has it, and not before. The output that precedes it is in the log's
// file by now, and must stay there: after a loss nobody prints it again.
void Cluster::Commit(JobId id, CheckpointCatalogue catalogue) {
  catalogue.checkpoints.back().committed_unix_ms = Now().unix_ms;
  const auto positions =
      PositionsOf(&catalogue.checkpoints.back(), table_.Find(id)->job().spec().nprocs());
  ports_.logs.Sync(id, positions,
                   [this, id, epoch = FindLive(id)->epoch, catalogue](const absl::Status& synced) {
                     OnOutputSynced(id, epoch, catalogue, synced);
                   });
}

void Cluster::OnOutputSynced(JobId id, Epoch epoch, const CheckpointCatalogue& catalogue,
                             const absl::Status& synced) {
  const LiveJob* job = FindLive(id);
  if (job == nullptr) return;
  const std::uint64_t number = catalogue.checkpoints.back().number;
  if (!synced.ok()) {
    FailCommit(id, number, "the job's output is not safe", synced);
    // What a crash took out of the log comes again only if the job goes back to before it.
    if (absl::IsFailedPrecondition(synced))
      Perform(table_.OnBroken(id, epoch, std::string(synced.message()), Now()));
    return;
  }
  // The journal has a commit before the next epoch, or never: that one may start without it.
  if (job->epoch != epoch)
    return FailCommit(id, number, "the job stopped running", absl::OkStatus());
  WriteCommit(id, catalogue);
}

void Cluster::WriteCommit(JobId id, const CheckpointCatalogue& catalogue) {
  const std::uint64_t number = catalogue.checkpoints.back().number;
  const std::int64_t unix_ms = catalogue.checkpoints.back().committed_unix_ms;
  const auto written = [this, id, number, unix_ms](const absl::Status& status) {
    if (!status.ok()) return FailCommit(id, number, "the journal does not take it", status);
    LiveJob* job = FindLive(id);
    if (job == nullptr) return;
    Failpoint("coordinator.checkpoint.committed");
    Perform(PerformCheckpoint(id, job->checkpoints.OnCommitted(number, unix_ms)));
  };
  if (absl::Status failed = FailpointStatus("coordinator.checkpoint.before_commit"); !failed.ok())
    return ports_.timers.Post([written, failed] { written(failed); });
  WriteCatalogue(id, catalogue, catalogue.checkpoints.back().cost, written);
}

void Cluster::WriteCatalogue(JobId id, CheckpointCatalogue catalogue, const CheckpointCost& cost,
                             Journal::Done done) {
  LiveJob& job = *FindLive(id);
  job.history.spent_ns = job.policy.spent_ns() + cost.total_ns();
  job.history.run_ns = job.policy.run_ns(NowNs());
  catalogue.history = job.history;
  ports_.journal.WriteCheckpoints(id, EncodeCatalogue(catalogue), std::move(done));
}

void Cluster::FailCommit(JobId id, std::uint64_t number, const std::string& what,
                         const absl::Status& cause) {
  const std::string why = cause.ok() ? what : absl::StrCat(what, ": ", cause.message());
  if (LiveJob* job = FindLive(id))
    Perform(PerformCheckpoint(id, job->checkpoints.OnCommitFailed(number, why)));
}

void Cluster::StoreNumbers(JobId id, const CheckpointCatalogue& catalogue) {
  WriteCatalogue(id, catalogue, {}, [this, id](const absl::Status& status) {
    if (!status.ok()) spdlog::error("event=journal_failed error=\"{}\"", status.ToString());
    if (LiveJob* job = FindLive(id))
      status.ok() ? job->checkpoints.OnNumbersStored() : job->checkpoints.OnNumbersRefused();
  });
}

JobOrders Cluster::OnCheckpointEnd(JobId id, const CheckpointOrders::End& end) {
  LiveJob& job = *FindLive(id);
  const bool committed = end.failure.empty();
  const bool given_up = !committed && !table_.Ends(id);  // Else nobody needs it any more.
  if (committed || given_up) checkpoint_figures_.ended[committed ? "committed" : "given_up"] += 1;
  using Ended = CheckpointPolicy::Ended;
  job.policy.OnEnd(NowNs(), end.cost, committed ? Ended::kCommitted : Ended::kGivenUp);
  JobOrders orders;
  if (committed) {
    const coordinator::Checkpoint& last = *job.checkpoints.last();
    checkpoint_figures_.bytes += last.file_bytes();
    checkpoint_figures_.pause_ns->Record(end.cost.pause_ns, 1);
    spdlog::info(
        "event=checkpoint_committed job={} checkpoint={} superstep={} bytes={} pause_us={}",
        Value(id), end.number, Value(last.superstep), last.file_bytes(), end.cost.pause_ns / 1000);
    table_.SetCpuFeatures(id, last.cpu_features);
    job.CountCopies(StayingNodes());
    job.counters.checkpoints_committed += 1;
    orders = table_.OnCheckpointCommitted(id, Now());
  } else if (given_up) {
    job.history.given_up += 1;
    job.counters.checkpoints_given_up += 1;
    job.history.last_failure = end.failure;
    spdlog::info("event=checkpoint_given_up job={} checkpoint={} reason=\"{}\"", Value(id),
                 end.number, end.failure);
    // Who named a policy counts on it. Once: it may be the same each time.
    const proto::CheckpointPolicy& wanted = table_.Find(id)->job().spec().checkpoints();
    const bool named = wanted.every_supersteps() != 0 || wanted.every_ms() != 0;
    if (named && job.history.given_up == 1)
      Say(id, absl::StrCat("the job could not be saved, and goes on: ", end.failure));
  }
  orders.Append(ServeRequests(id, job, end));
  return orders;
}

// ---- The end of a job, and to look at -----------------------------------------------------------

void Cluster::EndCheckpoints(JobId id) {
  const std::unique_ptr<LiveJob> job = std::move(table_.jobs().at(id).live);
  if (job == nullptr) return;
  const std::vector<CheckpointOrders::Keep> nothing = job->checkpoints.Drop();
  const bool journaled = job->checkpoints.count() != 0;
  const std::vector<CheckpointRequest> requests = job->TakeRequests();
  SendKeeps(id, nothing);
  if (!nothing.empty() || journaled)  // If it fails, the next start does it.
    ports_.journal.WriteCheckpoints(id, "", [](const absl::Status&) {});
  for (const CheckpointRequest& request : requests)
    if (request.answer)
      request.answer(absl::AbortedError(absl::StrCat("job ", Value(id), " has ended")));
}

}  // namespace bspnow::coordinator
