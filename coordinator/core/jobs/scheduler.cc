#include "coordinator/core/jobs/scheduler.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "coordinator/core/jobs/slot_timeline.h"

namespace bspnow::coordinator {
namespace {

// Jobs without a time limit are taken to end after all that have one, in the order in which they
// start: later than this, a nanosecond apart; and those that still wait, later than all that run.
constexpr std::uint64_t kUnknownNs = std::uint64_t{1} << 62;
constexpr std::uint64_t kUnknownOfWaitingNs = kUnknownNs + (std::uint64_t{1} << 32);

std::uint32_t SumOfSlots(const std::vector<FreeNode>& nodes) {
  return std::accumulate(nodes.begin(), nodes.end(), 0u,
                         [](std::uint32_t sum, const FreeNode& free) { return sum + free.slots; });
}

std::string Plural(std::uint64_t count, const char* noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

class Planner {
 public:
  explicit Planner(const Situation& situation);

  SchedulePlan Run();

 private:
  void Consider(const WaitingClaim& waiting);
  std::string WhyNever(const SlotClaim& claim) const;
  std::string LackOfCpu(const SlotClaim& claim) const;
  std::string WhyNotNow(const WaitingClaim& waiting, std::uint32_t slots) const;
  std::string Resting(const SlotClaim& claim) const;
  void Start(const WaitingClaim& waiting, std::vector<NodeShare> shares);
  void Promise(const WaitingClaim& waiting, std::uint32_t slots);
  std::uint64_t EndOf(const WaitingClaim& waiting, std::uint64_t from_ns) const;

  const Situation& situation_;
  std::vector<const SchedulerNode*> nodes_;  ///< That take jobs.
  std::vector<FreeNode> whole_;              ///< All of them, as if nothing ran.
  SlotTimeline taken_;                       ///< By what runs.
  SlotTimeline promised_;                    ///< And by promises.
  std::uint64_t next_unknown_ns_ = kUnknownNs;
  std::uint64_t next_unknown_of_waiting_ns_ = kUnknownOfWaitingNs;
  bool unknown_promise_ = false;  ///< To a job that waits for a running one without a limit.
  const WaitingClaim* first_promise_ = nullptr;
  std::deque<WaitingClaim> unavoiding_;  ///< Of jobs that fit only where they failed before.
  SchedulePlan plan_;
};

std::vector<const SchedulerNode*> Open(const std::vector<SchedulerNode>& nodes) {
  std::vector<const SchedulerNode*> open;
  for (const SchedulerNode& node : nodes) {
    if (!node.drained) open.push_back(&node);
  }
  return open;
}

Planner::Planner(const Situation& situation)
    : situation_(situation),
      nodes_(Open(situation.nodes)),
      whole_(SlotTimeline(nodes_, situation.now_ns).FreeDuring(situation.now_ns, kNoEnd)),
      taken_(nodes_, situation.now_ns),
      promised_(taken_) {
  for (const SchedulerNode* node : nodes_)
    if (node->rests_until_ns > situation.now_ns)
      taken_.Take({{.worker = node->worker, .pids = {}, .slots = node->slots}}, 0, situation.now_ns,
                  node->rests_until_ns);
  for (const RunningClaim& running : situation.running) {
    // One that is past its limit is about to end.
    const std::uint64_t end_ns = running.end_ns == kNoEnd
                                     ? next_unknown_ns_++
                                     : std::max(running.end_ns, situation.now_ns + 1);
    taken_.Take(running.shares, running.memory_bytes, situation.now_ns, end_ns);
  }
  promised_ = taken_;
}

SchedulePlan Planner::Run() {
  std::vector<const WaitingClaim*> order;
  for (const WaitingClaim& waiting : situation_.waiting) order.push_back(&waiting);
  std::sort(order.begin(), order.end(), [](const WaitingClaim* a, const WaitingClaim* b) {
    return std::tuple(-std::int64_t{a->priority}, a->turn, a->job) <
           std::tuple(-std::int64_t{b->priority}, b->turn, b->job);
  });
  std::size_t before = 0;
  for (const WaitingClaim* waiting : order) {
    if (before >= kBackfillDepth) {
      plan_.waits.push_back(
          {waiting->job, absl::StrCat("waits for ", before++, " jobs before it")});
      continue;
    }
    std::string never = WhyNever(waiting->claim);
    if (!never.empty() && !waiting->claim.avoids.empty()) {  // Again where it failed, then.
      waiting = &unavoiding_.emplace_back(*waiting);
      unavoiding_.back().claim.avoids.clear();
      never = WhyNever(waiting->claim);
    }
    if (!never.empty()) {
      // Not for want of patience: it must not hold up others, however many of them there are.
      plan_.waits.push_back({waiting->job, std::move(never)});
    } else {
      Consider(*waiting);
      before += 1;
    }
  }
  return std::move(plan_);
}

void Planner::Consider(const WaitingClaim& waiting) {
  const std::uint32_t slots = SlotsNeeded(waiting.claim, whole_);
  // Nobody knows when a job without a limit ends: what is promised for then may be due any time.
  const std::uint64_t end_ns = unknown_promise_ ? kNoEnd : EndOf(waiting, situation_.now_ns);
  auto shares = Place(waiting.claim, slots, promised_.FreeDuring(situation_.now_ns, end_ns));
  if (shares.has_value()) {
    Start(waiting, *std::move(shares));
    return;
  }
  plan_.waits.push_back({waiting.job, WhyNotNow(waiting, slots)});
  Promise(waiting, slots);
}

std::uint64_t Planner::EndOf(const WaitingClaim& waiting, std::uint64_t from_ns) const {
  if (waiting.time_limit_ns == 0 || waiting.time_limit_ns > kUnknownNs) return kNoEnd;
  return from_ns + waiting.time_limit_ns;
}

void Planner::Start(const WaitingClaim& waiting, std::vector<NodeShare> shares) {
  std::uint64_t end_ns = EndOf(waiting, situation_.now_ns);
  if (end_ns == kNoEnd) end_ns = next_unknown_ns_++;
  taken_.Take(shares, waiting.claim.memory_bytes, situation_.now_ns, end_ns);
  promised_.Take(shares, waiting.claim.memory_bytes, situation_.now_ns, end_ns);
  plan_.starts.push_back({waiting.job, std::move(shares)});
}

// The earliest time at which it fits is its own; when all that runs has ended it does fit.
void Planner::Promise(const WaitingClaim& waiting, std::uint32_t slots) {
  if (first_promise_ == nullptr) first_promise_ = &waiting;
  for (const std::uint64_t from_ns : promised_.times()) {
    if (SumOfSlots(promised_.FreeDuring(from_ns, from_ns + 1)) < slots) continue;
    const std::uint64_t end_ns = EndOf(waiting, from_ns);
    const auto shares = Place(waiting.claim, slots, promised_.FreeDuring(from_ns, end_ns));
    if (!shares.has_value()) continue;
    promised_.Take(*shares, waiting.claim.memory_bytes, from_ns,
                   end_ns == kNoEnd ? next_unknown_of_waiting_ns_++ : end_ns);
    if (from_ns >= kUnknownNs && from_ns < kUnknownOfWaitingNs) unknown_promise_ = true;
    return;
  }
}

// ---- Reasons ------------------------------------------------------------------------------------

std::string Planner::WhyNever(const SlotClaim& claim) const {
  if (situation_.nodes.empty()) return "no worker is up";
  if (nodes_.empty()) return "all nodes are drained";
  std::vector<FreeNode> suited;
  for (const FreeNode& free : whole_) {
    if (Suits(*free.node, claim)) suited.push_back(free);
  }
  const std::uint32_t slots = SlotsNeeded(claim, whole_);
  if (!suited.empty() && Place(claim, slots, whole_).has_value()) return "";
  if (std::string apart = WhyApart(claim, slots, whole_); !apart.empty()) return apart;
  if (std::string lack = LackOfCpu(claim); !lack.empty()) return lack;
  if (suited.empty()) {
    return absl::StrCat("no node has label ", absl::StrJoin(claim.constraints, " and "));
  }
  const std::string where =
      claim.constraints.empty()
          ? "the cluster has "
          : absl::StrCat("nodes with label ", absl::StrJoin(claim.constraints, " and "), " have ");
  if (claim.nodes > suited.size()) {
    return absl::StrCat("needs ", Plural(claim.nodes, "node"), ", ", where, suited.size());
  }
  const std::uint32_t all = SumOfSlots(suited);
  if (slots > all) {
    return absl::StrCat("needs ", Plural(slots, "slot"), ", ", where, all, ": start more workers",
                        kOrOversubscribe);
  }
  std::string needs = absl::StrCat("needs ", Plural(claim.nprocs, "slot"));
  if (claim.nodes != 0) absl::StrAppend(&needs, " on ", Plural(claim.nodes, "node"));
  if (claim.per_node != 0) absl::StrAppend(&needs, ", at most ", claim.per_node, " a node");
  if (claim.memory_bytes != 0) {
    absl::StrAppendFormat(&needs, ", with %.1f MiB for each process",
                          static_cast<double>(claim.memory_bytes) / (1 << 20));
  }
  return absl::StrCat(needs, "; ", where, SlotsToHave(claim, whole_), " such slots");
}

/// "needs avx512f, which node w3 lacks"; empty if no node is left out for its CPU.
std::string Planner::LackOfCpu(const SlotClaim& claim) const {
  std::string feature;
  std::vector<std::string> names;
  for (const SchedulerNode* node : nodes_) {
    if (!HasLabels(*node, claim)) continue;
    const std::string missing = MissingCpuFeature(*node, claim);
    if (feature.empty()) feature = missing;
    if (!missing.empty() && missing == feature) names.push_back(node->name);
  }
  if (names.empty()) return "";
  return absl::StrCat("needs ", feature, ", which node", names.size() == 1 ? " " : "s ",
                      absl::StrJoin(names, ", "), names.size() == 1 ? " lacks" : " lack",
                      "; with --cpu common a job needs less");
}

std::string Planner::WhyNotNow(const WaitingClaim& waiting, std::uint32_t slots) const {
  const std::vector<FreeNode> free = taken_.FreeDuring(situation_.now_ns, situation_.now_ns + 1);
  if (first_promise_ != nullptr && Place(waiting.claim, slots, free).has_value()) {
    return absl::StrCat("waits for job ", Value(first_promise_->job),
                        first_promise_->priority > waiting.priority
                            ? ", which has a higher priority"
                        : first_promise_->turn < waiting.turn ? ", which recovers"
                                                              : ", which was submitted before");
  }
  const std::string apart = WhyApart(waiting.claim, slots, free);
  return absl::StrCat("needs ", Plural(slots, "slot"), ", ", SlotsToHave(waiting.claim, free),
                      " free", Resting(waiting.claim), apart.empty() ? "" : "; ", apart);
}

/// "; node w3 rests, which could not start a job"; empty if none does that it could use.
std::string Planner::Resting(const SlotClaim& claim) const {
  std::vector<std::string> names;
  for (const SchedulerNode* node : nodes_)
    if (node->rests_until_ns > situation_.now_ns && Suits(*node, claim))
      names.push_back(node->name);
  if (names.empty()) return "";
  return absl::StrCat("; node", names.size() == 1 ? " " : "s ", absl::StrJoin(names, ", "),
                      names.size() == 1 ? " rests" : " rest", ": `bsp nodes` says why");
}

}  // namespace

SchedulePlan PlanJobs(const Situation& situation) { return Planner(situation).Run(); }

}  // namespace bspnow::coordinator
