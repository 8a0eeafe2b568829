#include "coordinator/core/jobs/placement.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace bspnow::coordinator {
namespace {

constexpr std::uint32_t kAny = std::numeric_limits<std::uint32_t>::max();

/// A node with what this claim can have there.
struct Offer {
  const FreeNode* free;
  std::uint32_t processes_max;  ///< By memory and per_node.
  std::uint32_t slots;          ///< That it can have.
  std::uint32_t taken = 0;      ///< Slots.
  std::uint32_t processes = 0;
};

std::uint32_t ProcessesMax(const SlotClaim& claim, const FreeNode& free) {
  std::uint64_t most = claim.per_node == 0 ? kAny : claim.per_node;
  if (claim.memory_bytes != 0 && free.node->memory_bytes != 0) {
    most = std::min(most, free.memory_bytes / claim.memory_bytes);
  }
  return static_cast<std::uint32_t>(most);
}

// Best first: the least part of its slots in use, then the least loaded machine.
bool Better(const Offer& a, const Offer& b) {
  const auto use = [](const Offer& offer) {
    const double slots = std::max(offer.free->node->slots, 1u);
    return 1.0 - offer.free->slots / slots;
  };
  return std::tuple(use(a), a.free->node->load, a.free->node->name) <
         std::tuple(use(b), b.free->node->load, b.free->node->name);
}

std::vector<Offer> Offers(const SlotClaim& claim, const std::vector<FreeNode>& nodes) {
  std::vector<Offer> offers;
  for (const FreeNode& free : nodes) {
    if (!Suits(*free.node, claim)) continue;
    Offer offer{.free = &free, .processes_max = ProcessesMax(claim, free), .slots = 0};
    offer.slots = std::min(free.slots, offer.processes_max);
    if (offer.slots > 0) offers.push_back(offer);
  }
  std::sort(offers.begin(), offers.end(), Better);
  return offers;
}

std::uint64_t Slots(const std::vector<Offer>& offers) {
  return std::accumulate(offers.begin(), offers.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Offer& offer) { return sum + offer.slots; });
}

// Keeps `count` of them: the best, or where these do not have `slots` together the largest.
void Choose(std::vector<Offer>& offers, std::uint32_t count, std::uint32_t slots) {
  std::vector<Offer> best(offers.begin(), offers.begin() + count);
  if (Slots(best) < slots) {
    std::stable_sort(offers.begin(), offers.end(),
                     [](const Offer& a, const Offer& b) { return a.slots > b.slots; });
    best.assign(offers.begin(), offers.begin() + count);
  }
  offers = std::move(best);
}

// Gives `count` out, one by one, to the offer that carries the least and may have more.
// `limit` and `given` say of what; `carried` how much that is for it.
template <typename Carried>
void GiveEvenly(std::vector<Offer>& offers, std::uint32_t count, std::uint32_t Offer::*limit,
                std::uint32_t Offer::*given, Carried carried) {
  for (; count > 0; --count) {
    Offer* next = nullptr;
    for (Offer& offer : offers) {
      if (offer.*given >= offer.*limit) continue;
      if (next == nullptr || carried(offer) < carried(*next)) next = &offer;
    }
    if (next == nullptr) return;
    next->*given += 1;
  }
}

void GiveInOrder(std::vector<Offer>& offers, std::uint32_t count) {
  for (Offer& offer : offers) {
    offer.taken = std::min(offer.slots, count);
    count -= offer.taken;
  }
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

std::string MissingCpuFeature(const SchedulerNode& node, const SlotClaim& claim) {
  for (const std::string& feature : claim.cpu_features) {
    const auto& has = node.cpu_features;
    if (std::find(has.begin(), has.end(), feature) == has.end()) return feature;
  }
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
  std::vector<Offer> offers = Offers(claim, nodes);
  if (claim.nodes != 0 && offers.size() > claim.nodes) Choose(offers, claim.nodes, kAny);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(Slots(offers), kAny));
}

std::uint32_t SlotsNeeded(const SlotClaim& claim, const std::vector<FreeNode>& whole_cluster) {
  if (!claim.oversubscribe) return claim.nprocs;
  return std::clamp(SlotsToHave(claim, whole_cluster), 1u, claim.nprocs);
}

std::optional<std::vector<NodeShare>> Place(const SlotClaim& claim, std::uint32_t slots,
                                            const std::vector<FreeNode>& nodes) {
  std::vector<Offer> offers = Offers(claim, nodes);
  if (claim.nodes != 0) {
    if (offers.size() < claim.nodes || claim.nodes > claim.nprocs) return std::nullopt;
    Choose(offers, claim.nodes, slots);
  }
  if (Slots(offers) < slots) return std::nullopt;
  if (claim.nodes != 0) {
    GiveEvenly(offers, slots, &Offer::slots, &Offer::taken,
               [](const Offer& offer) { return offer.taken; });
  } else {
    GiveInOrder(offers, slots);
  }
  std::erase_if(offers, [](const Offer& offer) { return offer.taken == 0; });
  for (Offer& offer : offers) offer.processes = offer.taken;
  GiveEvenly(offers, claim.nprocs - slots, &Offer::processes_max, &Offer::processes,
             [](const Offer& offer) { return 1.0 * offer.processes / offer.taken; });
  const std::uint64_t placed =
      std::accumulate(offers.begin(), offers.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const Offer& offer) { return sum + offer.processes; });
  if (placed < claim.nprocs) return std::nullopt;  // So many are not allowed on a node.
  return Blocks(offers);
}

}  // namespace bspnow::coordinator
