// Groups within one node.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/mapped_region.h"
#include "base/unique_fd.h"
#include "runtime/link/link_segment.h"
#include "runtime/spare_regions.h"
#include "runtime/testing/group_tree.h"
#include "runtime/testing/nodes.h"

namespace bspnow::runtime {
namespace {

enum class Checks { kUsual, kFull };

JobOutcome RunOnOneNode(std::uint32_t p, const std::function<void(Process&)>& program,
                        Checks checks = Checks::kUsual) {
  return RunOnNodes(
      {.node_of = std::vector<std::uint32_t>(p, 0), .check_full = checks == Checks::kFull},
      [&](Process& process) {
        process.Begin(p);
        program(process);
        process.End(0);
      });
}

TEST(GroupsTest, RandomTreesGiveWhatTheModelSays) {
  for (const std::uint32_t p : {1u, 2u, 3u, 5u, 8u}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(testing::Message() << "p = " << p << ", seed " << seed);
      ExpectAllEndWell(
          RunOnOneNode(p, [&](Process& process) { RunGroupTree(process, seed * 100 + p); }));
    }
  }
}

TEST(GroupsTest, RandomTreesGiveTheSameWithBspCheckFull) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    ExpectAllEndWell(RunOnOneNode(
        4, [&](Process& process) { RunGroupTree(process, seed); }, Checks::kFull));
  }
}

// A program may have a name of any of them.
TEST(NamedMemoryTest, StaysMappedHoweverMuchWasTaken) {
  NamedMemory named;
  std::set<std::byte*> taken;
  for (int i = 0; i < 200; ++i) taken.insert(named.Take(100));
  EXPECT_EQ(taken.size(), 200u);
  for (std::byte* memory : taken) named.GiveBack(memory);
  for (std::byte* memory : taken) EXPECT_EQ(*memory, std::byte{0});
  for (int i = 0; i < 200; ++i) EXPECT_EQ(taken.erase(named.Take(100)), 1u);
}

// Slots, address space and memory: a program may go on for days.
TEST(GroupsTest, GroupsThatWereLeftLeaveNothing) {
  ExpectAllEndWell(RunOnOneNode(3, [](Process& process) {
    const Segment& segment = process.root().segment();
    const std::uint64_t held = segment.heap_memory();
    process.Sync(0);  // Nobody has sent anything before.
    std::vector<std::byte> large(4 << 20);
    for (std::uint32_t i = 0; i < 2 * kGroupSlotsMax; ++i) {
      Group& group = process.Duplicate(process.root());
      if (i % 512 == 0) {
        group.Send("test", (Value(group.self()) + 1) % 3, nullptr, large.data(), large.size());
        process.Sync(group, 0);
      }
      process.Leave(group);
    }
    process.Sync(0);
    Require(segment.header().groups.used.load() <= kGroupSlotsMax / 2 + 20, "slots are used again");
    const GroupTable& groups = segment.header().groups;
    for (std::uint32_t i = 0; i < groups.used.load(); ++i) {
      const std::uint32_t state = segment.group_slot(i).state.load();
      Require(state == GroupSlot::kFree || state == GroupSlot::kKept, "all slots are free");
    }
    Require(groups.kept_bytes.load() <= kKeptPartsBytesMax, "little is kept for other groups");
    Require(segment.heap_memory() == held, "no memory is held for groups that were left");
  }));
}

// Whoever is ahead in one half does not take the room of the other half.
TEST(GroupsTest, HalvesThatAreOpenedAndLeftInAHurryHaveRoom) {
  ExpectAllEndWell(RunOnOneNode(4, [](Process& process) {
    const std::uint32_t halves[] = {0, 0, 1, 1};
    for (std::uint32_t i = 0; i < 1000; ++i) {
      if (i % 64 == 16 * process.pid()) sched_yield();
      process.Leave(process.Partition(process.root(), halves));
    }
  }));
}

// The others open theirs only when they have passed a barrier of the parent, at which this one is
// missing until it has left all of its own.
TEST(GroupsTest, GroupsCanBeLeftLongBeforeOthersOpenThem) {
  ExpectAllEndWell(RunOnOneNode(3, [](Process& process) {
    const auto open_and_leave = [&process] {
      for (int i = 0; i < 60; ++i) process.Leave(process.Duplicate(process.root()));
    };
    if (process.pid() == 1) open_and_leave();
    process.Sync(0);
    if (process.pid() != 1) open_and_leave();
    process.Sync(0);
  }));
}

TEST(GroupsTest, GroupsThatAreOpenAtTheEndAreNamed) {
  const JobOutcome outcome =
      RunOnOneNode(2, [](Process& process) { process.Duplicate(process.root()); });
  EXPECT_NE(outcome.errors.find("is in 1 groups still"), std::string::npos) << outcome.errors;
}

TEST(GroupsTest, TooManyOpenGroupsAreAnErrorThatSaysWhatToDo) {
  const JobOutcome outcome = RunOnOneNode(2, [](Process& process) {
    for (std::uint32_t i = 0; i <= kGroupSlotsMax; ++i) process.Duplicate(process.root());
  });
  EXPECT_NE(outcome.errors.find("no room for one more group, of 2 processes"), std::string::npos)
      << outcome.errors;
}

TEST(GroupsTest, OpenGroupsTakeOfTheMemoryThatTheJobMayHave) {
  ExpectAllEndWell(RunOnOneNode(2, [](Process& process) {
    const Segment& segment = process.root().segment();
    process.Sync(0);
    const std::uint64_t held = segment.heap_memory();
    process.Sync(0);
    Group& group = process.Duplicate(process.root());
    process.Sync(0);
    Require(segment.heap_memory() == held + BytesToOpen(2), "one group, of two");
    process.Leave(group);
    process.Sync(0);
    Require(segment.heap_memory() == held, "and none any more");
  }));
}

// Of each superstep of the root group, what was done in others since the one before.
TEST(GroupsTest, SuperstepsOfGroupsAreCountedWithThoseOfTheRootGroup) {
  ExpectAllEndWell(RunOnOneNode(3, [](Process& process) {
    process.Sync(0);
    Group& group = process.Duplicate(process.root());
    const std::uint64_t word = 7;
    group.Send("test", (process.pid() + 1) % 3, nullptr, &word, sizeof word);
    process.Sync(group, 0);
    process.SyncCounted(group, "test", 0);
    process.Leave(group);
    process.Sync(0);
    process.Sync(0);
    const SuperstepSums sums = SumsHere(process.root().segment(), 3, 1);
    Require(sums.processes == 3, "those that are here");
    Require(sums.groups.supersteps == 2 * 3, "two supersteps of each");
    Require(sums.groups.messages_out == 3 && sums.groups.messages_in == 3, "a message each");
    Require(sums.groups.bytes_out >= 8 * 3 && sums.groups.bytes_in >= 8 * 3, "of a word");
    Require(sums.groups.sync_ns != 0 && sums.groups.sync_ns <= sums.compute_ns,
            "the time is a part of computing");
    Require(sums.messages_out + sums.bytes_out + sums.h_in_bytes == 0, "and the root's nothing");
    Require(SumsHere(process.root().segment(), 3, 0).groups.supersteps == 0,
            "nothing was done before");
  }));
}

// Its pages are there until the last member has left.
TEST(GroupsTest, MemoryOfAGroupCountsUntilAllHaveLeftIt) {
  constexpr std::uint64_t kBytes = 8 << 20;
  ExpectAllEndWell(RunOnOneNode(2, [](Process& process) {
    const Segment& segment = process.root().segment();
    const std::uint64_t held = segment.heap_memory();
    const auto take_part = [&process] {
      Group& group = process.Duplicate(process.root());
      const std::vector<std::byte> large(kBytes);
      if (process.pid() == 0) group.Send("test", 1, nullptr, large.data(), large.size());
      process.SyncCounted(group, "test", process.pid());
      process.Leave(group);
    };
    process.Sync(0);
    if (process.pid() == 0) take_part();
    process.Sync(0);
    Require(segment.heap_memory() >= held + kBytes, "what is sent is still there");
    process.Sync(0);
    if (process.pid() == 1) take_part();
    process.Sync(0);
    Require(segment.heap_memory() == held, "and nothing any more");
  }));
}

// Nearly as many as if none were kept, of whatever size.
TEST(GroupsTest, PartsThatAreKeptLeaveRoomForOthers) {
  const UniqueFd memory(memfd_create("opened", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(memory.get(), 4096), 0);
  const MappedRegion shared = MappedRegion::Shared(memory.get(), 4096);  // By all processes.
  auto* const opened = reinterpret_cast<std::atomic<std::uint32_t>*>(shared.data());  // By pid.
  std::vector<std::uint32_t> most;
  for (const std::uint32_t left_before : {0u, 100u}) {
    RunOnOneNode(2, [&](Process& process) {
      const std::uint32_t apart[] = {0, 1};
      GrowArray<Group*> groups;
      for (std::uint32_t i = 0; i < left_before; ++i) {
        groups.push_back(&process.Partition(process.root(), apart));
        if (i % 10 != 9) continue;
        for (; !groups.empty(); groups.pop_back()) process.Leave(*groups.back());
      }
      process.Sync(0);
      for (;;) {
        process.Duplicate(process.root());
        opened[process.pid()] += 1;
      }
    });
    // Who finds no room has opened all; the other one is ended meanwhile.
    most.push_back(std::max(opened[0].exchange(0), opened[1].exchange(0)));
  }
  EXPECT_GE(most[0], 16u);
  EXPECT_GE(most[1] + 2, most[0]);  // Two halves that are kept need not lie side by side.
}

}  // namespace
}  // namespace bspnow::runtime
