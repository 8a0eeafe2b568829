#include "coordinator/core/jobs/placement.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <absl/strings/str_cat.h>
#include "base/link_feature.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint32_t kAny = std::numeric_limits<std::uint32_t>::max();
/// Sets of nodes that reach each other, to be looked at for one job.
constexpr std::size_t kTriesMax = 16;

/// A node with what this claim can have there.
struct Offer {
  const FreeNode* free;
  std::uint32_t processes_max;  ///< By memory and per_node.
  std::uint32_t slots;          ///< That it can have.
  double use;                   ///< The part of the node's slots that is taken.
  std::uint32_t taken = 0;      ///< Slots.
  std::uint32_t processes = 0;
  std::uint32_t one = 1;  ///< For what is divided by nothing else.
};

std::uint32_t ProcessesMax(const SlotClaim& claim, const FreeNode& free) {
  std::uint64_t most = kProcessesOfNodeMax;
  if (claim.per_node != 0) most = std::min<std::uint64_t>(most, claim.per_node);
  if (claim.memory_bytes != 0 && free.node->memory_bytes != 0) {
    most = std::min(most, free.memory_bytes / claim.memory_bytes);
  }
  return static_cast<std::uint32_t>(most);
}

/// Best first: the least part of its slots in use, then the least loaded machine.
bool Better(const Offer& a, const Offer& b) {
  return std::tie(a.use, a.free->node->load, a.free->node->worker) <
         std::tie(b.use, b.free->node->load, b.free->node->worker);
}

/// In no order.
std::vector<Offer> Offers(const SlotClaim& claim, const std::vector<FreeNode>& nodes) {
  std::vector<Offer> offers;
  offers.reserve(nodes.size());
  for (const FreeNode& free : nodes) {
    if (free.slots == 0 || !Suits(*free.node, claim)) continue;
    const std::uint32_t processes_max = ProcessesMax(claim, free);
    if (processes_max == 0) continue;
    offers.push_back({.free = &free,
                      .processes_max = processes_max,
                      .slots = std::min(free.slots, processes_max),
                      .use = 1.0 - 1.0 * free.slots / std::max(free.node->slots, 1u)});
  }
  return offers;
}

/// As Slots(Offers(...)), for many nodes.
std::uint32_t SumOfSlots(const SlotClaim& claim, const std::vector<FreeNode>& nodes) {
  std::uint64_t sum = 0;
  for (const FreeNode& free : nodes)
    if (free.slots != 0 && Suits(*free.node, claim))
      sum += std::min(free.slots, ProcessesMax(claim, free));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, kAny));
}

bool AllReachEachOther(const std::vector<FreeNode>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(),
                     [](const FreeNode& free) { return free.node->unreachable.empty(); });
}

std::uint64_t Slots(const std::vector<Offer>& offers) {
  return std::accumulate(offers.begin(), offers.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Offer& offer) { return sum + offer.slots; });
}

/// Keeps `count` of them: the best, or where these do not have `slots` together the largest.
void Choose(std::vector<Offer>& offers, std::uint32_t count, std::uint32_t slots) {
  std::partial_sort(offers.begin(), offers.begin() + count, offers.end(), Better);
  std::vector<Offer> best(offers.begin(), offers.begin() + count);
  if (Slots(best) < slots) {
    std::sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
      return a.slots != b.slots ? a.slots > b.slots : Better(a, b);
    });
    best.assign(offers.begin(), offers.begin() + count);
  }
  offers = std::move(best);
}

/// Keeps the best that have `slots` together. Few of many, as a rule: the others stay unsorted.
void ChooseAny(std::vector<Offer>& offers, std::uint32_t slots) {
  const auto worse = [](const Offer& a, const Offer& b) { return Better(b, a); };
  std::make_heap(offers.begin(), offers.end(), worse);
  auto rest = offers.end();
  for (std::uint64_t chosen = 0; chosen < slots && rest != offers.begin();) {
    std::pop_heap(offers.begin(), rest, worse);
    chosen += (--rest)->slots;
  }
  std::vector<Offer> best(std::make_reverse_iterator(offers.end()),
                          std::make_reverse_iterator(rest));
  offers = std::move(best);
}

/// What is given out evenly: of each offer, how much it has, at most, and what it is divided by.
struct Even {
  std::uint32_t Offer::*given;
  std::uint32_t Offer::*limit;
  std::uint32_t Offer::*share;
};

/// Of `offer`, how many have a level below this one; `slack` for what rounding may hide.
std::uint32_t Below(const Offer& offer, const Even& even, double level, double slack) {
  const double most = std::floor(level * offer.*even.share) + slack;
  const double limit = std::max(offer.*even.limit, offer.*even.given);
  return static_cast<std::uint32_t>(std::clamp<double>(most, offer.*even.given, limit));
}

// All that have to come below the highest level for which there is enough, but for the last few of
// each: so `count` may be large, and the offers many.
std::uint32_t GiveUpToALevel(std::vector<Offer>& offers, std::uint32_t count, const Even& even) {
  constexpr int kHalvings = 48;
  constexpr double kSlack = 2;
  constexpr std::size_t kFew = 8;  // Of each, which are soon given out one by one.
  if (count <= kFew * offers.size()) return count;
  const auto sum = [&](double level) {
    std::uint64_t below = 0;
    for (const Offer& offer : offers)
      below += Below(offer, even, level, kSlack) - offer.*even.given;
    return below;
  };
  double enough = 0, too_much = 1;
  for (const Offer& offer : offers)
    too_much = std::max(too_much, (offer.*even.limit + 2 * kSlack) / offer.*even.share);
  for (int i = 0; i < kHalvings; ++i) {
    const double level = (enough + too_much) / 2;
    (sum(level) <= count ? enough : too_much) = level;
  }
  if (sum(enough) > count) return count;
  for (Offer& offer : offers) {
    const std::uint32_t had = std::exchange(offer.*even.given, Below(offer, even, enough, -kSlack));
    count -= offer.*even.given - had;
  }
  return count;
}

// Gives `count` out, one by one, to the offer that carries the least and may have more; among
// equals to the first.
void GiveEvenly(std::vector<Offer>& offers, std::uint32_t count, const Even& even) {
  count = GiveUpToALevel(offers, count, even);
  std::set<std::pair<double, std::size_t>> next;  // By level, and place.
  const auto add = [&](std::size_t i) {
    const Offer& offer = offers[i];
    if (offer.*even.given < offer.*even.limit)
      next.emplace(1.0 * offer.*even.given / offer.*even.share, i);
  };
  for (std::size_t i = 0; i < offers.size() && count > 0; ++i) add(i);
  for (; count > 0 && !next.empty(); --count) {
    const std::size_t i = next.extract(next.begin()).value().second;
    offers[i].*even.given += 1;
    add(i);
  }
}

void GiveInOrder(std::vector<Offer>& offers, std::uint32_t count) {
  for (Offer& offer : offers) {
    offer.taken = std::min(offer.slots, count);
    count -= offer.taken;
  }
}

/// What each offer's share of the claim is; without those that have none.
std::optional<std::vector<Offer>> Distribute(const SlotClaim& claim, std::uint32_t slots,
                                             std::vector<Offer> offers) {
  if (Slots(offers) < slots) return std::nullopt;
  if (claim.nodes != 0) {
    if (offers.size() < claim.nodes || claim.nodes > claim.nprocs) return std::nullopt;
    Choose(offers, claim.nodes, slots);
    if (Slots(offers) < slots) return std::nullopt;
    GiveEvenly(offers, slots,
               {.given = &Offer::taken, .limit = &Offer::slots, .share = &Offer::one});
  } else {
    ChooseAny(offers, slots);
    GiveInOrder(offers, slots);
  }
  std::erase_if(offers, [](const Offer& offer) { return offer.taken == 0; });
  for (Offer& offer : offers) offer.processes = offer.taken;
  GiveEvenly(offers, claim.nprocs - slots,
             {.given = &Offer::processes, .limit = &Offer::processes_max, .share = &Offer::taken});
  const std::uint64_t placed =
      std::accumulate(offers.begin(), offers.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const Offer& offer) { return sum + offer.processes; });
  if (placed < claim.nprocs) return std::nullopt;  // So many are not allowed on a node.
  return offers;
}

// ---- Who reaches whom ---------------------------------------------------------------------------

/// By offer, those of the others which it does not reach, or they not it. Empty: there are none.
using Conflicts = std::vector<std::vector<std::size_t>>;

Conflicts ConflictsOf(const std::vector<Offer>& offers) {
  Conflicts conflicts;
  std::unordered_map<WorkerId, std::size_t> index_of;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    const auto& unreachable = offers[i].free->node->unreachable;
    if (unreachable.empty()) continue;  // As a rule.
    if (index_of.empty())
      for (std::size_t k = 0; k < offers.size(); ++k) index_of[offers[k].free->node->worker] = k;
    for (const auto& [worker, reason] : unreachable) {
      const auto other = index_of.find(worker);
      if (other == index_of.end()) continue;
      conflicts.resize(offers.size());
      conflicts[i].push_back(other->second);
      conflicts[other->second].push_back(i);
    }
  }
  return conflicts;
}

/// Offers that all reach each other, still the best first: `first`, then those that have the fewest
/// conflicts. To find the largest such set would take exponential time; one node that nobody
/// reaches, one pair, or two halves of a network are all done right.
std::vector<Offer> Together(const std::vector<Offer>& offers, const Conflicts& conflicts,
                            std::size_t first) {
  std::vector<std::size_t> order(offers.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(a != first, conflicts[a].size(), a) <
           std::tuple(b != first, conflicts[b].size(), b);
  });
  std::vector<bool> apart(offers.size(), false);
  for (const std::size_t i : order)
    if (!apart[i])
      for (const std::size_t other : conflicts[i]) apart[other] = true;
  std::vector<Offer> together;
  for (std::size_t i = 0; i < offers.size(); ++i)
    if (!apart[i]) together.push_back(offers[i]);
  return together;
}

std::optional<std::vector<Offer>> DistributeTogether(const SlotClaim& claim, std::uint32_t slots,
                                                     std::vector<Offer> offers) {
  std::sort(offers.begin(), offers.end(), Better);
  const Conflicts conflicts = ConflictsOf(offers);
  auto chosen = Distribute(claim, slots, Together(offers, conflicts, offers.size()));
  for (std::size_t i = 0, tries = 0; !chosen && i < offers.size() && tries < kTriesMax; ++i) {
    if (conflicts[i].empty()) continue;
    chosen = Distribute(claim, slots, Together(offers, conflicts, i));
    tries += 1;
  }
  return chosen;
}

std::vector<NodeShare> Blocks(const std::vector<Offer>& offers) {
  std::vector<NodeShare> shares;
  std::uint32_t next = 0;
  for (const Offer& offer : offers) {
    if (offer.processes == 0) continue;
    NodeShare share{.worker = offer.free->node->worker, .pids = {}, .slots = offer.taken};
    for (std::uint32_t i = 0; i < offer.processes; ++i) share.pids.push_back(Pid{next++});
    shares.push_back(std::move(share));
  }
  return shares;
}

}  // namespace

// A worker of before link features has the link version of its protocol, and names none.
std::string MissingCpuFeature(const SchedulerNode& node, const SlotClaim& claim) {
  const auto is_link = [](const std::string& feature) { return feature.starts_with(kLinkFeature); };
  const bool names_link = std::any_of(node.cpu_features.begin(), node.cpu_features.end(), is_link);
  for (const std::string& feature : claim.cpu_features)
    if (!node.cpu_features.contains(feature) && (names_link || !is_link(feature))) return feature;
  return "";
}

bool Suits(const SchedulerNode& node, const SlotClaim& claim) {
  return HasLabels(node, claim) && MissingCpuFeature(node, claim).empty() &&
         !claim.avoids.contains(node.name);
}

bool HasLabels(const SchedulerNode& node, const SlotClaim& claim) {
  return std::all_of(
      claim.constraints.begin(), claim.constraints.end(), [&](const std::string& constraint) {
        const std::size_t equals = constraint.find('=');
        const auto label = node.labels.find(constraint.substr(0, equals));
        return label != node.labels.end() &&
               (equals == std::string::npos || label->second == constraint.substr(equals + 1));
      });
}

std::uint32_t SlotsToHave(const SlotClaim& claim, const std::vector<FreeNode>& nodes) {
  if (claim.nodes == 0 && AllReachEachOther(nodes)) return SumOfSlots(claim, nodes);
  std::vector<Offer> offers = Offers(claim, nodes);
  if (!ConflictsOf(offers).empty()) {
    std::sort(offers.begin(), offers.end(), Better);
    offers = Together(offers, ConflictsOf(offers), offers.size());
  }
  if (claim.nodes != 0 && offers.size() > claim.nodes) Choose(offers, claim.nodes, kAny);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(Slots(offers), kAny));
}

std::uint32_t SlotsNeeded(const SlotClaim& claim, const std::vector<FreeNode>& whole_cluster) {
  if (!claim.oversubscribe) return claim.nprocs;
  return std::clamp(SlotsToHave(claim, whole_cluster), 1u, claim.nprocs);
}

std::string WhyApart(const SlotClaim& claim, std::uint32_t slots,
                     const std::vector<FreeNode>& nodes) {
  if (AllReachEachOther(nodes)) return "";
  const auto chosen = Distribute(claim, slots, Offers(claim, nodes));
  if (!chosen.has_value()) return "";
  for (const Offer& offer : *chosen)
    for (const auto& [worker, reason] : offer.free->node->unreachable)
      for (const Offer& other : *chosen)
        if (other.free->node->worker == worker)
          return absl::StrCat("nodes ", offer.free->node->name, " and ", other.free->node->name,
                              " do not reach each other: ", reason);
  return "";
}

bool Fits(const SlotClaim& claim, std::uint32_t slots, const std::vector<FreeNode>& nodes) {
  const bool any_nodes_do = claim.nodes == 0 && slots == claim.nprocs && AllReachEachOther(nodes);
  return any_nodes_do ? SumOfSlots(claim, nodes) >= slots : Place(claim, slots, nodes).has_value();
}

std::optional<std::vector<NodeShare>> Place(const SlotClaim& claim, std::uint32_t slots,
                                            const std::vector<FreeNode>& nodes) {
  std::vector<Offer> offers = Offers(claim, nodes);
  auto chosen = Distribute(claim, slots, offers);
  if (chosen.has_value() && !ConflictsOf(*chosen).empty())
    chosen = DistributeTogether(claim, slots, std::move(offers));
  if (!chosen.has_value()) return std::nullopt;
  return Blocks(*chosen);
}

}  // namespace bspnow::coordinator
