// Epochs that are lost, suspended or moved: cleared away, and followed by another one.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <utility>

#include "base/exit_status.h"
#include "base/units.h"
#include "coordinator/core/jobs/job_table_event.h"

namespace bspnow::coordinator {
namespace {

constexpr std::size_t kReasonBytesMax = 1000;
constexpr std::uint64_t kFirstDelayNs = 100'000'000;  // Of a start that failed, doubled each time,
constexpr std::uint64_t kLastDelayNs = 10'000'000'000;  // up to this.
constexpr std::uint64_t kAvoidNs = 60'000'000'000;

std::uint64_t DelayNs(std::uint32_t failed_starts) {
  return std::min(kFirstDelayNs << std::min(failed_starts - 1, 10u), kLastDelayNs);
}

/// The program, or its interpreter or loader, is missing or cannot be executed.
bool IsOfProgram(const FailedStart& failed) {
  return failed.exit_status == kNotFoundStatus || failed.exit_status == kNotExecutableStatus;
}

/// See Accounts::Take: nowhere is the account of this name anything but root's.
bool RunsNothingFor(const Node& node, const std::string& user) {
  return user == "root" && node.registration.node().accounts() == "same";
}

/// Why it ends after this loss; empty if it may start again.
std::string WhyNotAgain(const JobRecord& record, const std::string& loss) {
  const std::int32_t restarts_max = RestartsMaxOf(record.job().spec());
  if (restarts_max <= 0) return loss;
  if (record.took_input()) {
    return absl::StrCat(loss,
                        "; it cannot be started again, because pid 0 was sent standard input");
  }
  if (record.restarts_in_row() < static_cast<std::uint32_t>(restarts_max)) return "";
  return absl::StrCat("gave up after ", restarts_max, restarts_max == 1 ? " restart" : " restarts",
                      " without a checkpoint in between; last loss: ", loss);
}

/// What has begun in `main` is not to begin again; those that were put back wait in bsp_sync.
bool RunsOnce(const Job& entry) {
  const bool once = RestartsMaxOf(entry.spec()) <= 0 || entry.record.took_input();
  return once && entry.resume_point.participants == 0;
}

proto::JobLoss& AddLoss(Job& entry, const std::string& reason, const Moment& at) {
  entry.lost_ns = at.now_ns;
  entry.lost_before_ms = 0;
  entry.record.clear_loss_over();
  auto& losses = *entry.shown().mutable_losses();
  if (losses.size() == kLossesMax) losses.DeleteSubrange(0, 1);
  proto::JobLoss& loss = *losses.Add();
  loss.set_unix_ms(at.unix_ms);
  loss.set_reason(reason);
  return loss;
}

}  // namespace

// ---- Losses -------------------------------------------------------------------------------------

void JobTable::Event::Recover(Job& entry, const std::string& reason, Superstep superstep) {
  proto::Job& job = entry.shown();
  if (!entry.MayHaveRun() && RestartsMaxOf(entry.spec()) > 0 && !entry.record.took_input())
    return StartFailed(entry, {.node = "", .reason = reason, .exit_status = kFailureStatus});
  AddLoss(entry, reason, at_).set_superstep(Value(superstep));
  const std::string end = WhyNotAgain(entry.record, reason);
  Say(entry, end.empty() ? reason : end);
  if (!end.empty()) {
    if (job.reason().empty()) job.set_reason(end);
    return Finish(entry);
  }
  job.set_restarts(job.restarts() + 1);
  entry.record.set_restarts_in_row(entry.record.restarts_in_row() + 1);
  job.set_reason(reason);
  entry.loss_open = true;
  StartOver(entry);
}

/// The epoch is cleared away; then it waits for slots again.
void JobTable::Event::StartOver(Job& entry) {
  StopClock(entry);
  entry.shown().clear_files_lost();  // It makes them anew.
  entry.attached_before = entry.attached_before || !entry.ends.never_attached();
  entry.ends = ProcessEnds(entry.claim.nprocs);
  entry.shown().set_state(proto::RECOVERING);
  orders_.recovering.push_back(entry.id());
  Store(entry, Due::kNothing);
  Clear(entry);
  if (entry.hosts_left.empty()) AllLeft(entry);
}

void JobTable::Event::LoseHost(Job& entry, WorkerId worker, const std::string& why,
                               Superstep superstep) {
  if (!entry.started) return Unplace(entry);
  if (entry.state() == proto::RUNNING) {
    std::erase(entry.hosts_left, worker);
    std::erase(entry.awaited, worker);
    Perform(entry, entry.ends.OnLost(why, superstep));
    if (entry.started && entry.hosts_left.empty()) AllLeft(entry);
  } else {
    LoseFiles(entry, worker, why);
    HostLeft(entry, worker);
  }
}

/// They were to come from the node of the first process.
void JobTable::Event::LoseFiles(Job& entry, WorkerId worker, const std::string& why) {
  if (!KeepsFiles(entry) || WorkerOf(entry.record.hosts(0)) != worker) return;
  const std::string lost = absl::StrCat("files that it left, if any, are lost: ", why);
  Say(entry, lost);
  AddFilesLost(why, entry.shown());
  if (entry.shown().reason().empty()) entry.shown().set_reason(lost);
}

// Who looks so late was away himself, stopped or busy with his disk: workers that came meanwhile
// have not been heard.
void JobTable::Event::AwaitedAreDue(Job& entry) {
  if (at_.now_ns - entry.return_ns < kAwayNs) return LoseAwaited(entry);
  entry.return_ns = at_.now_ns + kReturnNs;
}

/// Workers that have not returned by now do not count any more.
void JobTable::Event::LoseAwaited(Job& entry) {
  entry.return_ns = kNoEnd;
  const std::vector<WorkerId> gone = std::exchange(entry.awaited, {});
  std::vector<std::string> names;
  for (int i = 0; i < entry.record.hosts_size(); ++i) {
    const WorkerId worker = WorkerOf(entry.record.hosts(i));
    if (std::find(gone.begin(), gone.end(), worker) == gone.end()) continue;
    names.push_back(entry.shown().placement(i).node());
    std::erase(entry.hosts_left, worker);
  }
  const std::string why =
      absl::StrCat(names.size() == 1 ? "worker " : "workers ", absl::StrJoin(names, ", "),
                   " did not return after a restart of the coordinator");
  for (const WorkerId worker : gone) LoseFiles(entry, worker, why);
  if (entry.state() == proto::RUNNING) Perform(entry, entry.ends.OnLost(why, Superstep{0}));
  if (entry.started && entry.hosts_left.empty()) AllLeft(entry);
}

/// A process that cannot be killed, a disk that hangs. Nobody may run in its place before the lease
/// of such a node is over.
void JobTable::Event::ClearTookTooLong(Job& entry) {
  entry.clear_by_ns = at_.now_ns + kClearNs;
  for (const WorkerId worker : entry.hosts_left) {
    const Node* node = table_.nodes_->Find(worker);
    if (node == nullptr) continue;
    const std::string reason =
        absl::StrCat("it has not ended the processes of job ", Value(entry.id()), " in time");
    Say(entry, absl::StrCat("node ", node->name, " is given up: ", reason));
    orders_.deaf.push_back({worker, reason});
  }
}

// By the pause, but what was set after it by no more than it was for.
void JobTable::Event::PutOff(Job& entry, std::uint64_t ns) {
  const auto put_off = [&](std::uint64_t& by_ns, std::uint64_t most_ns) {
    if (by_ns != kNoEnd) by_ns = std::max(by_ns, std::min(by_ns + ns, at_.now_ns + most_ns));
  };
  put_off(entry.return_ns, kReturnNs);
  put_off(entry.start_by_ns, entry.start_within_ns);
  put_off(entry.clear_by_ns, ClearNs(entry));
}

void JobTable::OnPaused(std::uint64_t ns, const Moment& at) {
  Event event(*this, at);
  for (const JobId id : running_) event.PutOff(event.At(id), ns);
  event.Take();  // It orders nothing; but what is due has changed.
}

// ---- The next epoch -----------------------------------------------------------------------------

void JobTable::Event::Resumed(Job& entry, WorkerId host) {
  entry.epoch_ran = true;
  if (std::erase(entry.not_resumed, host) == 0 || !entry.not_resumed.empty()) return;
  entry.start_by_ns = kNoEnd;
  BlameNodes(entry);
  StartClock(entry);
  if (!std::exchange(entry.loss_open, false)) return;
  proto::JobLoss& loss = *entry.shown().mutable_losses()->rbegin();
  const ResumePoint& point = entry.resume_point;
  loss.set_resumed(true);
  loss.set_from_start(point.from_start);
  loss.set_from_superstep(Value(point.superstep));
  loss.set_after_ms(entry.lost_before_ms + (at_.now_ns - entry.lost_ns) / kNsPerMs);
  const std::string from =
      point.from_start ? "the start" : absl::StrCat("superstep ", Value(point.superstep));
  Say(entry, absl::StrFormat("resumed from %s in %.1f s", from,
                             static_cast<double>(loss.after_ms()) / 1000));
  Store(entry, Due::kNothing);
}

// ---- Starts that fail ---------------------------------------------------------------------------

// On nodes that have not been tried; whether they are free now does not matter.
bool JobTable::Event::CouldStartElsewhere(const Job& entry) const {
  std::vector<const SchedulerNode*> open;
  for (const auto& [worker, node] : table_.nodes_->up())
    if (node->usable() && node->open() && !RunsNothingFor(*node, entry.spec().user()))
      open.push_back(node);
  const std::vector<FreeNode> whole = SlotTimeline(open, 0).FreeDuring(0, 1);
  SlotClaim claim = entry.claim;
  for (const auto& [node, refused] : entry.refused_by) claim.avoids.insert(node);
  return Place(claim, SlotsNeeded(claim, whole), whole).has_value();
}

bool JobTable::Event::MayTryAgain(const Job& entry, const FailedStart& failed) const {
  if (entry.interrupted) return false;
  // On other hosts processes may have begun.
  if (entry.MayHaveRun() && RunsOnce(entry)) return false;
  if (IsOfProgram(failed))
    return entry.refused_by.size() < kNodesTriedMax && CouldStartElsewhere(entry);
  return entry.failed_starts <= kStartsMax;
}

/// To a loss that is not overcome, or to one that begins here: it was suspended or moved.
void JobTable::Event::AddReason(Job& entry, const std::string& reason) {
  proto::Job& job = entry.shown();
  job.set_reason(reason);
  if (!entry.loss_open && entry.resume_point.from_start) return;  // Nothing is lost.
  if (!std::exchange(entry.loss_open, true)) {
    AddLoss(entry, reason, at_);
  } else if (std::string& text = *job.mutable_losses()->rbegin()->mutable_reason();
             text.size() < kReasonBytesMax && !absl::StrContains(text, reason)) {
    absl::StrAppend(&text, "; ", reason);
  }
}

void JobTable::Event::StartFailed(Job& entry, const FailedStart& failed) {
  const std::string& node = failed.node;
  entry.failed_starts += 1;
  if (!node.empty())
    entry.refused_by[node] = {.reason = failed.reason, .avoid_until_ns = at_.now_ns + kAvoidNs};
  if (!MayTryAgain(entry, failed)) {
    const std::string tries =
        entry.failed_starts > kStartsMax
            ? absl::StrCat("gave up after ", kStartsMax, " tries to start it; the last: ")
            : std::string();
    return Perform(entry,
                   entry.ends.OnBroken(failed.exit_status, absl::StrCat(tries, failed.reason)));
  }
  const std::string reason =
      node.empty() ? failed.reason
                   : absl::StrCat("node ", node, " could not start it: ", failed.reason);
  Say(entry, reason);
  AddReason(entry, reason);
  entry.retry_ns = at_.now_ns + DelayNs(entry.failed_starts);
  entry.only_unbegun = RunsOnce(entry);
  StartOver(entry);
}

/// Something hangs on one of its nodes: a disk, a file server, a peer.
void JobTable::Event::StartTookTooLong(Job& entry) {
  entry.start_by_ns = kNoEnd;
  if (entry.state() != proto::RUNNING || !entry.started || entry.not_resumed.empty()) return;
  const std::string reason = "its processes did not run in the time that a start may take";
  std::vector<std::string> nodes;
  for (int i = 0; i < entry.record.hosts_size(); ++i) {
    const WorkerId worker = WorkerOf(entry.record.hosts(i));
    const auto& late = entry.not_resumed;
    if (std::find(late.begin(), late.end(), worker) == late.end()) continue;
    nodes.push_back(entry.shown().placement(i).node());
    entry.refused_by[nodes.back()] = {.reason = reason, .avoid_until_ns = at_.now_ns + kAvoidNs};
  }
  const std::string all = absl::StrCat(nodes.size() == 1 ? "node " : "nodes ",
                                       absl::StrJoin(nodes, ", "), " could not start it: ", reason);
  StartFailed(entry, {.node = "", .reason = all, .exit_status = kFailureStatus});
}

/// It runs: so what refused it before was the fault of the nodes that did.
void JobTable::Event::BlameNodes(Job& entry) {
  for (const auto& [name, refused] : std::exchange(entry.refused_by, {})) {
    const auto& placement = entry.shown().placement();
    const bool runs_there =
        std::any_of(placement.begin(), placement.end(),
                    [&name = name](const proto::Placement& each) { return each.node() == name; });
    if (!runs_there) table_.nodes_->Named(name).OnFault(refused.reason, at_.now_ns);
  }
  for (const proto::Placement& each : entry.shown().placement())
    table_.nodes_->Named(each.node()).OnSound();
  table_.NoteRests();
  entry.failed_starts = 0;
}

JobOrders JobTable::OnResumed(JobId job, Epoch epoch, WorkerId host, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.FindRunning(job, epoch);
  if (entry == nullptr) return {};
  event.Resumed(*entry, host);
  return event.Take();
}

void JobTable::OnLaunched(JobId job, Epoch epoch, std::uint64_t image_bytes, const Moment& at) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.epoch() != epoch) return;
  found->second.start_within_ns = kStartNs + image_bytes * kStartNsPerByte;
  found->second.start_by_ns = at.now_ns + found->second.start_within_ns;
  NoteDue(found->second);
}

void JobTable::SetResumePoint(JobId job, Epoch epoch, const ResumePoint& point) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.epoch() != epoch) return;
  found->second.resume_point = point;
  if (point.participants != 0) found->second.ends.OnResumed(point.participants);
}

JobOrders JobTable::OnCheckpointCommitted(JobId job, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.Find(job);
  if (entry == nullptr || HasEnded(entry->record)) return {};
  if (entry->record.restarts_in_row() == 0) return {};
  entry->record.clear_restarts_in_row();
  event.Store(*entry, Due::kNothing);
  return event.Take();
}

void JobTable::SetCpuFeatures(JobId job, std::vector<std::string> features) {
  const auto found = jobs_.find(job);
  if (found != jobs_.end()) found->second.claim.cpu_features = std::move(features);
}

JobOrders JobTable::OnInput(JobId job, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.Find(job);
  if (entry == nullptr || HasEnded(entry->record) || entry->record.took_input()) return {};
  entry->record.set_took_input(true);
  event.Store(*entry, Due::kInput);
  return event.Take();
}

// ---- Suspended ----------------------------------------------------------------------------------

void JobTable::Event::Suspend(Job& entry) {
  entry.attached_before = entry.attached_before || !entry.ends.never_attached();
  entry.ends = ProcessEnds(entry.claim.nprocs);
  StopClock(entry);
  if (std::exchange(entry.loss_open, false)) entry.record.set_loss_over(true);
  orders_.recovering.push_back(entry.id());
  entry.shown().set_state(proto::SUSPENDED);
  entry.shown().set_reason("suspended");
  if (!entry.started) {
    if (!entry.ran) entry.shown().clear_started_unix_ms();  // It was placed, at most.
    Dequeue(entry);
    Vacate(entry);
    return Store(entry, Due::kSuspend);
  }
  Store(entry, Due::kStays);
  if (!entry.clearing) Clear(entry);
}

JobOrders JobTable::OnSuspended(JobId job, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.Find(job);
  if (entry == nullptr || entry->interrupted) return {};
  const proto::JobState state = entry->state();
  if (HasEnded(state) || state == proto::ENDING || state == proto::SUSPENDED) return {};
  event.Suspend(*entry);
  return event.Take();
}

JobOrders JobTable::OnResume(JobId job, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.Find(job);
  if (entry == nullptr || entry->state() != proto::SUSPENDED) return {};
  entry->shown().clear_reason();
  entry->shown().set_state(entry->started ? proto::RECOVERING : proto::WAITING);
  if (entry->waits()) event.Enqueue(*entry);  // Else when it has left its nodes, or is accepted.
  event.Store(*entry, Due::kStays);
  return event.Take();
}

bool JobTable::Ends(JobId job) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return true;
  const proto::JobState state = found->second.state();
  return found->second.ends.ends() || state == proto::ENDING || HasEnded(state);
}

}  // namespace bspnow::coordinator
