#include "coordinator/core/jobs/job_table.h"

#include <absl/strings/str_cat.h>
#include <signal.h>
#include <string.h>

#include <algorithm>

#include "base/check.h"
#include "base/exit_status.h"
#include "coordinator/core/jobs/job_spec.h"
#include "coordinator/core/jobs/job_table_event.h"

namespace bspnow::coordinator {
namespace {

bool EndsJob(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT ||
         signal == SIGPIPE;
}

}  // namespace

// ---- From submission to start -------------------------------------------------------------------

JobTable::Submission JobTable::OnSubmit(const proto::JobSpec& spec,
                                        const std::string& submission_key, const Moment& at) {
  if (const auto known = Known(submission_key)) return *known;
  Event event(*this, at);
  Job& entry = event.Add(spec, submission_key);
  event.Store(entry, Due::kAccept);
  event.AwaitOthers(entry);
  return {.job = entry.id(), .known = false, .accepted = false, .orders = event.Take()};
}

JobTable::Submission JobTable::OnSubmitArray(const proto::JobSpec& spec,
                                             const proto::ArraySpec& array,
                                             const std::string& submission_key, const Moment& at) {
  if (const auto known = Known(submission_key)) return *known;
  Event event(*this, at);
  const JobId first = event.AddArray(spec, array, submission_key);
  return {.job = first, .known = false, .accepted = false, .orders = event.Take()};
}

std::optional<JobTable::Submission> JobTable::Known(const std::string& submission_key) const {
  const JobRecord* known = FindByKey(submission_key);
  if (known == nullptr) return std::nullopt;
  const JobId id = IdOf(*known);
  return Submission{.job = id, .known = true, .accepted = jobs_.at(id).durable, .orders = {}};
}

JobOrders JobTable::OnStored(std::uint64_t sequence, const Moment& at) {
  Event event(*this, at);
  while (!pending_.empty() && pending_.front().sequence <= sequence) {
    const Pending pending = pending_.front();
    pending_.pop_front();
    event.OnDurable(pending);
  }
  return event.Take();
}

JobOrders JobTable::OnStoreFailed(std::uint64_t sequence, const std::string& why,
                                  const Moment& at) {
  Event event(*this, at);
  BSP_CHECK(!pending_.empty());
  BSP_CHECK_OP(pending_.front().sequence, ==, sequence);
  const Pending pending = pending_.front();
  pending_.pop_front();
  event.OnNotDurable(pending, why);
  return event.Take();
}

JobOrders JobTable::OnCancel(JobId job, const std::string& why, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.Find(job);
  if (entry == nullptr) return {};
  event.Cancel(*entry, SIGTERM, why);
  return event.Take();
}

JobOrders JobTable::OnClientLeft(JobId job, const Moment& at) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || !found->second.spec().attached()) return {};
  if (found->second.syncing) {  // It has ended: how does not depend on who waits for that.
    found->second.client_left = true;
    return {};
  }
  return OnCancel(job, kClientLeft, at);
}

JobOrders JobTable::OnSignal(JobId job, int signal, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.Find(job);
  if (entry == nullptr) return {};
  const bool runs = entry->state() == proto::RUNNING;
  if (!EndsJob(signal)) {
    if (entry->started && runs) event.Signal(*entry, signal);
    return event.Take();
  }
  const std::string why =
      absl::StrCat("ended by signal ", signal, " (", strsignal(signal), ") of its client");
  if (runs) {
    entry->record.set_cancelled(true);
    if (entry->shown().reason().empty()) entry->shown().set_reason(why);
    event.Interrupt(*entry, signal);
  } else {
    event.Cancel(*entry, signal, why);
  }
  return event.Take();
}

// ---- Nodes --------------------------------------------------------------------------------------

JobOrders JobTable::OnNodeUp(WorkerId worker, const Moment& at) {
  const Node& node = *nodes_->Find(worker);
  Event event(*this, at);
  const std::vector<JobId> running = running_;
  for (const JobId id : running) {  // One of its name that was awaited will not return.
    Job& entry = event.At(id);
    const auto& placement = entry.shown().placement();
    const auto of_name =
        std::find_if(placement.begin(), placement.end(),
                     [&node](const proto::Placement& each) { return each.node() == node.name; });
    if (of_name == placement.end()) continue;
    const WorkerId earlier =
        WorkerOf(entry.record.hosts(static_cast<int>(of_name - placement.begin())));
    if (std::find(entry.awaited.begin(), entry.awaited.end(), earlier) == entry.awaited.end())
      continue;
    event.LoseHost(entry, earlier, absl::StrCat("worker ", node.name, " was started anew"),
                   Superstep{0});
  }
  event.OnNodesChanged();
  return event.Take();
}

JobOrders JobTable::OnNodesChanged(const Moment& at) {
  Event event(*this, at);
  event.OnNodesChanged();
  return event.Take();
}

JobOrders JobTable::OnNodeLost(WorkerId worker, const std::string& what, const std::string& why,
                               const std::map<JobId, Superstep>& superstep_of, const Moment& at) {
  Event event(*this, at);
  const std::vector<JobId> running = running_;
  for (const JobId id : running) {
    Job& entry = event.At(id);
    const auto& hosts = entry.hosts_left;
    if (std::find(hosts.begin(), hosts.end(), worker) == hosts.end()) continue;
    const auto superstep = superstep_of.find(id);
    const bool known = superstep != superstep_of.end();
    const std::string where =
        known ? absl::StrCat(" at superstep ", Value(superstep->second)) : std::string();
    event.LoseHost(entry, worker, absl::StrCat(what, where, ": ", why),
                   known ? superstep->second : Superstep{0});
  }
  event.OnNodesChanged();
  return event.Take();
}

absl::Status JobTable::OnAlter(const proto::AlterJobRequest& request, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.Find(JobId{request.job()});
  if (entry == nullptr) return absl::NotFoundError(absl::StrCat("there is no job ", request.job()));
  if (absl::Status s = AlterJobSpec(request, entry->shown()); !s.ok()) return s;
  event.Altered(*entry);
  event.Take();  // It orders nothing; but what is due has changed.
  return absl::OkStatus();
}

// ---- What workers report ------------------------------------------------------------------------

JobOrders JobTable::OnBegun(JobId job, Epoch epoch, Pid pid, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.FindRunning(job, epoch);
  if (entry == nullptr || Value(pid) >= entry->claim.nprocs) return {};
  entry->epoch_ran = true;
  event.Perform(*entry, entry->ends.OnBegun(pid));
  return event.Take();
}

// What is no process of this node is left out.
void JobTable::SetOsPids(JobId job, Epoch epoch, const std::string& node,
                         const proto::JobStarted& started) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.epoch() != epoch) return;
  for (proto::Placement& place : *found->second.shown().mutable_placement()) {
    if (place.node() != node) continue;
    place.mutable_os_pids()->Resize(place.pids_size(), 0);
    for (int i = 0; i < std::min(started.pids_size(), started.os_pids_size()); ++i) {
      const auto at = std::find(place.pids().begin(), place.pids().end(), started.pids(i));
      if (at == place.pids().end()) continue;
      place.set_os_pids(static_cast<int>(at - place.pids().begin()), started.os_pids(i));
    }
  }
}

JobOrders JobTable::OnExited(JobId job, Epoch epoch, Pid pid, const ProcessEnd& end,
                             const Moment& at) {
  Event event(*this, at);
  Job* entry = event.FindRunning(job, epoch);
  if (entry == nullptr || Value(pid) >= entry->claim.nprocs) return {};
  event.Exited(*entry, pid, end);
  return event.Take();
}

JobOrders JobTable::OnNotStarted(JobId job, Epoch epoch, const FailedStart& failed,
                                 const Moment& at) {
  Event event(*this, at);
  Job* entry = event.FindRunning(job, epoch);
  if (entry == nullptr || entry->state() != proto::RUNNING) return {};
  event.StartFailed(*entry, failed);
  return event.Take();
}

JobOrders JobTable::OnFailed(JobId job, Epoch epoch, const std::string& reason, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.FindRunning(job, epoch);
  if (entry == nullptr) return {};
  event.Perform(*entry, entry->ends.OnBroken(kFailureStatus, reason));
  return event.Take();
}

JobOrders JobTable::OnOutputDurable(JobId job, Epoch epoch, const absl::Status& synced,
                                    const Moment& at) {
  Event event(*this, at);
  Job* entry = event.FindRunning(job, epoch);
  if (entry == nullptr || !entry->syncing) return {};
  event.OutputDurable(*entry, synced);
  return event.Take();
}

JobOrders JobTable::OnBroken(JobId job, Epoch epoch, const std::string& reason, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.FindRunning(job, epoch);
  // When it is ending its processes have done what they were to do, or are being killed.
  if (entry == nullptr || entry->state() != proto::RUNNING) return {};
  event.Perform(*entry, entry->ends.OnLost(reason, Superstep{0}));
  return event.Take();
}

void JobTable::SetFigures(JobId job, const proto::Job& shown) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  proto::Job& kept = found->second.shown();
  found->second.record.set_totals_epoch(kept.epoch());
  *kept.mutable_totals() = shown.totals();
  *kept.mutable_checkpoints() = shown.checkpoints();
  kept.set_output_bytes(shown.output_bytes());
}

JobOrders JobTable::OnCleared(JobId job, Epoch epoch, WorkerId worker, const Moment& at) {
  Event event(*this, at);
  Job* entry = event.Find(job);
  if (entry == nullptr || !entry->started || entry->epoch() != epoch) return {};
  if (entry->state() == proto::RUNNING) return {};  // Nobody asked it to.
  event.HostLeft(*entry, worker);
  // It is not told again, and others may take long.
  if (!entry->hosts_left.empty() && !entry->shown().files_lost().empty())
    event.Store(*entry, Due::kNothing);
  return event.Take();
}

// ---- Time ---------------------------------------------------------------------------------------

void JobTable::NoteDue(Job& job) {
  const std::uint64_t due_ns = job.DueNs();
  if (due_ns == job.due_ns) return;
  due_.erase({job.due_ns, job.id()});
  job.due_ns = due_ns;
  if (due_ns != kNoEnd) due_.emplace(due_ns, job.id());
}

void JobTable::NoteRests() {
  rest_over_ns_ = kNoEnd;
  for (const auto& [worker, node] : nodes_->up())
    if (node->rests_until_ns != 0) rest_over_ns_ = std::min(rest_over_ns_, node->rests_until_ns);
}

JobOrders JobTable::OnTime(const Moment& at) {
  Event event(*this, at);
  if (write_again_ns_ <= at.now_ns) event.WriteAgain();
  if (rest_over_ns_ <= at.now_ns) {
    for (const auto& [worker, node] : nodes_->up())
      if (node->rests_until_ns <= at.now_ns) node->rests_until_ns = 0;
    NoteRests();
    pass_due_ = true;
  }
  std::vector<JobId> ids;
  for (auto due = due_.begin(); due != due_.end() && due->first <= at.now_ns; ++due)
    ids.push_back(due->second);
  for (const JobId id : ids) {
    Job& entry = event.At(id);
    if (entry.return_ns <= at.now_ns) event.AwaitedAreDue(entry);
    if (entry.start_by_ns <= at.now_ns) event.StartTookTooLong(entry);
    if (entry.clear_by_ns <= at.now_ns) event.ClearTookTooLong(entry);
    for (auto& [node, refused] : entry.refused_by)
      if (refused.avoid_until_ns <= at.now_ns) refused.avoid_until_ns = 0;
    if (entry.retry_ns <= at.now_ns) entry.retry_ns = 0;
    if (entry.waits()) event.Enqueue(entry);
    if (entry.deadline_ns <= at.now_ns) event.OnDeadline(entry);
  }
  return event.Take();
}

JobOrders JobTable::Schedule(const Moment& at) {
  Event event(*this, at);
  event.Schedule();
  return event.Take();
}

std::vector<JobId> JobTable::StoredBy(std::uint64_t ns) const {
  std::vector<JobId> stored;
  for (const JobId id : running_) {
    const Job& entry = jobs_.at(id);
    const bool changes = entry.runs_since_ns != kNoEnd || entry.clearing;
    if (changes && entry.stored_ns <= ns) stored.push_back(id);
  }
  return stored;
}

JobOrders JobTable::StoreProgress(const std::vector<JobId>& jobs, const Moment& at) {
  Event event(*this, at);
  for (const JobId id : jobs) event.Store(event.At(id), Due::kNothing);
  return event.Take();
}

// ---- To look at ---------------------------------------------------------------------------------

bool JobTable::Runs(JobId job, Epoch epoch) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return false;
  const Job& entry = found->second;
  return entry.started && entry.epoch() == epoch && entry.state() == proto::RUNNING &&
         entry.not_resumed.empty();
}

const JobRecord* JobTable::Find(JobId job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second.record;
}

const JobRecord* JobTable::FindByKey(const std::string& submission_key) const {
  const auto found = by_key_.find(submission_key);
  return found == by_key_.end() ? nullptr : Find(found->second);
}

std::vector<const JobRecord*> JobTable::records() const {
  std::vector<const JobRecord*> records;
  for (const auto& [id, entry] : jobs_) records.push_back(&entry.record);
  return records;
}

std::map<proto::JobState, std::size_t> JobTable::CountByState() const {
  std::map<proto::JobState, std::size_t> counts;
  for (const auto& [id, entry] : jobs_) counts[entry.state()] += 1;
  return counts;
}

std::vector<JobId> JobTable::JobsOn(WorkerId worker) const {
  std::vector<JobId> jobs;
  for (const JobId id : running_) {
    const std::vector<WorkerId>& left = jobs_.at(id).hosts_left;
    if (std::find(left.begin(), left.end(), worker) != left.end()) jobs.push_back(id);
  }
  return jobs;
}

std::optional<std::size_t> JobTable::JobsBefore(JobId job) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || !found->second.place || !found->second.shown().reason().empty())
    return std::nullopt;
  const auto place = queue_.find(*found->second.place);
  return static_cast<std::size_t>(std::distance(queue_.begin(), place));
}

std::vector<JobTable::NodeView> JobTable::nodes() const {
  std::vector<NodeView> views;
  std::unordered_map<WorkerId, std::size_t> index_of;
  for (const auto& [worker, node] : nodes_->up()) {
    index_of[worker] = views.size();
    views.push_back({.node = node, .slots_used = 0, .jobs = {}});
  }
  for (const JobId id : running_) {
    const Job& entry = jobs_.at(id);
    const std::set<WorkerId> left(entry.hosts_left.begin(), entry.hosts_left.end());
    for (const proto::JobHost& host : entry.record.hosts()) {
      const auto index = index_of.find(WorkerOf(host));
      if (index == index_of.end() || !left.contains(WorkerOf(host))) continue;
      views[index->second].slots_used += host.slots();
      views[index->second].jobs.push_back(id);
    }
  }
  return views;
}

}  // namespace bspnow::coordinator
