// Supersteps that end by the number of messages, within one node.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/mapped_region.h"
#include "base/unique_fd.h"
#include "runtime/link/link_segment.h"
#include "runtime/testing/calls.h"
#include "runtime/testing/counted_supersteps.h"
#include "runtime/testing/nodes.h"

namespace bspnow::runtime {
namespace {

JobOutcome RunOnOneNode(std::uint32_t p, const std::function<void(Process&)>& program) {
  return RunOnNodes({.node_of = std::vector<std::uint32_t>(p, 0)}, [&](Process& process) {
    process.Begin(p);
    program(process);
    process.End(0);
  });
}

TEST(CountedSuperstepsTest, GiveEachSuperstepItsOwnMessages) {
  for (const std::uint32_t p : {1u, 2u, 3u, 6u}) {
    SCOPED_TRACE(p);
    ExpectAllEndWell(RunOnOneNode(p, [](Process& process) {
      RunCountedSupersteps(process, process.root(), 1, 300);
      Group& group = process.Duplicate(process.root());
      RunCountedSupersteps(process, group, 2, 100);
      process.Leave(group);
    }));
  }
}

// Who asks why nothing moves finds it in the cell; and nothing there once it goes on.
TEST(CountedSuperstepsTest, WhoWaitsSaysForHowManyMessages) {
  ExpectAllEndWell(RunOnOneNode(2, [](Process& process) {
    Group& root = process.root();
    const CountedWait& wait = root.segment().cell(Pid{1}).counted_wait;
    const auto send = [&] { root.Send("test", 1, "", "x", 1); };
    if (process.pid() == 1) {
      send();
      process.SyncCounted(root, "test", 3, [] {});
      BSP_CHECK(wait.superstep.load() == 0);
    } else {
      while (wait.superstep.load() != 1) sched_yield();
      BSP_CHECK_OP(wait.expected.load(), ==, 3u);
      BSP_CHECK_OP(wait.here.load(), ==, 1u);
      send();
      send();
      process.SyncCounted(root, "test", 0, [] {});
    }
    process.Sync(0);
  }));
}

// No barrier: two processes go on while a third has not come to the end of its first superstep.
TEST(CountedSuperstepsTest, NobodyWaitsForWhoSendsNothing) {
  const UniqueFd memory(memfd_create("passed", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(memory.get(), 4096), 0);
  const MappedRegion shared = MappedRegion::Shared(memory.get(), 4096);  // By all processes.
  auto& passed = *reinterpret_cast<std::atomic<std::uint32_t>*>(shared.data());
  ExpectAllEndWell(RunOnOneNode(3, [&](Process& process) {
    Group& root = process.root();
    const std::uint32_t self = process.pid();
    while (self == 2 && passed.load() < 2) sched_yield();
    for (int s = 0; s < 100; ++s) {
      if (self != 2) root.Send("test", 1 - self, nullptr, &s, sizeof s);
      process.SyncCounted(root, "test", self == 2 ? 0 : 1);
    }
    passed += 1;
  }));
}

// Though no barrier sees to it, and the last process is many supersteps behind.
TEST(CountedSuperstepsTest, FiguresOfAllAreAddedUp) {
  constexpr std::uint64_t kSupersteps = 2000;
  ExpectAllEndWell(RunOnOneNode(3, [](Process& process) {
    Group& root = process.root();
    const std::uint32_t self = process.pid();
    for (std::uint64_t s = 0; s < kSupersteps; ++s) {
      const std::uint64_t start = NowNs();
      while (self == 2 && s % 500 == 0 && NowNs() - start < 20'000'000) sched_yield();
      if (self != 2) root.Send("test", 1 - self, nullptr, &s, sizeof s);
      process.SyncCounted(root, "test", self == 2 ? 0 : 1);
    }
    process.Sync(0);
    const Segment& segment = root.segment();
    SuperstepTotals totals = ReadTotals(segment.header().totals_version, segment.header().totals);
    AddMeasurements(segment, 3, totals.supersteps, kSupersteps, totals);
    Require(totals.supersteps == kSupersteps, "all supersteps count");
    Require(totals.messages_out == 2 * kSupersteps, "so do all messages that were sent");
    Require(totals.messages_in == 2 * kSupersteps, "and received");
    Require(totals.h_bytes == kSupersteps * sizeof kSupersteps, "and their bytes");
    Require(totals.compute_ns >= 4 * 20'000'000, "and what the last process computed");
  }));
}

// Wherever that begins in the rings of figures.
TEST(CountedSuperstepsTest, NobodyWaitsForWhoIs250SuperstepsBehind) {
  for (const int before : {0, 127, 200, 300}) {
    SCOPED_TRACE(before);
    ExpectAllEndWell(RunOnOneNode(2, [before](Process& process) {
      Group& root = process.root();
      Group& other = process.Duplicate(root);
      for (int s = 0; s < before; ++s) process.SyncCounted(root, "test", 0);
      if (process.pid() == 1) process.Sync(other, 0);
      for (int s = 0; s < 250; ++s) process.SyncCounted(root, "test", 0);
      if (process.pid() == 0) process.Sync(other, 0);
      process.Leave(other);
    }));
  }
}

// Who has left reads nothing any more.
TEST(CountedSuperstepsTest, NobodyWaitsForWhoHasLeftTheGroup) {
  ExpectAllEndWell(RunOnOneNode(2, [](Process& process) {
    Group& group = process.Duplicate(process.root());
    const int word = 1;
    group.Send("test", 1 - process.pid(), nullptr, &word, sizeof word);
    process.SyncCounted(group, "test", 1);
    for (int s = 0; s < 5 && process.pid() == 0; ++s) process.SyncCounted(group, "test", 0);
    process.Leave(group);
  }));
}

TEST(CountedSuperstepsTest, WrongUseIsAnErrorThatSaysWhy) {
  const JobOutcome more = RunOnOneNode(2, [](Process& process) {
    const int word = 0;
    for (int i = 0; i < 3 && process.pid() == 0; ++i)
      process.Send("test", 1, nullptr, &word, sizeof word);
    process.SyncCounted(process.root(), "bsp_oblsync", process.pid() == 1 ? 2 : 0);
  });
  EXPECT_NE(more.errors.find("2 messages are expected, and 3 were sent"), std::string::npos)
      << more.errors;
  const JobOutcome late = RunOnOneNode(2, [](Process& process) {
    Group& group = process.Duplicate(process.root());
    const int word = 0;
    if (process.pid() == 0) {
      process.SyncCounted(process.root(), "bsp_oblsync", 0);
      group.Send("test", 1, nullptr, &word, sizeof word);
    }
    process.SyncCounted(group, "test", process.pid());
    process.Leave(group);
    if (process.pid() == 1) process.Send("test", 0, nullptr, &word, sizeof word);
    process.SyncCounted(process.root(), "bsp_oblsync", 0);
  });
  EXPECT_NE(late.errors.find("pid 0 has ended this superstep without"), std::string::npos)
      << late.errors;
  const JobOutcome put = RunOnOneNode(2, [](Process& process) {
    int word = 0;
    Register(process, &word, sizeof word);
    process.Sync(0);
    Put(process, {.pid = 0, .area = &word, .offset = 0, .local = &word, .bytes = sizeof word});
    process.SyncCounted(process.root(), "bsp_oblsync", 0);
  });
  EXPECT_NE(put.errors.find("end it by bsp_sync"), std::string::npos) << put.errors;
  // Nobody is waited for before there is no room for figures, or the message's memory is needed.
  for (const std::uint64_t messages : {0u, 1u}) {
    const JobOutcome ends = RunOnOneNode(2, [messages](Process& process) {
      const int word = 0;
      if (messages != 0 && process.pid() == 1) process.Send("test", 0, nullptr, &word, sizeof word);
      if (messages != 0)
        process.SyncCounted(process.root(), "test", process.pid() == 0 ? messages : 0);
      for (int s = 0; s < 300 && process.pid() == 1; ++s)
        process.SyncCounted(process.root(), "bsp_oblsync", 0);
    });
    EXPECT_NE(ends.errors.find("pid 0 ends this superstep by bsp_sync, or the program"),
              std::string::npos)
        << ends.errors;
  }
}

TEST(CountedSuperstepsTest, ASuperstepThatEndsByABarrierIsNamedIfItsCountIsWrong) {
  const NodesPlan apart{.node_of = {0, 1}};
  const NodesPlan full{.node_of = {0, 0}, .check_full = true};
  for (const NodesPlan& plan : {apart, full}) {
    const JobOutcome wrong = RunOnNodes(plan, [](Process& process) {
      process.Begin(2);
      process.Sync(0);
      process.Sync(0);
      process.SyncCounted(process.root(), "bsp_oblsync", process.pid() == 0 ? 3 : 0);
      process.End(0);
    });
    EXPECT_NE(wrong.errors.find("bsp_oblsync on pid 0, superstep 2: 3 messages are expected, and 0"
                                " were sent"),
              std::string::npos)
        << wrong.errors;
  }
}

TEST(CountedSuperstepsTest, OneThatSomeEndByACountAndOthersByBspSyncIsAnError) {
  const JobOutcome mixed = RunOnNodes({.node_of = {0, 1}}, [](Process& process) {
    process.Begin(2);
    process.Sync(0);
    if (process.pid() == 0) process.SyncCounted(process.root(), "bsp_oblsync", 0);
    if (process.pid() == 1) process.Sync(0);
    process.Sync(0);
    process.End(0);
  });
  EXPECT_NE(mixed.errors.find("superstep 1: 1 of 2 processes end "), std::string::npos)
      << mixed.errors;
}

// What pid 0 sends in its superstep 2 would be what pid 1 was sent in its superstep 0.
TEST(CountedSuperstepsTest, AtABarrierAllEndTheSameSuperstep) {
  const JobOutcome apart = RunOnOneNode(2, [](Process& process) {
    Group& group = process.Duplicate(process.root());
    for (int s = 0; s < 2 && process.pid() == 0; ++s) process.SyncCounted(group, "test", 0);
    const int word = 0;
    if (process.pid() == 0) group.Send("test", 1, nullptr, &word, sizeof word);
    process.Sync(group, 0);
    for (int s = 0; s < 2 && process.pid() == 1; ++s) process.SyncCounted(group, "test", 0);
    process.Leave(group);
  });
  EXPECT_TRUE(apart.errors.find("ends superstep 0, and pid 0 superstep 2;") != std::string::npos ||
              apart.errors.find("ends superstep 2, and pid 1 superstep 0;") != std::string::npos)
      << apart.errors;
}

// Who goes on finds the area of whoever was late.
TEST(CountedSuperstepsTest, OneThatRegistersAreasEndsWithABarrier) {
  ExpectAllEndWell(RunOnOneNode(3, [](Process& process) {
    Group& group = process.Duplicate(process.root());
    const std::uint32_t next = (process.pid() + 1) % 3;
    std::uint32_t word = 0;
    for (std::uint32_t i = 0; i < 50; ++i) {
      if (process.pid() == i % 3) sched_yield();
      group.Push("bsp_push_reg", reinterpret_cast<std::uintptr_t>(&word), sizeof word);
      process.SyncCounted(group, "test", 0);
      const std::uint32_t value = process.pid() * 100 + i;
      group.Move(TransferForTest(Direction::kPut, Buffering::kBuffered,
                                 {.pid = next,
                                  .area = &word,
                                  .offset = 0,
                                  .local = const_cast<std::uint32_t*>(&value),
                                  .bytes = sizeof word}));
      group.Pop("bsp_pop_reg", reinterpret_cast<std::uintptr_t>(&word));
      process.Sync(group, 0);
      Require(word == (process.pid() + 2) % 3 * 100 + i, "what the one before has put");
    }
    process.Leave(group);
  }));
}

}  // namespace
}  // namespace bspnow::runtime
