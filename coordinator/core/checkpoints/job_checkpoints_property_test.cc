// Any order of events: nodes store, fail, copy, die and come back; the journal takes commits or
// not; the job loses its epoch and goes back. What must hold is checked after each event.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/checkpoints/job_checkpoints.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint32_t kNodes = 5;
constexpr std::uint32_t kCopies = 1;

class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed), job_({.copies = kCopies, .term = 1}) {
    for (std::uint32_t i = 0; i < kNodes; ++i) up_.insert(Name(i));
    StartEpoch();
  }

  void Step() {
    switch (random_() % 12) {
      case 0:
        return Ask();
      case 1:
      case 2:
      case 3:
        return Store();
      case 4:
      case 5:
      case 6:
        return FinishCopy();
      case 7:
      case 8:
        return Journal();
      case 9:
        return Fail();
      case 10:
        return Lose();
      default:
        return ComeBack();
    }
  }

  /// Everything that was said must hold now.
  void Check() {
    CheckCommitted();
    CheckKept();
    CheckOneLossIsBorne();
    if (!job_.under_way()) {
      ASSERT_TRUE(waiting_.empty()) << "nobody lets go node " << *waiting_.begin();
    }
  }

  std::uint64_t commits() const { return commits_; }
  std::uint64_t lacks() const { return lacks_; }

 private:
  static std::string Name(std::uint64_t i) { return std::string(1, static_cast<char>('a' + i)); }

  LiveNodes Live() const {
    LiveNodes live;
    for (const std::string& node : up_) live[node] = "";
    return live;
  }

  std::string AnyOf(const std::set<std::string>& names) {
    return *std::next(names.begin(), static_cast<std::ptrdiff_t>(random_() % names.size()));
  }

  void StartEpoch() {
    hosts_.clear();
    for (const std::string& node : up_)
      if (hosts_.size() < 3 && random_() % 4 != 0) hosts_.push_back(node);
    if (hosts_.empty()) hosts_.push_back(*up_.begin());
  }

  void Ask() {
    const auto asked = job_.Ask(hosts_, random_() % 3 == 0 ? Hold::kYes : Hold::kNo, {});
    if (!asked) return;
    ASSERT_GT(asked->number, last_number_) << "numbers ascend";
    ASSERT_FALSE(asking_.has_value()) << "exactly one is under way";
    last_number_ = asked->number;
    asking_ = *asked;
    superstep_ += 1;
    stored_.clear();
    waiting_ = {hosts_.begin(), hosts_.end()};
    if (asked->base != 0) {
      for (const std::string& host : hosts_)
        ASSERT_TRUE(disks_[host].contains(asked->base))
            << "base " << asked->base << " is not there";
    }
  }

  void Store() {
    if (!asking_) return;
    const std::size_t host = random_() % hosts_.size();
    if (stored_.contains(hosts_[host])) return;
    stored_.insert(hosts_[host]);
    disks_[hosts_[host]].insert(asking_->number);
    JobCheckpoints::Stored stored{.number = asking_->number,
                                  .superstep = Superstep{superstep_},
                                  .participants = static_cast<std::uint32_t>(hosts_.size()),
                                  .of_areas = false,
                                  .images = {{.pid = Pid{static_cast<std::uint32_t>(host)},
                                              .file_bytes = 1,
                                              .output_bytes = 0,
                                              .error_bytes = 0}},
                                  .cpu_features = {},
                                  .cost = {}};
    Perform(job_.OnStored(hosts_[host], stored, Live()));
  }

  void FinishCopy() {
    if (copies_.empty()) return;
    const std::size_t which = random_() % copies_.size();
    const CheckpointOrders::Copy copy = copies_[which];
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(which));
    const bool fails = random_() % 6 == 0 || !up_.contains(copy.to_node);
    if (!fails)
      for (const std::uint64_t number : copy.chain) {
        ASSERT_TRUE(disks_[copy.host].contains(number));
        disks_[copy.to_node].insert(number);
      }
    Perform(
        job_.OnCopied(copy.host, copy.checkpoint, copy.to_node, fails ? "no room" : "", Live()));
  }

  void Journal() {
    if (!commit_) return;
    const CheckpointCatalogue catalogue = *std::exchange(commit_, std::nullopt);
    const Checkpoint& newest = catalogue.checkpoints.back();
    if (random_() % 5 == 0) return Perform(job_.OnCommitFailed(newest.number, "full"));
    CheckEnoughHolders(newest);
    commits_ += 1;
    waiting_.clear();
    asking_.reset();
    Perform(job_.OnCommitted(newest.number, 1));
    ASSERT_EQ(job_.last()->number, newest.number);
    ASSERT_GE(Value(job_.last()->superstep), committed_superstep_);
    committed_superstep_ = Value(job_.last()->superstep);
  }

  /// On as many nodes as there are, or two; counted when the copies were ordered, and nodes that
  /// died since count as they did then.
  void CheckEnoughHolders(const Checkpoint& checkpoint) {
    std::set<Pid> pids;
    for (const CheckpointPart& part : checkpoint.parts) {
      for (const SavedImage& image : part.images) pids.insert(image.pid);
      const std::set<std::string> holders(part.holders.begin(), part.holders.end());
      ASSERT_EQ(holders.size(), part.holders.size());
      ASSERT_GE(holders.size(), std::min<std::size_t>(1 + kCopies, fewest_up_))
          << "checkpoint " << checkpoint.number;
    }
    ASSERT_EQ(pids.size(), checkpoint.participants);
    ASSERT_EQ(checkpoint.superstep, Superstep{superstep_});
  }

  void Fail() {
    if (!asking_ || stored_.size() == hosts_.size()) return;
    Perform(job_.OnFailed(hosts_[random_() % hosts_.size()], asking_->number, "a socket"));
  }

  void Lose() {
    if (up_.size() == 1) return;
    const std::string node = AnyOf(up_);
    up_.erase(node);
    fewest_up_ = std::min(fewest_up_, up_.size());
    std::erase_if(copies_, [&](const auto& copy) { return copy.host == node; });
    Perform(job_.OnNodeLost(node, Live()));
    if (std::find(hosts_.begin(), hosts_.end(), node) == hosts_.end()) return;
    Perform(job_.GiveUp("epoch over"));
    if (commit_) Journal();  // The next epoch is placed after it, in the journal.
    fewest_up_ = up_.size();
    const Checkpoint* best = job_.Best(Live());
    const bool worse = best == nullptr || best->number != (job_.last() ? job_.last()->number : 0);
    if (best == nullptr && !job_.Awaited(Live()).empty()) ReturnAll();
    best = job_.Best(Live());
    job_.GoBackTo(best == nullptr ? 0 : best->number);
    if (worse) committed_superstep_ = best == nullptr ? 0 : Value(best->superstep);
    superstep_ = std::max<std::uint64_t>(committed_superstep_, 0);
    StartEpoch();
  }

  void ComeBack() {
    for (std::uint32_t i = 0; i < kNodes; ++i) {
      if (up_.contains(Name(i)) || random_() % 2 == 0) continue;
      return Return(Name(i));
    }
  }

  void Return(const std::string& node) {
    up_.insert(node);
    if (random_() % 8 == 0) disks_[node].clear();
    Perform(job_.OnNodeStores(node, disks_[node]));
  }

  void ReturnAll() {
    for (std::uint32_t i = 0; i < kNodes; ++i)
      if (!up_.contains(Name(i))) Return(Name(i));
  }

  void Perform(const CheckpointOrders& orders) {
    for (const auto& copy : orders.copies) copies_.push_back(copy);
    if (orders.commit) commit_ = orders.commit;
    if (orders.numbers) job_.OnNumbersStored();
    for (const auto& keep : orders.keeps)
      if (up_.contains(keep.node)) Remove(keep);
    for (const auto& release_held : orders.release_held)
      if (!asking_ || release_held.checkpoint == asking_->number) waiting_.erase(release_held.node);
    if (!orders.end) return;
    if (!orders.end->failure.empty()) {
      // Nodes that are gone have nobody who waits.
      std::erase_if(waiting_, [&](const std::string& node) { return !up_.contains(node); });
    }
    asking_.reset();
    copies_.clear();
  }

  /// As the image store does it: nothing newer than the newest of the list.
  void Remove(const CheckpointOrders::Keep& keep) {
    ASSERT_FALSE(keep.checkpoints.empty());
    const std::set<std::uint64_t> kept(keep.checkpoints.begin(), keep.checkpoints.end());
    std::erase_if(disks_[keep.node], [&](std::uint64_t number) {
      return number < *kept.rbegin() && !kept.contains(number);
    });
  }

  void CheckCommitted() {
    const Checkpoint* last = nullptr;
    for (const Checkpoint& checkpoint : job_.committed()) {
      if (last != nullptr) {
        ASSERT_GT(checkpoint.number, last->number);
        ASSERT_GE(checkpoint.superstep, last->superstep);
      }
      last = &checkpoint;
    }
  }

  static std::set<std::string> HoldersOf(const Checkpoint& checkpoint) {
    std::set<std::string> holders;
    for (const CheckpointPart& part : checkpoint.parts)
      holders.insert(part.holders.begin(), part.holders.end());
    return holders;
  }

  /// What a committed one needs is on the disk of everybody who is said to hold it.
  void CheckKept() {
    for (const Checkpoint& checkpoint : job_.committed()) {
      const std::vector<std::uint64_t> chain = job_.ChainOf(checkpoint.number);
      ASSERT_LE(chain.size(), kChainMax);
      ASSERT_EQ(chain.size() == 1, checkpoint.base == 0) << "a base is missing";
      const std::vector<std::uint64_t> keep = job_.keep_list();
      for (const std::uint64_t number : chain) {
        ASSERT_NE(std::find(keep.begin(), keep.end(), number), keep.end());
        for (const std::string& holder : HoldersOf(checkpoint)) {
          if (!up_.contains(holder)) continue;
          ASSERT_TRUE(disks_[holder].contains(number))
              << "checkpoint " << number << " is gone from " << holder;
        }
      }
    }
  }

  /// If nothing is said to be missing, the last one outlives whichever node is lost next.
  void CheckOneLossIsBorne() {
    if (job_.last() == nullptr || up_.size() == 1) return;
    if (job_.LacksCopies(Live())) {
      lacks_ += 1;
      return;
    }
    for (const std::string& node : up_) {
      LiveNodes live = Live();
      live.erase(node);
      ASSERT_EQ(job_.Best(live), job_.last()) << "node " << node;
    }
  }

  std::mt19937_64 random_;
  JobCheckpoints job_;
  std::set<std::string> up_;
  std::vector<std::string> hosts_;
  std::map<std::string, std::set<std::uint64_t>> disks_;
  std::optional<JobCheckpoints::Asked> asking_;
  std::set<std::string> stored_;
  std::set<std::string> waiting_;  ///< Nodes whose processes the one asked for may hold.
  std::vector<CheckpointOrders::Copy> copies_;
  std::optional<CheckpointCatalogue> commit_;
  std::uint64_t superstep_ = 0;
  std::uint64_t committed_superstep_ = 0;
  std::uint64_t last_number_ = 0;
  std::uint64_t commits_ = 0;
  std::uint64_t lacks_ = 0;
  std::size_t fewest_up_ = kNodes;
};

TEST(JobCheckpointsPropertyTest, HoldsForAnyOrderOfEvents) {
  std::uint64_t commits = 0;
  std::uint64_t lacks = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Model model(seed);
    for (int step = 0; step < 400; ++step) {
      model.Step();
      model.Check();
      if (testing::Test::HasFatalFailure()) return;
    }
    commits += model.commits();
    lacks += model.lacks();
  }
  EXPECT_GT(commits, 2000u);  // Else it proves little.
  EXPECT_GT(lacks, 2000u);
}

}  // namespace
}  // namespace bspnow::coordinator
