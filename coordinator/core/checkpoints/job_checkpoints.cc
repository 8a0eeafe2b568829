#include "coordinator/core/checkpoints/job_checkpoints.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/link_feature.h"

namespace bspnow::coordinator {
namespace {

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Empty: they name none, as those of older workers.
std::string LinkFeatureAmong(const std::vector<std::string>& features) {
  const auto is_link = [](const std::string& feature) { return feature.starts_with(kLinkFeature); };
  const auto found = std::find_if(features.begin(), features.end(), is_link);
  return found == features.end() ? "" : *found;
}

// What supersteps after the image have cost is none of its own.
void TakeTotals(const proto::JobTotals& totals, Checkpoint& checkpoint) {
  if (totals.supersteps() <= Value(checkpoint.superstep) &&
      totals.supersteps() > checkpoint.totals.supersteps())
    checkpoint.totals = totals;
}

// Of the second half every other one; the newest stays.
void Thin(std::vector<proto::JobTotals>& kept) {
  static_assert(kTotalsMax % 4 == 0, "the last one has an odd place in the second half");
  std::size_t to = kTotalsMax / 2;
  for (std::size_t from = to + 1; from < kTotalsMax; from += 2) kept[to++] = std::move(kept[from]);
  kept.resize(to);
}

}  // namespace

// An older copy of all that the coordinator has gives out numbers of jobs again, too. Before a
// cluster's first term there was nobody.
JobCheckpoints::JobCheckpoints(const Plan& plan)
    : copies_(plan.copies), term_(plan.term), term_key_(plan.term_key) {
  if (term_ > 1) SkipTerms(term_);
}

// What they gave out, whoever was the coordinator then.
void JobCheckpoints::SkipTerms(std::uint64_t terms) {
  last_number_ += kAttemptsMax * (kFirstNumbersOfTerm * terms + term_key_ % kFirstNumbersOfTerm);
}

void JobCheckpoints::Restore(CheckpointCatalogue catalogue) {
  BSP_CHECK(!taking_ && committed_.empty());
  committed_ = std::move(catalogue.checkpoints);
  count_ = catalogue.count;
  last_number_ = catalogue.last_number;
  SkipTerms(term_ - std::min(term_, catalogue.term));
  for (const Checkpoint& checkpoint : committed_)
    for (const CheckpointPart& part : checkpoint.parts)
      touched_.insert(part.holders.begin(), part.holders.end());
}

// ---- One checkpoint -----------------------------------------------------------------------------

std::optional<JobCheckpoints::Asked> JobCheckpoints::Ask(std::vector<std::string> hosts, Hold hold,
                                                         SoFar so_far) {
  if (taking_ || hosts.empty() || attempts_ == kAttemptsMax) return std::nullopt;
  attempts_ += 1;
  taking_ = Taking{};
  Taking& taking = *taking_;
  taking.checkpoint.number = ++last_number_;
  taking.checkpoint.totals = std::move(so_far.totals);
  taking.checkpoint.left = std::move(so_far.left);
  taking.hold = hold;
  const bool full =
      next_is_full_ || committed_.empty() || ChainOf(committed_.back().number).size() >= kChainMax;
  if (!full) taking.checkpoint.base = committed_.back().number;
  taking.told.insert(hosts.begin(), hosts.end());
  touched_.insert(hosts.begin(), hosts.end());
  taking.hosts = std::move(hosts);
  next_is_full_ = true;  // Unless this one is committed.
  epoch_over_ = false;
  return Asked{.number = taking.checkpoint.number, .base = taking.checkpoint.base};
}

CheckpointOrders JobCheckpoints::OnStored(const std::string& host, const Stored& stored,
                                          const LiveNodes& live) {
  if (stored.number != under_way_number()) {
    CheckpointOrders orders;
    orders.release_held.push_back({host, stored.number});
    return orders;
  }
  if (taking_->stage != Stage::kAsked || PartOf(host) != nullptr) return {};
  if (const std::string why = Disagreement(host, stored); !why.empty()) return GiveUpNow(why);
  TakePart(host, stored, live);
  if (taking_->checkpoint.parts.size() < taking_->hosts.size()) return {};
  const auto by_first_pid = [](const CheckpointPart& a, const CheckpointPart& b) {
    return a.images.front().pid < b.images.front().pid;
  };
  std::sort(taking_->checkpoint.parts.begin(), taking_->checkpoint.parts.end(), by_first_pid);
  if (const std::string why = MissingImage(); !why.empty()) return GiveUpNow(why);
  taking_->stage = Stage::kCopying;
  return CopyOrCommit(live);
}

void JobCheckpoints::TakePart(const std::string& host, const Stored& stored,
                              const LiveNodes& live) {
  Checkpoint& checkpoint = taking_->checkpoint;
  checkpoint.superstep = stored.superstep;
  checkpoint.participants = stored.participants;
  checkpoint.of_areas = stored.of_areas;
  for (const proto::JobTotals& totals : std::exchange(taking_->totals, {}))
    TakeTotals(totals, checkpoint);
  CheckpointCost& cost = checkpoint.cost;
  cost.pause_ns = std::max(cost.pause_ns, stored.cost.pause_ns);
  cost.background_ns = std::max(cost.background_ns, stored.cost.background_ns);
  std::set<std::string> features(checkpoint.cpu_features.begin(), checkpoint.cpu_features.end());
  features.insert(stored.cpu_features.begin(), stored.cpu_features.end());
  checkpoint.cpu_features.assign(features.begin(), features.end());
  const auto node = live.find(host);
  CheckpointPart part{.host = host,
                      .images = stored.images,
                      .holders = {host},
                      .share = node == live.end() ? "" : node->second};
  const auto by_pid = [](const SavedImage& a, const SavedImage& b) { return a.pid < b.pid; };
  std::sort(part.images.begin(), part.images.end(), by_pid);
  checkpoint.parts.push_back(std::move(part));
}

bool JobCheckpoints::OnTotals(const proto::JobTotals& totals) {
  if (!committed_.empty()) TakeTotals(totals, committed_.back());
  if (taking_ && taking_->checkpoint.parts.empty()) {
    std::vector<proto::JobTotals>& kept = taking_->totals;
    const std::uint64_t newest = kept.empty() ? 0 : kept.back().supersteps();
    if (totals.supersteps() <= newest) return true;
    if (kept.size() == kTotalsMax) Thin(kept);
    kept.push_back(totals);
    return true;
  }
  if (taking_) TakeTotals(totals, taking_->checkpoint);
  const Checkpoint* const newest = taking_ ? &taking_->checkpoint : last();
  return newest != nullptr && totals.supersteps() < Value(newest->superstep);
}

// A peer's words: checked, not believed.
std::string JobCheckpoints::Disagreement(const std::string& host, const Stored& stored) const {
  if (!Contains(taking_->hosts, host) || stored.images.empty())
    return absl::StrCat("node ", host, " has no part in it");
  const Checkpoint& checkpoint = taking_->checkpoint;
  if (checkpoint.parts.empty()) return "";
  const std::string link = LinkFeatureAmong(stored.cpu_features);
  const std::string others = LinkFeatureAmong(checkpoint.cpu_features);
  if (!link.empty() && !others.empty() && link != others)
    return absl::StrCat("node ", host, " has ", link, ", others ", others,
                        ": no node could go on with the images of both");
  if (stored.superstep == checkpoint.superstep && stored.participants == checkpoint.participants &&
      stored.of_areas == checkpoint.of_areas)
    return "";
  return absl::StrCat("node ", host, " saved ", stored.participants, " processes at superstep ",
                      Value(stored.superstep), ", others ", checkpoint.participants, " at ",
                      Value(checkpoint.superstep));
}

std::string JobCheckpoints::MissingImage() const {
  std::set<Pid> pids;
  std::size_t images = 0;
  for (const CheckpointPart& part : taking_->checkpoint.parts) {
    images += part.images.size();
    for (const SavedImage& image : part.images) pids.insert(image.pid);
  }
  const std::uint32_t p = taking_->checkpoint.participants;
  const bool all = p != 0 && pids.size() == p && images == p && *pids.rbegin() == Pid{p - 1};
  return all ? "" : absl::StrCat("its nodes saved ", images, " images of ", p, " processes");
}

// ---- Copies -------------------------------------------------------------------------------------

CheckpointOrders JobCheckpoints::CopyOrCommit(const LiveNodes& live) {
  CheckpointOrders orders;
  bool enough = true;
  ImagesByNode to_take;  // Counted when it is needed.
  taking_->copied.resize(taking_->checkpoint.parts.size());
  for (std::size_t i = 0; i < taking_->copied.size(); ++i) {
    if (taking_->copied[i]) continue;
    const CheckpointPart& part = taking_->checkpoint.parts[i];
    const Need need = CopyPart(part, live, to_take, orders);
    if (need == Need::kFailed)
      return GiveUpNow(absl::StrCat("no other node takes the images of node ", part.host, ": ",
                                    taking_->copying[part.host].failure));
    taking_->copied[i] = need == Need::kNone;
    enough = enough && need == Need::kNone;
  }
  if (!enough) return orders;
  taking_->stage = Stage::kCommitting;
  std::vector<Checkpoint> committed = committed_;
  committed.push_back(taking_->checkpoint);
  orders.commit = Catalogue(std::move(committed));
  orders.commit->count = count_ + 1;
  return orders;
}

// Asks for the copies that are missing, as far as there are nodes for them.
JobCheckpoints::Need JobCheckpoints::CopyPart(const CheckpointPart& part, const LiveNodes& live,
                                              ImagesByNode& to_take, CheckpointOrders& orders) {
  if (!part.share.empty()) return Need::kNone;
  const auto lives = [&](const std::string& node) { return live.contains(node); };
  Copying& copying = taking_->copying[part.host];
  // Its host may be about to leave: then it does not count.
  const auto holders =
      static_cast<std::size_t>(std::count_if(part.holders.begin(), part.holders.end(), lives));
  while (holders + copying.to.size() < 1 + std::size_t{copies_}) {
    if (to_take.empty()) to_take = ImagesToTake();
    const std::string partner = PartnerOf(part, live, to_take);
    if (partner.empty()) break;
    to_take[partner] += part.images.size();
    std::vector<std::uint64_t> chain = ChainOf(taking_->checkpoint.base);
    chain.push_back(taking_->checkpoint.number);
    copying.to.insert(partner);
    taking_->told.insert(partner);
    touched_.insert(partner);
    orders.copies.push_back({.host = part.host,
                             .checkpoint = taking_->checkpoint.number,
                             .chain = std::move(chain),
                             .to_node = partner});
  }
  if (!copying.to.empty()) return Need::kUnderWay;
  const bool refused = std::any_of(copying.tried.begin(), copying.tried.end(), lives);
  return refused && holders < 1 + std::size_t{copies_} ? Need::kFailed : Need::kNone;
}

// The one that has the chain already, else the one with the fewest images to take; among equals the
// next after the host, so that neighbours do not all choose the same.
std::string JobCheckpoints::PartnerOf(const CheckpointPart& part, const LiveNodes& live,
                                      ImagesByNode& to_take) const {
  const Copying& copying = taking_->copying.at(part.host);
  const auto suits = [&](const std::string& node) {
    return live.contains(node) && !Contains(part.holders, node) && !copying.to.contains(node) &&
           !copying.tried.contains(node);
  };
  if (const Checkpoint* base = Find(taking_->checkpoint.base))
    for (const CheckpointPart& earlier : base->parts)
      if (earlier.host == part.host)
        for (const std::string& holder : earlier.holders)
          if (suits(holder)) return holder;
  std::string best;
  auto node = live.upper_bound(part.host);
  for (std::size_t i = 0; i < live.size(); ++i, ++node) {
    if (node == live.end()) node = live.begin();
    if (!suits(node->first)) continue;
    if (best.empty() || to_take[node->first] < to_take[best]) best = node->first;
    if (to_take[best] == 0) break;  // As a rule, soon: no search through all for each part.
  }
  return best;
}

JobCheckpoints::ImagesByNode JobCheckpoints::ImagesToTake() const {
  ImagesByNode images;
  for (const CheckpointPart& part : taking_->checkpoint.parts) {
    for (const std::string& holder : part.holders)
      if (holder != part.host) images[holder] += part.images.size();
    const auto copying = taking_->copying.find(part.host);
    if (copying == taking_->copying.end()) continue;
    for (const std::string& to : copying->second.to) images[to] += part.images.size();
  }
  return images;
}

CheckpointOrders JobCheckpoints::OnCopied(const std::string& host, std::uint64_t number,
                                          const std::string& to_node, const std::string& failure,
                                          const LiveNodes& live) {
  if (number != under_way_number() || taking_->stage != Stage::kCopying) return {};
  const auto found = taking_->copying.find(host);
  if (found == taking_->copying.end() || found->second.to.erase(to_node) == 0) return {};
  Copying& copying = found->second;
  if (failure.empty()) {
    PartOf(host)->holders.push_back(to_node);
  } else {
    copying.tried.insert(to_node);
    copying.failure = failure;
  }
  return CopyOrCommit(live);
}

// ---- How it ends --------------------------------------------------------------------------------

CheckpointOrders JobCheckpoints::OnCommitted(std::uint64_t number, std::int64_t unix_ms) {
  if (number != under_way_number() || taking_->stage != Stage::kCommitting) return {};
  Taking taken = *std::exchange(taking_, std::nullopt);
  taken.checkpoint.committed_unix_ms = unix_ms;
  for (const CheckpointPart& part : taken.checkpoint.parts)
    AddHoldersOfChain(taken.checkpoint, part);
  CheckpointOrders orders;
  orders.end = {.number = number, .hold = taken.hold, .failure = "", .cost = taken.checkpoint.cost};
  committed_.push_back(std::move(taken.checkpoint));
  const std::set<std::uint64_t> needed = Needed(committed_);
  std::erase_if(committed_, [&](const Checkpoint& each) { return !needed.contains(each.number); });
  count_ += 1;
  attempts_ = 0;
  next_is_full_ = epoch_over_;
  for (const std::string& node : touched_) orders.keeps.push_back({node, keep_list()});
  return orders;
}

CheckpointOrders JobCheckpoints::OnCommitFailed(std::uint64_t number, const std::string& why) {
  if (number != under_way_number() || taking_->stage != Stage::kCommitting) return {};
  return GiveUpNow(why);
}

CheckpointOrders JobCheckpoints::OnFailed(const std::string& host, std::uint64_t number,
                                          const std::string& reason) {
  if (number != under_way_number() || taking_->stage == Stage::kCommitting) {
    CheckpointOrders orders;
    if (number != under_way_number()) orders.release_held.push_back({host, number});
    return orders;
  }
  return GiveUpNow(absl::StrCat("node ", host, ": ", reason));
}

CheckpointOrders JobCheckpoints::OnNodeLost(const std::string& node, const LiveNodes& live) {
  if (!taking_ || taking_->stage == Stage::kCommitting) return {};
  if (Contains(taking_->hosts, node)) return GiveUpNow(absl::StrCat("node ", node, " was lost"));
  if (taking_->stage != Stage::kCopying) return {};
  bool concerned = false;
  for (CheckpointPart& part : taking_->checkpoint.parts) {
    concerned |= std::erase(part.holders, node) != 0;
    concerned |= taking_->copying[part.host].to.erase(node) != 0;
  }
  if (concerned) taking_->copied.clear();
  return concerned ? CopyOrCommit(live) : CheckpointOrders{};
}

CheckpointOrders JobCheckpoints::GiveUp(const std::string& why) {
  epoch_over_ = true;
  next_is_full_ = true;
  if (!taking_ || taking_->stage == Stage::kCommitting) return {};
  return GiveUpNow(why);
}

CheckpointOrders JobCheckpoints::GiveUpNow(const std::string& why) {
  const Taking taken = *std::exchange(taking_, std::nullopt);
  CheckpointOrders orders;
  for (const std::string& node : taken.told)
    orders.release_held.push_back({node, taken.checkpoint.number});
  orders.end = {.number = taken.checkpoint.number,
                .hold = taken.hold,
                .failure = why,
                .cost = taken.checkpoint.cost};
  orders.numbers = NumbersToStore();
  return orders;
}

std::optional<CheckpointCatalogue> JobCheckpoints::NumbersToStore() {
  if (attempts_ != kAttemptsMax || std::exchange(storing_numbers_, true)) return std::nullopt;
  return Catalogue(committed_);
}

}  // namespace bspnow::coordinator
