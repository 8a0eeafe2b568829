#include "runtime/transfers/registration_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "base/clock.h"
#include "base/mapped_region.h"

namespace bspnow::runtime {
namespace {

class RegistrationTableTest : public testing::Test {
 protected:
  RegistrationTableTest() {
    table_.Attach(SlotAreas(reinterpret_cast<RegisteredArea*>(areas_.data()), 1),
                  reinterpret_cast<std::uint64_t*>(pops_even_.data()),
                  reinterpret_cast<std::uint64_t*>(pops_odd_.data()));
  }

  // As in a restored process: into a segment that is new, and superstep 0 of another epoch.
  void AttachElsewhere(RegistrationTable& table) {
    areas_ = MappedRegion::Private(kSlotsMax * sizeof(RegisteredArea));
    table.Attach(SlotAreas(reinterpret_cast<RegisteredArea*>(areas_.data()), 1),
                 reinterpret_cast<std::uint64_t*>(pops_even_.data()),
                 reinterpret_cast<std::uint64_t*>(pops_odd_.data()));
    table.PushAgain();
    table.Commit();
  }

  MappedRegion areas_ = MappedRegion::Private(kSlotsMax * sizeof(RegisteredArea));
  MappedRegion pops_even_ = MappedRegion::Private(kSlotsMax * sizeof(std::uint64_t));
  MappedRegion pops_odd_ = MappedRegion::Private(kSlotsMax * sizeof(std::uint64_t));
  RegistrationTable table_;
};

TEST_F(RegistrationTableTest, APushIsUsableFromTheNextSuperstep) {
  ASSERT_TRUE(table_.Push(100, 8));
  EXPECT_EQ(table_.Find(100), kNoSlot);
  EXPECT_TRUE(table_.PushedNow(100));
  table_.Commit();
  EXPECT_NE(table_.Find(100), kNoSlot);
  EXPECT_EQ(table_.Area(table_.Find(100)).bytes, 8u);
}

TEST_F(RegistrationTableTest, APoppedAreaIsUsableUntilTheBarrier) {
  ASSERT_TRUE(table_.Push(100, 8));
  table_.Commit();
  ASSERT_TRUE(table_.Pop(100));
  EXPECT_NE(table_.Find(100), kNoSlot);
  table_.Commit();
  EXPECT_EQ(table_.Find(100), kNoSlot);
  EXPECT_FALSE(table_.Pop(100));
}

// Their memory is there, whatever is registered now.
TEST_F(RegistrationTableTest, SlotsThatWereClearedStillCount) {
  EXPECT_TRUE(table_.FitsABlock());
  for (std::uint64_t i = 0; i <= kSlotsOfBlock; ++i) ASSERT_TRUE(table_.Push(100 + 8 * i, 8));
  table_.Commit();
  EXPECT_FALSE(table_.FitsABlock());
  table_.Clear();
  EXPECT_FALSE(table_.FitsABlock());
}

TEST_F(RegistrationTableTest, APopMakesTheOlderSlotValidAgain) {
  ASSERT_TRUE(table_.Push(100, 8));
  table_.Commit();
  ASSERT_TRUE(table_.Push(100, 16));
  table_.Commit();
  EXPECT_EQ(table_.Area(table_.Find(100)).bytes, 16u);
  ASSERT_TRUE(table_.Pop(100));
  table_.Commit();
  EXPECT_EQ(table_.Area(table_.Find(100)).bytes, 8u);
}

TEST_F(RegistrationTableTest, PushAndPopInOneSuperstepTakeEffectInOrder) {
  ASSERT_TRUE(table_.Push(100, 8));
  table_.Commit();
  ASSERT_TRUE(table_.Push(100, 16));
  ASSERT_TRUE(table_.Pop(100));  // The one just pushed.
  EXPECT_EQ(table_.Area(table_.Find(100)).bytes, 8u);
  table_.Commit();
  EXPECT_EQ(table_.Area(table_.Find(100)).bytes, 8u);
}

TEST_F(RegistrationTableTest, NullHoldsASlotButIsNeverFound) {
  ASSERT_TRUE(table_.Push(0, 0));
  table_.Commit();
  EXPECT_EQ(table_.Find(0), kNoSlot);
  EXPECT_TRUE(table_.Pop(0));
}

TEST_F(RegistrationTableTest, VotesDifferWhenPopsNameDifferentSlots) {
  // The example of the paper: x twice on one process, x and then y on the other.
  RegistrationTable other;
  MappedRegion areas = MappedRegion::Private(kSlotsMax * sizeof(RegisteredArea));
  MappedRegion pops = MappedRegion::Private(kSlotsMax * sizeof(std::uint64_t));
  other.Attach(SlotAreas(reinterpret_cast<RegisteredArea*>(areas.data()), 1),
               reinterpret_cast<std::uint64_t*>(pops.data()),
               reinterpret_cast<std::uint64_t*>(pops.data()));
  for (RegistrationTable* table : {&table_, &other}) {
    ASSERT_TRUE(table->Push(100, 8));
    ASSERT_TRUE(table->Push(table == &other ? 200 : 100, 8));
    table->Commit();
    ASSERT_TRUE(table->Pop(100));
  }
  EXPECT_EQ(table_.Vote().pops, other.Vote().pops);
  EXPECT_NE(table_.Vote().digest, other.Vote().digest);
}

TEST_F(RegistrationTableTest, PushingAgainTellsOthersAllThatIsValid) {
  ASSERT_TRUE(table_.Push(100, 8));
  ASSERT_TRUE(table_.Push(200, 16));
  ASSERT_TRUE(table_.Push(0, 0));
  table_.Commit();
  ASSERT_TRUE(table_.Pop(100));
  table_.Commit();
  table_.PushAgain();
  EXPECT_EQ(table_.Vote().pushes, 2u);
  EXPECT_EQ(table_.Vote().pops, 0u);
  std::uint64_t slots[2];
  table_.ListPushes(slots);
  EXPECT_EQ(slots[0], 1u);
  EXPECT_EQ(slots[1], 2u);
  EXPECT_NE(table_.Find(200), kNoSlot);
  table_.Commit();
  EXPECT_FALSE(table_.changed());
  EXPECT_NE(table_.Find(200), kNoSlot);
}

TEST_F(RegistrationTableTest, PushingAgainVotesAlikeWhereSlotsAreAlike) {
  std::uint64_t digests[3];
  for (std::uint64_t k = 0; k < 3; ++k) {
    RegistrationTable table;
    table.Attach(SlotAreas(reinterpret_cast<RegisteredArea*>(areas_.data()), 1),
                 reinterpret_cast<std::uint64_t*>(pops_even_.data()),
                 reinterpret_cast<std::uint64_t*>(pops_odd_.data()));
    const std::uint64_t base = 1000 * k;  // Addresses differ.
    for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_TRUE(table.Push(base + i, 8 + k));
    table.Commit();
    ASSERT_TRUE(table.Pop(base + (k == 2 ? 3 : 2)));
    table.Commit();
    table.PushAgain();
    digests[k] = table.Vote().digest;
  }
  EXPECT_EQ(digests[0], digests[1]);
  EXPECT_NE(digests[0], digests[2]);
}

// Of this thread, so that a busy machine adds little; and the least of some runs.
std::uint64_t LeastNs(const std::function<void()>& work) {
  std::uint64_t least = ~std::uint64_t{0};
  for (int run = 0; run < 3; ++run) {
    const std::uint64_t start_ns = ThreadNs();
    work();
    least = std::min(least, ThreadNs() - start_ns);
  }
  return least;
}

// Ten times as many take some ten times as long; quadratic, they would take a hundred times.
TEST_F(RegistrationTableTest, ManyPopsOfOneAddressDoNotWalkOverEachOther) {
  constexpr std::uint64_t kFew = 2'000;
  const auto push_and_pop = [this](std::uint64_t pops) {
    for (std::uint64_t i = 0; i < 2 * pops; ++i) ASSERT_TRUE(table_.Push(100, 8 + i));
    table_.Commit();
    for (std::uint64_t i = 0; i < pops; ++i) ASSERT_TRUE(table_.Pop(100));
    for (std::uint64_t i = 0; i < pops; ++i) ASSERT_TRUE(table_.Push(100, 1));
    for (std::uint64_t i = 0; i < 2 * pops; ++i) ASSERT_TRUE(table_.Pop(100));
    table_.Commit();
    EXPECT_EQ(table_.Find(100), kNoSlot);
    EXPECT_FALSE(table_.Pop(100));
  };
  push_and_pop(10 * kFew);  // Touches the memory.
  const std::uint64_t few_ns = LeastNs([&] { push_and_pop(kFew); });
  EXPECT_LT(LeastNs([&] { push_and_pop(10 * kFew); }), 40 * few_ns);
}

// Against a sequence that is searched from its end, as the paper describes it.
TEST_F(RegistrationTableTest, AgreesWithTheSequenceOfThePaper) {
  struct Entry {
    std::uint64_t address;
    std::uint64_t bytes;
  };
  const auto newest = [](std::vector<Entry>& sequence, std::uint64_t address) {
    for (std::size_t i = sequence.size(); i-- > 0;) {
      if (sequence[i].address == address) return sequence.begin() + static_cast<std::ptrdiff_t>(i);
    }
    return sequence.end();
  };
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<Entry> valid;
    std::vector<Entry> next;
    RegistrationTable table;
    table.Attach(SlotAreas(reinterpret_cast<RegisteredArea*>(areas_.data()), 1),
                 reinterpret_cast<std::uint64_t*>(pops_even_.data()),
                 reinterpret_cast<std::uint64_t*>(pops_odd_.data()));
    // Many addresses and short supersteps, or few and long ones.
    const bool many = seed % 2 != 0;
    for (int step = 0; step < 3000; ++step) {
      const std::uint64_t address = 8 * (1 + random() % (many ? 200 : 3));
      const unsigned action = many ? random() % 16 : random() % 500 == 0 ? 15 : random() % 15;
      if (action < 7) {
        const std::uint64_t bytes = 1 + random() % 1000;
        ASSERT_TRUE(table.Push(address, bytes));
        next.push_back({address, bytes});
      } else if (action < 12) {
        const auto found = newest(next, address);
        ASSERT_EQ(table.Pop(address), found != next.end());
        if (found != next.end()) next.erase(found);
      } else if (action < 15) {
        const auto found = newest(valid, address);
        const SlotId slot = table.Find(address);
        ASSERT_EQ(slot != kNoSlot, found != valid.end());
        if (slot != kNoSlot) {
          ASSERT_EQ(table.Area(slot).bytes, found->bytes);
        }
      } else {
        table.Commit();
        valid = next;
        if (random() % 8 == 0) AttachElsewhere(table);
      }
    }
  }
}

}  // namespace
}  // namespace bspnow::runtime
