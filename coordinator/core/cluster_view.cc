#include "coordinator/core/cluster_view.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include "base/units.h"
#include "coordinator/core/jobs/job_spec.h"

namespace bspnow::coordinator {

// ---- Checkpoints --------------------------------------------------------------------------------

CheckpointRule RuleOf(const proto::CheckpointPolicy& policy) {
  using Kind = CheckpointRule::Kind;
  if (policy.off()) return {.kind = Kind::kOff, .every = 0};
  if (policy.every_supersteps() != 0)
    return {.kind = Kind::kEverySupersteps, .every = policy.every_supersteps()};
  if (policy.every_ms() != 0)
    return {.kind = Kind::kEveryTime, .every = policy.every_ms() * kNsPerMs};
  return {.kind = Kind::kAutomatic, .every = 0};
}

proto::CheckpointStatus StatusOf(const LiveJob& job, const LiveNodes& live) {
  proto::CheckpointStatus status;
  status.set_cost_ns(job.policy.spent_ns());
  status.set_interval_ns(job.policy.interval_ns());
  status.set_count(job.checkpoints.count());
  status.set_given_up(job.history.given_up);
  status.set_last_failure(job.history.last_failure);
  status.set_under_way(job.checkpoints.under_way());
  const Checkpoint* last = job.checkpoints.last();
  if (last == nullptr) return status;
  status.set_committed(last->number);
  status.set_superstep(Value(last->superstep));
  status.set_committed_unix_ms(last->committed_unix_ms);
  status.set_written_bytes(last->file_bytes());
  status.set_pause_ns(last->cost.pause_ns);
  status.set_of_areas(last->of_areas);
  const std::vector<std::uint64_t> chain = job.checkpoints.ChainOf(last->number);
  std::uint64_t bytes = 0;
  for (const Checkpoint& each : job.checkpoints.committed())
    if (std::find(chain.begin(), chain.end(), each.number) != chain.end())
      bytes += each.file_bytes();
  status.set_image_bytes(bytes);
  std::set<std::string> holders;
  for (const CheckpointPart& part : last->parts)
    for (const std::string& holder : part.holders)
      if (live.contains(holder) || !part.share.empty()) holders.insert(holder);
  for (const std::string& holder : holders) status.add_holders(holder);
  status.set_copies(static_cast<std::uint32_t>(job.checkpoints.CopiesOfLast(live)));
  return status;
}

std::map<Pid, Printed> PrintedBy(const std::vector<Printed>& of_epoch, const LiveJob& job) {
  std::map<Pid, Printed> printed_by;
  const Checkpoint* const last = job.checkpoints.last();
  if (last != nullptr && !last->of_areas)  // Else all began in `main` again.
    for (const Printed& printed : last->left) printed_by[printed.pid] = printed;
  for (const Printed& printed : of_epoch) printed_by[printed.pid] = printed;
  return printed_by;
}

std::vector<LogPosition> PositionsOf(const Checkpoint* from, std::uint32_t nprocs) {
  std::vector<LogPosition> positions;
  if (from == nullptr) return positions;
  std::map<std::uint32_t, LogPosition> left;
  for (std::uint32_t pid = from->participants; pid < nprocs && !from->of_areas; ++pid)
    left[pid] = {.pid = pid, .stdout_bytes = 0, .stderr_bytes = 0, .left = true};
  for (const Printed& printed : from->left)
    if (const auto found = left.find(Value(printed.pid)); found != left.end()) {
      found->second.stdout_bytes = printed.output_bytes;
      found->second.stderr_bytes = printed.error_bytes;
    }
  for (const auto& [pid, position] : left) positions.push_back(position);
  for (const CheckpointPart& part : from->parts)
    for (const SavedImage& image : part.images)
      positions.push_back({.pid = Value(image.pid),
                           .stdout_bytes = image.output_bytes,
                           .stderr_bytes = image.error_bytes});
  return positions;
}

proto::JobTotals TotalsAt(const Checkpoint* from) {
  if (from == nullptr) return {};
  proto::JobTotals totals = from->totals;
  totals.set_supersteps(Value(from->superstep));
  return totals;
}

proto::Resume ResumeMessage(const JobCheckpoints& checkpoints, const Checkpoint& from) {
  proto::Resume resume;
  resume.set_checkpoint(from.number);
  resume.set_superstep(Value(from.superstep));
  resume.set_participants(from.participants);
  resume.set_of_areas(from.of_areas);
  for (const std::uint64_t number : checkpoints.ChainOf(from.number)) resume.add_chain(number);
  return resume;
}

std::map<Pid, proto::ImageOfPid> ImagesOf(const Checkpoint& from, const Nodes& nodes) {
  std::map<std::string, std::vector<std::string>> of_share;
  for (const auto& [worker, node] : nodes.up())
    if (const std::string& share = node->registration.images_share(); !share.empty())
      of_share[share].push_back(node->registration.images_address());
  std::map<Pid, proto::ImageOfPid> images;
  for (const CheckpointPart& part : from.parts) {
    std::set<std::string> addresses;
    for (const std::string& holder : part.holders)
      if (const Node* node = nodes.FindUp(holder))
        addresses.insert(node->registration.images_address());
    if (!part.share.empty())
      addresses.insert(of_share[part.share].begin(), of_share[part.share].end());
    for (const SavedImage& image : part.images) {
      proto::ImageOfPid& message = images[image.pid];
      message.set_pid(Value(image.pid));
      message.set_files_pid(Value(part.images.front().pid));
      message.set_output_bytes(image.output_bytes);
      message.set_error_bytes(image.error_bytes);
      for (const std::string& address : addresses) message.add_holders(address);
    }
  }
  return images;
}

// ---- Jobs and nodes -----------------------------------------------------------------------------

void Shorten(proto::Job& job) {
  Abridge(*job.mutable_spec());
  job.mutable_spec()->clear_files();
  for (proto::Placement& place : *job.mutable_placement()) place.clear_os_pids();
}

JobPage::JobPage(proto::ListJobsRequest request)
    : request_(std::move(request)),
      size_(request_.page_size() == 0 ? kJobsOfPageMax
                                      : std::min(request_.page_size(), kJobsOfPageMax)) {}

bool JobPage::Wants(const proto::Job& job) const {
  const bool ended = HasEnded(job.state());
  const auto& states = request_.states();
  return (request_.all() || !ended) &&
         (request_.user().empty() || job.spec().user() == request_.user()) &&
         (states.empty() || std::find(states.begin(), states.end(), job.state()) != states.end()) &&
         (!ended || job.ended_unix_ms() >= request_.since_unix_ms());
}

std::size_t JobPage::looked_at() const {
  const bool wants_all =
      request_.user().empty() && request_.states().empty() && request_.since_unix_ms() == 0;
  return wants_all ? size_ : kJobsOfPageMax;
}

void JobPage::EndAt(JobId job) {
  end_ = Value(job);
  while (!jobs_.empty() && jobs_.rbegin()->first < end_) jobs_.erase(std::prev(jobs_.end()));
}

void JobPage::Add(proto::Job job) {
  Shorten(job);
  const std::uint64_t id = job.job();
  jobs_[id] = std::move(job);
  if (jobs_.size() > size_) jobs_.erase(std::prev(jobs_.end()));
}

proto::ListJobsReply JobPage::Reply() const {
  proto::ListJobsReply reply;
  for (const auto& [id, job] : jobs_) *reply.add_jobs() = job;
  reply.set_next(full() ? jobs_.rbegin()->first : end_);
  for (const std::uint64_t job : damaged_)
    if (job >= reply.next() && !jobs_.contains(job)) reply.add_damaged(job);
  return reply;
}

void NameNodesOfStragglers(const proto::Job& job, proto::JobTotals& totals) {
  for (proto::Straggler& straggler : *totals.mutable_stragglers())
    for (const proto::Placement& place : job.placement())
      if (std::find(place.pids().begin(), place.pids().end(), straggler.pid()) !=
          place.pids().end())
        straggler.set_node(place.node());
}

void AddBarrierWaits(const RunningEpoch& running, std::uint64_t now_ns, proto::Job& job) {
  for (const auto& [node, wait] : running.waits) {
    proto::BarrierWait& shown = *job.add_barrier_waits();
    shown = wait.said;
    shown.set_node(node);
    shown.set_for_ms((now_ns - wait.since_ns) / kNsPerMs);
  }
}

namespace {

void AddWait(const std::string& until, std::uint64_t since_ns, std::uint64_t now_ns,
             proto::Job& job) {
  constexpr std::uint64_t kPatienceNs = 5 * kNsPerS;
  // Another thread may have begun to wait after the clock was read.
  if (now_ns < since_ns + kPatienceNs) return;
  job.set_reason(absl::StrCat(job.reason(), job.reason().empty() ? "" : "; ", "waits until ", until,
                              ", for ", (now_ns - since_ns) / kNsPerS, " s"));
}

}  // namespace

void AddWaits(const Job& entry, const Nodes& nodes, std::uint64_t now_ns, proto::Job& job) {
  constexpr std::size_t kNamesMax = 3;
  if (const auto& storing = entry.live->storing_since_ns; !storing.empty())
    AddWait("the coordinator's disk takes its journal", storing.begin()->second, now_ns, job);
  if (!entry.clearing) return;
  std::vector<std::string> names;
  for (const WorkerId worker : entry.hosts_left)
    if (const Node* const node = nodes.Find(worker); node != nullptr && names.size() < kNamesMax)
      names.push_back(node->name);
  if (names.empty()) return;
  AddWait(absl::StrCat(absl::StrJoin(names, ", "), names.size() == 1 ? " has" : " have",
                       " sent what is left of it and cleared it away"),
          entry.clearing_since_ns, now_ns, job);
}

void AddOutputWait(const OutputLogs& logs, std::uint64_t now_ns, proto::Job& job) {
  const JobId id{job.job()};
  const std::string full = logs.waits_for(id);
  if (!full.empty() && job.reason().empty()) {
    job.set_reason(absl::StrCat("its output waits until the coordinator's disk takes it: ", full));
  } else if (const std::uint64_t since_ns = logs.waits_since_ns(id); since_ns != 0) {
    AddWait("the coordinator's disk takes its output", since_ns, now_ns, job);
  }
}

void KeepUnusualWaits(proto::Job& job) {
  const auto& waits = job.barrier_waits();
  if (std::any_of(waits.begin(), waits.end(), [](const auto& wait) { return wait.arrived() != 0; }))
    return;
  for (proto::BarrierWait& wait : *job.mutable_barrier_waits()) {
    auto& late = *wait.mutable_late();
    const auto goes_on = [](const proto::LateProcess& process) {
      return process.lateness() < proto::LATE_STOPPED;
    };
    late.erase(std::remove_if(late.begin(), late.end(), goes_on), late.end());
  }
}

void AddOpenGroups(const RunningEpoch& running, std::uint64_t now_ns,
                   proto::CheckpointStatus& status) {
  for (const auto& [node, groups] : running.groups) {
    const std::uint64_t for_ms = (now_ns - groups.since_ns) / kNsPerMs;
    status.set_in_groups(status.in_groups() + groups.processes);
    status.set_in_groups_ms(std::max(status.in_groups_ms(), for_ms));
    status.set_in_calls(status.in_calls() || groups.in_calls);
  }
  // Nodes where no group is open know nothing of the others.
  if (status.in_groups() != 0) status.set_in_calls(false);
}

std::string WhyItStands(const Job& job, const RunningEpoch& running, const Nodes& nodes) {
  const auto& waits = running.waits;
  if (std::none_of(waits.begin(), waits.end(),
                   [](const auto& wait) { return wait.second.said.arrived() != 0; }))
    return "";  // All compute: nobody waits at the barrier.
  for (const NodeShare& from : job.shares) {
    const Node* const node = nodes.Find(from.worker);
    if (node == nullptr) continue;
    for (const NodeShare& to : job.shares) {
      const auto found = node->unreachable.find(to.worker);
      const Node* const peer = nodes.Find(to.worker);
      if (found != node->unreachable.end() && peer != nullptr)
        return absl::StrCat("stands: node ", node->name, " cannot reach ", peer->name, ": ",
                            found->second);
    }
  }
  return "";
}

std::string UnreachableText(const Node& node, const Nodes& nodes) {
  constexpr std::size_t kNamesMax = 3;
  std::vector<std::string> texts;
  std::size_t more = 0;
  for (const auto& [worker, reason] : node.unreachable) {
    const Node* peer = nodes.Find(worker);
    if (peer == nullptr) continue;
    if (texts.size() < kNamesMax) {
      texts.push_back(absl::StrCat("cannot reach ", peer->name, ": ", reason));
    } else {
      more += 1;
    }
  }
  if (more != 0) texts.push_back(absl::StrCat("nor ", more, " more"));
  return absl::StrJoin(texts, "; ");
}

proto::Node NodeMessage(const JobTable::NodeView& view, const Nodes& nodes, std::uint64_t now_ns) {
  const Node& node = *view.node;
  proto::Node message;
  *message.mutable_spec() = node.registration.node();
  const bool rests = node.rests_until_ns > now_ns;
  message.set_state(!node.open()     ? proto::NODE_DRAINED
                    : !node.usable() ? proto::NODE_CONNECTING
                    : rests          ? proto::NODE_RESTING
                                     : proto::NODE_UP);
  if (!node.usable())
    message.set_reason(node.sink ? "its frame stream is not connected"
                                 : "its control stream is not connected");
  const bool shows_fault = node.usable() && rests && !node.leaving;
  if (shows_fault) {
    const auto rest_s = (node.rests_until_ns - now_ns + kNsPerS - 1) / kNsPerS;
    message.set_reason(absl::StrCat("for ", rest_s, " s: ", node.fault));
    message.set_reason_for_users(absl::StrCat("for ", rest_s, " s"));
  }
  if (node.leaving) message.set_reason("its worker was told to end, once its jobs have moved");
  if (const std::string whom = UnreachableText(node, nodes); !whom.empty()) {
    message.set_reason(message.reason().empty() ? whom
                                                : absl::StrCat(message.reason(), "; ", whom));
    if (shows_fault)
      message.set_reason_for_users(absl::StrCat(message.reason_for_users(), "; ", whom));
  }
  for (const auto& [worker, reason] : node.unreachable) {
    const Node* peer = nodes.Find(worker);
    if (peer == nullptr) continue;
    proto::UnreachableNode& unreachable = *message.add_unreachable();
    unreachable.set_name(peer->name);
    unreachable.set_reason(reason);
  }
  message.set_slots_used(view.slots_used);
  message.set_load(node.load);
  message.set_address(node.registration.data_address());
  message.set_lease_age_ms(static_cast<std::int64_t>(node.lease.AgeNs(now_ns) / kNsPerMs));
  for (const JobId job : view.jobs) message.add_jobs(Value(job));
  for (const JobId job : node.unknown_jobs) message.add_unknown_jobs(Value(job));
  return message;
}

proto::Node LostNodeMessage(const Node& node) {
  proto::Node message;
  *message.mutable_spec() = node.registration.node();
  message.mutable_spec()->set_name(node.name);
  message.set_state(node.registration.unfit().empty() ? proto::NODE_LOST : proto::NODE_RESTING);
  message.set_reason(node.why_lost);
  if (!node.lost()) {
    message.set_state(node.drained ? proto::NODE_DRAINED : proto::NODE_LOST);
    message.set_reason("it has not been here since the coordinator was started");
  }
  message.set_address(node.registration.data_address());
  return message;
}

std::vector<std::string> CommonCpuFeatures(const Nodes& nodes) {
  if (nodes.up().empty()) return {};
  std::set<std::string> common = nodes.up().begin()->second->cpu_features;
  for (const auto& [worker, node] : nodes.up())
    std::erase_if(common, [&has = node->cpu_features](const std::string& feature) {
      return !has.contains(feature);
    });
  return {common.begin(), common.end()};
}

proto::StartJob StartMessage(const StartOrder& order, const proto::JobSpec& spec,
                             const Nodes& nodes) {
  proto::StartJob start;
  start.set_job(Value(order.job));
  start.set_epoch(Value(order.epoch));
  *start.mutable_spec() = spec;
  start.set_reads_input(spec.attached());
  start.set_direct(order.direct);
  for (const NodeShare& share : order.hosts) {
    proto::Host* host = start.add_hosts();
    host->set_worker(Value(share.worker));
    if (const Node* node = nodes.Find(share.worker)) {
      host->set_data_address(node->registration.data_address());
      host->set_node(node->name);
    }
    for (const Pid pid : share.pids) host->add_pids(Value(pid));
  }
  return start;
}

ProcessEnd ProcessEndOf(const proto::ProcessExited& exited) {
  constexpr auto kLast = static_cast<std::uint32_t>(Reached::kAborted);
  static_assert(kLast == 5, "Reached names the states of runtime/link/link.h in their order");
  return {.reached = static_cast<Reached>(exited.reached() <= kLast ? exited.reached() : 0),
          .superstep = Superstep{exited.superstep()},
          .exit_status = exited.exit_status(),
          .signal = exited.signal(),
          .output_bytes = exited.output_bytes(),
          .error_bytes = exited.error_bytes(),
          .killed_for = exited.killed_for()};
}

}  // namespace bspnow::coordinator
