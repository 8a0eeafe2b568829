// What is kept of a job's checkpoints, where, and what the job can go back to. How one is taken is
// in job_checkpoints.cc.
#include <algorithm>
#include <utility>

#include "coordinator/core/checkpoints/job_checkpoints.h"

namespace bspnow::coordinator {
namespace {

bool IsUp(const CheckpointPart& part, const LiveNodes& live) {
  const auto lives = [&](const std::string& node) { return live.contains(node); };
  if (std::any_of(part.holders.begin(), part.holders.end(), lives)) return true;
  return !part.share.empty() && std::any_of(live.begin(), live.end(), [&](const auto& node) {
    return node.second == part.share;
  });
}

bool CanBeHad(const Checkpoint& checkpoint, const LiveNodes& live) {
  return std::all_of(checkpoint.parts.begin(), checkpoint.parts.end(),
                     [&](const CheckpointPart& part) { return IsUp(part, live); });
}

bool IsHeld(const Checkpoint& checkpoint) {
  return std::none_of(checkpoint.parts.begin(), checkpoint.parts.end(),
                      [](const CheckpointPart& part) { return part.holders.empty(); });
}

enum class Holds { kAll, kNotAll };

/// What a node says of images that it was known to hold.
void SetHolder(Checkpoint& checkpoint, const std::string& node, Holds holds) {
  for (CheckpointPart& part : checkpoint.parts) {
    if (!part.share.empty()) continue;
    auto& from = holds == Holds::kAll ? part.former : part.holders;
    auto& to = holds == Holds::kAll ? part.holders : part.former;
    if (std::erase(from, node) != 0) to.push_back(node);
  }
}

}  // namespace

const Checkpoint* JobCheckpoints::Find(std::uint64_t number) const {
  for (const Checkpoint& checkpoint : committed_)
    if (checkpoint.number == number) return &checkpoint;
  return nullptr;
}

CheckpointPart* JobCheckpoints::PartOf(const std::string& host) {
  for (CheckpointPart& part : taking_->checkpoint.parts)
    if (part.host == host) return &part;
  return nullptr;
}

std::vector<std::uint64_t> JobCheckpoints::ChainOf(std::uint64_t number) const {
  std::vector<std::uint64_t> chain;
  for (const Checkpoint* each = Find(number); each != nullptr; each = Find(each->base))
    chain.push_back(each->number);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

// ---- What is kept -------------------------------------------------------------------------------

std::set<std::uint64_t> JobCheckpoints::Needed(const std::vector<Checkpoint>& committed) const {
  std::set<std::uint64_t> needed;
  std::size_t kept = 0;
  for (auto each = committed.rbegin(); each != committed.rend(); ++each) {
    const bool keep = kept < kGoBackMax && !damaged_.contains(each->number);
    if (!keep && !needed.contains(each->number)) continue;
    kept += keep ? 1 : 0;
    needed.insert(each->number);
    if (each->base != 0) needed.insert(each->base);
  }
  return needed;
}

std::vector<std::uint64_t> JobCheckpoints::keep_list() const {
  std::vector<std::uint64_t> numbers;
  for (const Checkpoint& checkpoint : committed_) numbers.push_back(checkpoint.number);
  if (taking_) numbers.push_back(taking_->checkpoint.number);
  const std::uint64_t newest = std::max<std::uint64_t>(last_number_, 1);
  if (numbers.empty() || numbers.back() != newest) numbers.push_back(newest);
  return numbers;
}

CheckpointCatalogue JobCheckpoints::Catalogue(std::vector<Checkpoint> committed) const {
  const std::set<std::uint64_t> needed = Needed(committed);
  std::erase_if(committed, [&](const Checkpoint& each) { return !needed.contains(each.number); });
  return {.last_number = last_number_,
          .count = count_,
          .term = term_,
          .checkpoints = std::move(committed)};
}

// ---- Holders ------------------------------------------------------------------------------------

// Who took the last image of a chain has been given the others, too.
void JobCheckpoints::AddHoldersOfChain(const Checkpoint& taken, const CheckpointPart& part) {
  for (const std::uint64_t number : ChainOf(taken.base)) {
    for (Checkpoint& earlier : committed_) {
      if (earlier.number != number) continue;
      for (CheckpointPart& of_host : earlier.parts) {
        if (of_host.host != part.host) continue;
        for (const std::string& holder : part.holders) {
          auto& holders = of_host.holders;
          std::erase(of_host.former, holder);
          if (std::find(holders.begin(), holders.end(), holder) == holders.end())
            holders.push_back(holder);
        }
      }
    }
  }
}

CheckpointOrders JobCheckpoints::OnNodeStores(const std::string& node,
                                              const std::set<std::uint64_t>& numbers) {
  CheckpointOrders orders;
  if (taking_)
    SetHolder(taking_->checkpoint, node,
              numbers.contains(taking_->checkpoint.number) ? Holds::kAll : Holds::kNotAll);
  for (Checkpoint& checkpoint : committed_) {
    const std::vector<std::uint64_t> chain = ChainOf(checkpoint.number);
    const bool has_all = std::all_of(
        chain.begin(), chain.end(), [&](std::uint64_t number) { return numbers.contains(number); });
    SetHolder(checkpoint, node, has_all ? Holds::kAll : Holds::kNotAll);
  }
  if (numbers.empty()) return orders;
  touched_.insert(node);
  orders.keeps.push_back({node, keep_list()});
  last_number_ = std::max(last_number_, *numbers.rbegin());  // The journal may be an older copy.
  for (const std::uint64_t number : numbers) orders.release_held.push_back({node, number});
  return orders;
}

std::size_t JobCheckpoints::CopiesOfLast(const LiveNodes& live) const {
  if (committed_.empty()) return 0;
  std::size_t fewest = 1 + std::size_t{copies_};
  for (const CheckpointPart& part : committed_.back().parts) {
    if (!part.share.empty()) continue;
    const auto up = std::count_if(part.holders.begin(), part.holders.end(),
                                  [&](const std::string& node) { return live.contains(node); });
    fewest = std::min(fewest, static_cast<std::size_t>(up));
  }
  return fewest;
}

bool JobCheckpoints::IsHolder(const std::string& node) const {
  for (const Checkpoint& checkpoint : committed_)
    for (const CheckpointPart& part : checkpoint.parts)
      if (part.share.empty() &&
          std::find(part.holders.begin(), part.holders.end(), node) != part.holders.end())
        return true;
  return false;
}

bool JobCheckpoints::LacksCopies(const LiveNodes& live) const {
  return !committed_.empty() &&
         CopiesOfLast(live) < std::min(1 + std::size_t{copies_}, live.size());
}

std::vector<CheckpointOrders::Keep> JobCheckpoints::Drop() {
  committed_.clear();
  std::vector<CheckpointOrders::Keep> keeps;
  for (const std::string& node : std::exchange(touched_, {})) keeps.push_back({node, {}});
  return keeps;
}

// ---- Going back ---------------------------------------------------------------------------------

const Checkpoint* JobCheckpoints::Best(const LiveNodes& live) const {
  for (auto each = committed_.rbegin(); each != committed_.rend(); ++each)
    if (!damaged_.contains(each->number) && CanBeHad(*each, live)) return &*each;
  return nullptr;
}

std::vector<std::string> JobCheckpoints::Awaited(const LiveNodes& live) const {
  if (Best(live) != nullptr) return {};
  for (auto each = committed_.rbegin(); each != committed_.rend(); ++each) {
    if (damaged_.contains(each->number) || !IsHeld(*each)) continue;
    std::set<std::string> away;
    for (const CheckpointPart& part : each->parts)
      if (!IsUp(part, live)) away.insert(part.holders.begin(), part.holders.end());
    return {away.begin(), away.end()};
  }
  return {};
}

void JobCheckpoints::OnDamaged(std::uint64_t number) { damaged_.insert(number); }

std::optional<CheckpointCatalogue> JobCheckpoints::GoBackTo(std::uint64_t number) {
  next_is_full_ = true;
  std::erase_if(committed_, [&](const Checkpoint& each) { return each.number > number; });
  if (count_ == 0) return std::nullopt;
  return Catalogue(committed_);  // Always: what was forgotten earlier may still be written there.
}

}  // namespace bspnow::coordinator
