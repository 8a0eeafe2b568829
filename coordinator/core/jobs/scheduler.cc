#include "coordinator/core/jobs/scheduler.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/link_feature.h"

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

/// "w1, w2, w3 and 7 more".
std::string Some(const std::vector<std::string>& names) {
  constexpr std::size_t kNamesMax = 3;
  if (names.size() <= kNamesMax) return absl::StrJoin(names, ", ");
  return absl::StrCat(absl::StrJoin(names.begin(), names.begin() + kNamesMax, ", "), " and ",
                      names.size() - kNamesMax, " more");
}

std::string Plural(std::uint64_t count, const char* noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

template <typename Condition>
std::vector<const SchedulerNode*> Only(const std::vector<const SchedulerNode*>& nodes,
                                       Condition condition) {
  std::vector<const SchedulerNode*> only;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(only), condition);
  return only;
}

/// So much less of it is free, from now on.
void TakeNow(const std::vector<NodeShare>& shares, std::uint64_t memory_bytes_per_process,
             std::vector<FreeNode>& free) {
  for (const NodeShare& share : shares) {
    const auto node = std::lower_bound(
        free.begin(), free.end(), share.worker,
        [](const FreeNode& each, WorkerId worker) { return each.node->worker < worker; });
    if (node == free.end() || node->node->worker != share.worker) continue;
    node->slots -= std::min(node->slots, share.slots);
    if (node->node->accounts != 0 && --node->accounts == 0) node->slots = 0;
    node->memory_bytes -=
        std::min(node->memory_bytes, memory_bytes_per_process * share.pids.size());
  }
}

}  // namespace

Scheduler::Scheduler(const Situation& situation)
    : now_ns_(situation.now_ns),
      any_node_(!situation.nodes.empty()),
      nodes_(Only(situation.nodes, [](const SchedulerNode* node) { return node->open(); })),
      drained_(Only(situation.nodes, [](const SchedulerNode* node) { return node->drained; })),
      whole_(SlotTimeline(nodes_, now_ns_).FreeDuring(now_ns_, kNoEnd)),
      promised_(nodes_, now_ns_),
      next_unknown_ns_(kUnknownNs),
      next_unknown_of_waiting_ns_(kUnknownOfWaitingNs) {
  for (const SchedulerNode* node : nodes_)
    if (node->rests_until_ns > now_ns_)
      promised_.Take({{.worker = node->worker, .pids = {}, .slots = node->slots}}, 0, now_ns_,
                     node->rests_until_ns);
  for (const RunningClaim& running : situation.running) {
    // One that is past its limit is about to end.
    const std::uint64_t end_ns =
        running.end_ns == kNoEnd ? next_unknown_ns_++ : std::max(running.end_ns, now_ns_ + 1);
    promised_.Take(*running.shares, running.memory_bytes, now_ns_, end_ns);
  }
  free_ = promised_.FreeDuring(now_ns_, now_ns_ + 1);
  free_slots_ = SumOfSlots(free_);
}

Verdict Scheduler::Consider(const WaitingClaim& waiting) {
  std::string never = WhyNever(waiting.claim);
  if (!never.empty() && !waiting.claim.avoids.empty()) {  // Again where it failed, then.
    WaitingClaim unavoiding = waiting;
    unavoiding.claim.avoids.clear();
    never = WhyNever(unavoiding.claim);
    if (never.empty()) return ConsiderOne(unavoiding);
  }
  // Not for want of patience: it must not hold up others, however many of them there are.
  if (!never.empty()) return {.kind = Verdict::Kind::kNever, .reason = std::move(never)};
  return ConsiderOne(waiting);
}

Verdict Scheduler::ConsiderOne(const WaitingClaim& waiting) {
  considered_ += 1;
  const std::uint32_t slots = SlotsNeeded(waiting.claim, whole_);
  const bool fits = free_slots_ >= slots && Fits(waiting.claim, slots, free_);
  if (fits && MakePromises()) {
    // Nobody knows when a job without a limit ends: what is promised for then may be due any time.
    const std::uint64_t end_ns = unknown_promise_ ? kNoEnd : EndOf(waiting, now_ns_);
    auto shares = Place(waiting.claim, slots, promised_.FreeDuring(now_ns_, end_ns));
    if (shares.has_value()) {
      Start(waiting, *shares);
      return {.kind = Verdict::Kind::kStarts, .shares = *std::move(shares)};
    }
  }
  std::string reason = fits ? WaitsForFirst(waiting.place) : WhyNotNow(waiting.claim, slots);
  if (!first_) first_ = waiting.place;
  unpromised_.push_back({waiting, slots});
  return {.kind = Verdict::Kind::kWaits, .reason = std::move(reason)};
}

std::uint64_t Scheduler::EndOf(const WaitingClaim& waiting, std::uint64_t from_ns) const {
  if (waiting.time_limit_ns == 0 || waiting.time_limit_ns > kUnknownNs) return kNoEnd;
  return from_ns + waiting.time_limit_ns;
}

void Scheduler::Start(const WaitingClaim& waiting, const std::vector<NodeShare>& shares) {
  std::uint64_t end_ns = EndOf(waiting, now_ns_);
  if (end_ns == kNoEnd) end_ns = next_unknown_ns_++;
  promised_.Take(shares, waiting.claim.memory_bytes, now_ns_, end_ns);
  TakeNow(shares, waiting.claim.memory_bytes, free_);
  free_slots_ = SumOfSlots(free_);
}

/// To all that wait. False: that took too long, so nobody may pass them now.
bool Scheduler::MakePromises() {
  for (const Unpromised& each : std::exchange(unpromised_, {}))
    if (!Promise(each.waiting, each.slots)) return false;
  return true;
}

// The earliest time at which it fits is its own; when all that runs has ended it does fit.
bool Scheduler::Promise(const WaitingClaim& waiting, std::uint32_t slots) {
  const auto all = static_cast<std::int64_t>(SumOfSlots(whole_));
  std::int64_t taken = 0;
  for (const auto& [from_ns, more] : promised_.changes()) {
    taken += more;
    if (all - taken < slots) continue;
    if (++trials_ >= kTrialsMax) return false;
    const std::uint64_t end_ns = EndOf(waiting, from_ns);
    const auto shares = Place(waiting.claim, slots, promised_.FreeDuring(from_ns, end_ns));
    if (!shares.has_value()) continue;
    promised_.Take(*shares, waiting.claim.memory_bytes, from_ns,
                   end_ns == kNoEnd ? next_unknown_of_waiting_ns_++ : end_ns);
    if (from_ns >= kUnknownNs && from_ns < kUnknownOfWaitingNs) unknown_promise_ = true;
    break;
  }
  return true;
}

// ---- Reasons ------------------------------------------------------------------------------------

std::string Scheduler::WhyNever(const SlotClaim& claim) {
  const auto found = why_never_.find(claim);
  if (found != why_never_.end()) return found->second;
  return why_never_[claim] = FindWhyNever(claim);
}

std::string Scheduler::FindWhyNever(const SlotClaim& claim) const {
  if (!any_node_) return "no worker is up";
  if (nodes_.empty()) return "all nodes are drained";
  const std::uint32_t slots = SlotsNeeded(claim, whole_);
  if (Fits(claim, slots, whole_)) return "";
  if (std::string apart = WhyApart(claim, slots, whole_); !apart.empty()) return apart;
  if (std::string lack = LackOfCpu(claim); !lack.empty()) return lack;
  std::vector<FreeNode> suited;
  for (const FreeNode& free : whole_)
    if (Suits(*free.node, claim)) suited.push_back(free);
  if (suited.empty()) {
    return absl::StrCat("no node has label ", absl::StrJoin(claim.constraints, " and "),
                        Drained(claim));
  }
  const std::string where =
      claim.constraints.empty()
          ? "the cluster has "
          : absl::StrCat("nodes with label ", absl::StrJoin(claim.constraints, " and "), " have ");
  if (claim.nodes > suited.size()) {
    return absl::StrCat("needs ", Plural(claim.nodes, "node"), ", ", where, suited.size(),
                        Drained(claim));
  }
  const std::uint32_t all = SumOfSlots(suited);
  if (slots > all) {
    return absl::StrCat("needs ", Plural(slots, "slot"), ", ", where, all, Drained(claim),
                        ": start more workers", kOrOversubscribe);
  }
  std::string needs = absl::StrCat("needs ", Plural(claim.nprocs, "slot"));
  if (claim.nodes != 0) absl::StrAppend(&needs, " on ", Plural(claim.nodes, "node"));
  if (claim.per_node != 0) absl::StrAppend(&needs, ", at most ", claim.per_node, " a node");
  if (claim.memory_bytes != 0) {
    absl::StrAppendFormat(&needs, ", with %.1f MiB for each process",
                          static_cast<double>(claim.memory_bytes) / (1 << 20));
  }
  return absl::StrCat(needs, "; ", where, SlotsToHave(claim, whole_), " such slots",
                      Drained(claim));
}

/// " (node w3 is drained)"; empty if none is that it could use.
std::string Scheduler::Drained(const SlotClaim& claim) const {
  std::vector<std::string> names;
  for (const SchedulerNode* node : drained_)
    if (Suits(*node, claim)) names.push_back(node->name);
  if (names.empty()) return "";
  return absl::StrCat(names.size() == 1 ? " (node " : " (nodes ", Some(names),
                      names.size() == 1 ? " is" : " are", " drained)");
}

/// "needs avx512f, which node w3 lacks"; empty if no node is left out for its CPU.
std::string Scheduler::LackOfCpu(const SlotClaim& claim) const {
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
                      Some(names), names.size() == 1 ? " lacks" : " lack",
                      feature.starts_with(kLinkFeature)
                          ? "; only a worker of that version can go on with it"
                          : "; with --cpu common a job needs less");
}

/// It would fit if nobody were before it.
std::string Scheduler::WaitsForFirst(const QueuePlace& place) const {
  return absl::StrCat("waits for job ", Value(first_->job),
                      first_->priority > place.priority ? ", which has a higher priority"
                      : first_->turn < place.turn       ? ", which recovers"
                                                        : ", which was submitted before");
}

std::string Scheduler::WhyNotNow(const SlotClaim& claim, std::uint32_t slots) const {
  const std::string apart = WhyApart(claim, slots, free_);
  return absl::StrCat("needs ", Plural(slots, "slot"), ", ", SlotsToHave(claim, free_), " free",
                      Resting(claim), WithoutAccount(claim), apart.empty() ? "" : "; ", apart);
}

/// "; node w3 rests, which could not start a job"; empty if none does that it could use.
std::string Scheduler::Resting(const SlotClaim& claim) const {
  std::vector<std::string> names;
  for (const SchedulerNode* node : nodes_)
    if (node->rests_until_ns > now_ns_ && Suits(*node, claim)) names.push_back(node->name);
  if (names.empty()) return "";
  return absl::StrCat("; node", names.size() == 1 ? " " : "s ", Some(names),
                      names.size() == 1 ? " rests" : " rest", ": `bsp nodes` says why");
}

/// "; all accounts of node w3 are in use"; empty if it could use none where that is so.
std::string Scheduler::WithoutAccount(const SlotClaim& claim) const {
  std::vector<std::string> names;
  for (const FreeNode& free : free_)
    if (free.node->accounts != 0 && free.accounts == 0 && Suits(*free.node, claim))
      names.push_back(free.node->name);
  if (names.empty()) return "";
  return absl::StrCat("; all accounts of node", names.size() == 1 ? " " : "s ", Some(names),
                      " are in use");
}

}  // namespace bspnow::coordinator
