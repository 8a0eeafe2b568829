// How processes are shared among nodes: as if they were given out one by one, each to the node that
// carries the least and may have more, among equals to the first.
#include "coordinator/core/jobs/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "coordinator/core/jobs/scheduler_fixture.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// Of one node: what it has been given, at most, and what that is divided by.
struct Given {
  std::uint64_t first;  ///< That it had from the beginning.
  std::uint64_t count;
  std::uint64_t limit;
  std::uint64_t share;
};

/// None has one more than it should, while another that may have it carries less.
void ExpectEven(const std::vector<Given>& given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].count == given[i].first) continue;
    const std::pair last(1.0 * (given[i].count - 1) / given[i].share, i);
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (k == i || given[k].count >= given[k].limit) continue;
      EXPECT_LT(last, std::pair(1.0 * given[k].count / given[k].share, k)) << i << " " << k;
    }
  }
}

class PlacementTest : public testing::Test {
 protected:
  void AddNodes(std::uint32_t count, std::uint32_t slots_max) {
    for (std::uint32_t id = 1; id <= count; ++id) {
      nodes_.push_back(Node(id, 1 + random_() % slots_max));
      nodes_.back().memory_bytes = (1 + random_() % 500) * kMiB;
    }
  }

  std::vector<NodeShare> PlaceAll(const SlotClaim& claim) {
    std::vector<FreeNode> free;
    for (const SchedulerNode& node : nodes_)
      free.push_back(
          {.node = &node, .slots = node.slots, .accounts = 0, .memory_bytes = node.memory_bytes});
    return Place(claim, SlotsNeeded(claim, free), free).value_or(std::vector<NodeShare>());
  }

  const SchedulerNode& NodeOf(const NodeShare& share) const {
    return nodes_[Value(share.worker) - 1];
  }

  std::mt19937 random_{1};
  std::vector<SchedulerNode> nodes_;
};

TEST_F(PlacementTest, ProcessesAreSharedAsEvenlyAsSlotsAllow) {
  int placed = 0;
  for (int attempt = 0; attempt < 300; ++attempt) {
    SCOPED_TRACE(attempt);
    nodes_.clear();
    AddNodes(1 + random_() % 40, 1 + random_() % 64);
    SlotClaim claim = Claim(1 + random_() % 6000);
    claim.oversubscribe = true;
    claim.memory_bytes = random_() % 2 * kMiB;
    claim.nodes = random_() % 2 == 0 ? 0 : 1 + random_() % 10;
    const std::vector<NodeShare> shares = PlaceAll(claim);
    std::vector<Given> slots, processes;
    std::uint64_t sum = 0;
    for (const NodeShare& share : shares) {
      const SchedulerNode& node = NodeOf(share);
      std::uint64_t limit = kProcessesOfNodeMax;
      if (claim.memory_bytes != 0) limit = std::min(limit, node.memory_bytes / kMiB);
      const std::uint64_t slots_max = std::min<std::uint64_t>(node.slots, limit);
      slots.push_back({.first = 0, .count = share.slots, .limit = slots_max, .share = 1});
      processes.push_back(
          {.first = share.slots, .count = share.pids.size(), .limit = limit, .share = share.slots});
      EXPECT_LE(share.pids.size(), limit);
      sum += share.pids.size();
    }
    if (shares.empty()) continue;
    ++placed;
    EXPECT_EQ(sum, claim.nprocs);
    ExpectEven(processes);
    if (claim.nodes != 0) ExpectEven(slots);
  }
  EXPECT_GT(placed, 50);
}

TEST_F(PlacementTest, ManyProcessesOnManyNodesFillWhatTheyMay) {
  AddNodes(1000, 64);
  SlotClaim claim = Claim(200'000);
  claim.oversubscribe = true;
  claim.memory_bytes = kMiB;
  std::uint64_t most = 0;
  for (const SchedulerNode& node : nodes_) most += node.memory_bytes / kMiB;
  ASSERT_GT(most, claim.nprocs);
  EXPECT_EQ(PlaceAll(claim).size(), nodes_.size());
  claim.nprocs = static_cast<std::uint32_t>(most);
  EXPECT_EQ(PlaceAll(claim).size(), nodes_.size());
  claim.nprocs += 1;
  EXPECT_TRUE(PlaceAll(claim).empty());
}

}  // namespace
}  // namespace bspnow::coordinator
