// Who waits, and where a job is placed: passes of the scheduler.
#include <absl/strings/strip.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "coordinator/core/jobs/job_table_event.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kTimeLimitMaxS = std::uint64_t{1} << 32;

std::uint64_t LimitNs(const proto::JobSpec& spec) {
  return std::min<std::uint64_t>(spec.time_limit_s(), kTimeLimitMaxS) * kSecondNs;
}

}  // namespace

/// Of its time limit; 0: it has none.
std::uint64_t JobTable::Event::LeftNs(const Job& entry) const {
  const std::uint64_t limit_ns = LimitNs(entry.spec());
  if (limit_ns == 0) return 0;
  const std::uint64_t run_ns = entry.RunMs(at_.now_ns) * kNsPerMs;
  return limit_ns > run_ns ? limit_ns - run_ns : 1;
}

/// It may be placed; not before retry_ns, nor before others have ended.
void JobTable::Event::Enqueue(Job& entry) {
  Dequeue(entry);
  if (entry.retry_ns != 0) return;
  if (!entry.awaits.empty()) return entry.shown().set_reason(AfterText(entry.awaits));
  entry.place = {.priority = entry.spec().priority(),
                 .turn = entry.state() == proto::RECOVERING ? Turn::kFirst : Turn::kByAge,
                 .job = entry.id()};
  table_.queue_.insert(*entry.place);
  if (!table_.stopped_at_ || *entry.place < *table_.stopped_at_) table_.pass_due_ = true;
}

void JobTable::Event::Dequeue(Job& entry) {
  if (!entry.place) return;
  table_.queue_.erase(*entry.place);
  table_.never_.erase(*entry.place);
  Unhold(entry);
  entry.place.reset();
}

void JobTable::Event::OnNodesChanged() {
  table_.nodes_changed_ = true;
  table_.pass_due_ = true;
  table_.NoteRests();
}

WaitingClaim JobTable::Event::ClaimOf(const Job& entry) const {
  SlotClaim claim = entry.claim;
  for (const auto& [node, refused] : entry.refused_by)
    if (refused.avoid_until_ns > at_.now_ns) claim.avoids.insert(node);
  return {.place = *entry.place, .claim = std::move(claim), .time_limit_ns = LeftNs(entry)};
}

Situation JobTable::Event::SituationNow() {
  Situation situation{.now_ns = at_.now_ns, .nodes = {}, .running = {}};
  for (const auto& [worker, node] : table_.nodes_->up())
    if (node->usable()) situation.nodes.push_back(node);
  for (const JobId id : table_.running_) {
    const Job& entry = table_.jobs_.at(id);
    const std::uint64_t left_ns = LeftNs(entry);
    std::uint64_t end_ns = left_ns == 0 ? kNoEnd : at_.now_ns + left_ns;
    if (entry.state() != proto::RUNNING) end_ns = at_.now_ns;
    situation.running.push_back({.job = id,
                                 .shares = &entry.shares,
                                 .memory_bytes = entry.claim.memory_bytes,
                                 .end_ns = end_ns});
  }
  return situation;
}

// Its place in the queue, what it asks for and its deadline follow its spec.
void JobTable::Event::Altered(Job& entry) {
  if (entry.shown().started_unix_ms() == 0) entry.claim = SlotClaimOf(entry.spec());
  if (entry.place) Enqueue(entry);
  table_.pass_due_ = true;
  if (entry.runs_since_ns == kNoEnd || entry.interrupted) return;
  const std::uint64_t left_ns = LeftNs(entry);
  entry.deadline_ns = left_ns == 0 ? kNoEnd : at_.now_ns + left_ns;
}

// Not of each event: with 10,000 jobs in the queue there are many, and one pass serves them all.
void JobTable::Event::Schedule() {
  table_.pass_due_ = false;
  std::set<QueuePlace>& queue = table_.queue_;
  if (std::exchange(table_.nodes_changed_, false)) queue.merge(table_.never_);
  for (const JobId id : std::exchange(table_.considered_, {}))
    if (Job* entry = Find(id); entry != nullptr && entry->place) entry->shown().clear_reason();
  table_.stopped_at_.reset();
  Taken taken = TakenNow();
  ReleaseHeld(taken);
  if (queue.empty()) return;
  Scheduler scheduler(SituationNow());
  auto next = queue.begin();
  while (next != queue.end() && !scheduler.full()) {
    const QueuePlace place = *next++;
    Job& entry = At(place.job);
    if (Hold(entry, taken)) continue;
    Verdict verdict = scheduler.Consider(ClaimOf(entry));
    if (verdict.kind == Verdict::Kind::kStarts) {
      PlaceAt(entry, verdict.shares);
      CountTaken(entry, taken);
      continue;
    }
    if (verdict.kind == Verdict::Kind::kNever) {
      table_.never_.insert(queue.extract(place));
    } else {
      table_.considered_.push_back(entry.id());
    }
    SetWaits(entry, std::move(verdict.reason));
  }
  if (next != queue.end()) table_.stopped_at_ = *next;
  table_.pass_due_ = scheduler.tired();
}

void JobTable::Event::SetWaits(Job& entry, std::string reason) {
  // One that has run is not submitted anew.
  if (entry.shown().epoch() > 0) reason = std::string(absl::StripSuffix(reason, kOrOversubscribe));
  entry.shown().set_reason(std::move(reason));
}

void JobTable::Event::PlaceAt(Job& entry, const std::vector<NodeShare>& shares) {
  proto::Job& job = entry.shown();
  job.set_state(proto::RUNNING);
  job.clear_reason();
  job.set_epoch(std::max(job.epoch(), Value(entry.epoch_seen)) + 1);
  job.clear_placement();
  entry.record.clear_hosts();
  entry.hosts_left.clear();
  for (const NodeShare& share : shares) {
    proto::Placement& placement = *job.add_placement();
    placement.set_node(table_.nodes_->Find(share.worker)->name);
    for (const Pid pid : share.pids) placement.add_pids(Value(pid));
    proto::JobHost& host = *entry.record.add_hosts();
    host.set_worker(Value(share.worker));
    host.set_slots(share.slots);
    entry.hosts_left.push_back(share.worker);
  }
  entry.record.set_direct(shares.size() > 1 && shares.size() <= kDirectHostsMax &&
                          job.spec().checkpoints().every_supersteps() == 0);
  entry.record.set_run_ms_before(entry.run_before_ms);
  entry.shares = shares;
  entry.not_resumed = entry.hosts_left;
  entry.epoch_ran = entry.only_unbegun = false;
  entry.may_have_begun.clear();
  entry.idle_node.clear();
  entry.begun_on.clear();
  entry.start_by_ns = kNoEnd;
  entry.resume_point = {};
  if (!entry.ran) job.set_started_unix_ms(at_.unix_ms);
  Dequeue(entry);
  table_.running_.push_back(entry.id());
  Store(entry, Due::kStart);
}

// All its processes run. A time limit is of running time, by a clock that nobody sets.
void JobTable::Event::StartClock(Job& entry) {
  if (entry.runs_since_ns != kNoEnd || entry.interrupted) return;
  if (const std::uint64_t left_ns = LeftNs(entry); left_ns != 0)
    entry.deadline_ns = at_.now_ns + left_ns;
  entry.runs_since_ns = at_.now_ns;
}

void JobTable::Event::StopClock(Job& entry) {
  entry.run_before_ms = entry.RunMs(at_.now_ns);
  entry.runs_since_ns = kNoEnd;
  entry.deadline_ns = kNoEnd;
}

void JobTable::Event::StartNow(Job& entry) {
  orders_.starts.push_back({.job = entry.id(),
                            .epoch = entry.epoch(),
                            .hosts = entry.shares,
                            .resumes = entry.ran,
                            .direct = entry.record.direct()});
  entry.started = true;
  entry.ran = true;
}

// Nothing of this epoch has begun: it waits again, in its old place.
void JobTable::Event::Unplace(Job& entry) {
  Vacate(entry);
  entry.shown().set_state(entry.ran ? proto::RECOVERING : proto::WAITING);
  if (!entry.ran) entry.shown().clear_started_unix_ms();
  Enqueue(entry);
  Store(entry, Due::kNothing);
}

/// It holds no slots any more.
void JobTable::Event::Vacate(Job& entry) {
  std::erase(table_.running_, entry.id());
  table_.pass_due_ = true;
  entry.start_by_ns = kNoEnd;
  entry.record.clear_hosts();
  entry.shown().clear_placement();
  entry.shares.clear();
  entry.hosts_left.clear();
  entry.not_resumed.clear();
}

}  // namespace bspnow::coordinator
