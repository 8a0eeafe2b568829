// libbsp in a job that is saved, and goes on elsewhere. What saves a process is a stand-in.
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mapped_region.h"
#include "runtime/collectives/team.h"
#include "runtime/image/image_format.h"
#include "runtime/testing/calls.h"
#include "runtime/testing/nodes.h"

namespace bspnow::runtime {
namespace {

using Placement = std::vector<std::uint32_t>;

constexpr std::uint64_t kSupersteps = 40;
constexpr std::size_t kAreas = 16;
constexpr std::size_t kWords = 700;
constexpr std::size_t kTagBytes = 8;

/// What one process of the program below lives with, all of it in its image.
struct Memory {
  std::uint32_t p;
  std::uint32_t self;
  std::vector<std::vector<std::uint32_t>> areas;
  std::uint32_t more = 1;
  std::uint64_t begin_ns = 0;
  std::uint64_t elapsed_ns = 0;
  int restored = 0;
};

std::uint32_t Word(std::uint32_t pid, std::uint64_t s, std::size_t i) {
  return static_cast<std::uint32_t>(pid * 1'000'003 + s * 1'009 + i);
}

// Registers one area and removes an older one; sizes differ between processes.
void ChangeRegistrations(Process& process, Memory& m, std::uint64_t s) {
  std::vector<std::uint32_t>& area = m.areas[s % kAreas];
  Register(process, area.data(), 4 * (kWords - (m.self + s) % 3));
  if (s >= 5)
    process.Pop("bsp_pop_reg", reinterpret_cast<std::uintptr_t>(m.areas[(s - 5) % kAreas].data()));
}

void Communicate(Process& process, Memory& m, std::uint64_t s) {
  std::vector<std::uint32_t> words(kWords);
  for (std::size_t i = 0; i < kWords; ++i) words[i] = Word(m.self, s, i);
  const std::uint32_t next = (m.self + 1) % m.p;
  Put(process, {.pid = next,
                .area = m.areas[(s - 1) % kAreas].data(),
                .offset = 0,
                .local = words.data(),
                .bytes = 4 * (kWords - 2)});
  for (std::uint32_t to = 0; to < m.p; ++to) {
    for (std::size_t k = 0; k <= (s + to) % 3; ++k) {
      char tag[kTagBytes];
      memset(tag, static_cast<int>(s + k), sizeof tag);
      process.Send("bsp_send", to, tag, words.data(), 4 * ((s * 7 + k) % kWords));
    }
  }
}

void ReadMessages(Process& process, Memory& m, std::uint64_t s) {
  for (std::uint32_t from = 0; from < m.p; ++from) {
    for (std::size_t k = 0; k <= (s + m.self) % 3; ++k) {
      Require(!process.inbox().empty(), "no message is lost");
      const BsmpInbox::Message message = process.inbox().Front();
      Require(message.payload_bytes == 4 * ((s * 7 + k) % kWords), "in the order of issue");
      Require(message.tag[kTagBytes - 1] == static_cast<std::byte>(s + k), "with its tag");
      const auto* words = reinterpret_cast<const std::uint32_t*>(message.payload);
      Require(message.payload_bytes < kMessageAlign ||
                  reinterpret_cast<std::uintptr_t>(words) % kMessageAlign == 0,
              "aligned");
      for (std::size_t i = 0; i < message.payload_bytes / 4; ++i) {
        Require(words[i] == Word(from, s, i), "a message arrives as it was sent");
      }
      process.inbox().Pop();
    }
  }
  Require(process.inbox().empty(), "no message comes twice");
}

// The time between the image and its return does not count.
void CheckTime(const Process& process, Memory& m) {
  const bool restored = TimesRestored() != m.restored;
  Require(restored == (process.begin_ns() > m.begin_ns), "bsp_begin seems to be later then");
  m.begin_ns = process.begin_ns();
  m.restored = TimesRestored();
  const std::uint64_t now_ns = NowNs() - process.begin_ns();
  Require(now_ns >= m.elapsed_ns && now_ns - m.elapsed_ns < 60'000'000'000, "time goes on");
  m.elapsed_ns = now_ns;
}

// Runs until it has been saved `images` times. Everything is checked in every superstep.
void Program(Process& process, int images) {
  process.Begin(100);
  Memory m{
      .p = process.nprocs(), .self = process.pid(), .areas = {}, .begin_ns = process.begin_ns()};
  m.areas.resize(kAreas, std::vector<std::uint32_t>(kWords));
  Register(process, &m.more, sizeof m.more);
  ChangeRegistrations(process, m, 0);
  process.SetTagBytes(kTagBytes);
  process.Sync(0);
  for (std::uint64_t s = 1; m.more != 0; ++s) {
    ChangeRegistrations(process, m, s);
    Communicate(process, m, s);
    std::uint32_t more = s < kSupersteps || ImagesTaken() < images ? 1 : 0;
    for (std::uint32_t i = 0; m.self == 0 && i < m.p; ++i) {
      Put(process, {.pid = i, .area = &m.more, .offset = 0, .local = &more, .bytes = sizeof more});
    }
    process.Sync(0);
    const std::vector<std::uint32_t>& area = m.areas[(s - 1) % kAreas];
    for (std::size_t i = 0; i < kWords - 2; ++i) {
      Require(area[i] == Word((m.self + m.p - 1) % m.p, s, i), "a put arrives");
    }
    ReadMessages(process, m, s);
    CheckTime(process, m);
    Require(TimesRestored() == 0 || StrangersAreIntact(), "nothing of others is touched");
  }
  process.End(0);
}

void ProgramWithOneImage(Process& process) { Program(process, 1); }

const std::vector<Placement> kPlacements = {{0, 0, 0}, {0, 1, 0}, {2, 1, 0}};

TEST(CheckpointTest, AllProcessesAreSavedAtTheSameSuperstep) {
  for (const Placement& placement : {Placement{0, 0, 0}, {0, 1, 0}, {0, 1, 2, 1, 0}}) {
    for (const bool check_full : {false, true}) {
      const JobOutcome outcome =
          RunOnNodes({.node_of = placement, .check_full = check_full, .saves = {{3}, {7, 1}, {8}}},
                     [](Process& process) { Program(process, 3); });
      ExpectAllEndWell(outcome);
      const std::size_t p = placement.size();
      ASSERT_EQ(outcome.taken.size(), 3 * p);
      for (std::size_t k = 0; k < 3 * p; ++k) {
        EXPECT_EQ(outcome.taken[k].checkpoint, k / p + 1);
        EXPECT_EQ(outcome.taken[k].base, k / p);
        EXPECT_EQ(outcome.taken[k].pid, k % p);
        EXPECT_EQ(outcome.taken[k].superstep, outcome.taken[k - k % p].superstep);
      }
      if (placement[1] == 0) continue;  // On one node it may be later.
      EXPECT_EQ(outcome.taken[0].superstep, 4u);
      EXPECT_EQ(outcome.taken[p].superstep, 8u);
      EXPECT_EQ(outcome.taken[2 * p].superstep, 9u);
    }
  }
}

TEST(CheckpointTest, ProcessesGoOnWhereverTheyAreResumed) {
  for (const Placement& before : kPlacements) {
    for (const Placement& after : kPlacements) {
      JobOutcome outcome = RunOnNodes({.node_of = before, .saves = {{6}}}, ProgramWithOneImage);
      ExpectAllEndWell(outcome);
      ExpectAllEndWell(ResumeOnNodes({.node_of = after}, std::move(outcome.images)));
    }
  }
}

TEST(CheckpointTest, FullChecksGoOnToo) {
  for (const Placement& placement : kPlacements) {
    JobOutcome outcome =
        RunOnNodes({.node_of = placement, .check_full = true, .saves = {{6}}}, ProgramWithOneImage);
    ExpectAllEndWell(outcome);
    ExpectAllEndWell(
        ResumeOnNodes({.node_of = placement, .check_full = true}, std::move(outcome.images)));
  }
}

TEST(CheckpointTest, AResumedJobIsSavedAndResumedAgain) {
  for (const Placement& placement : kPlacements) {
    const auto program = [](Process& process) { Program(process, 2); };
    JobOutcome first = RunOnNodes({.node_of = {0, 1, 0}, .saves = {{6}, {9}}}, program);
    ExpectAllEndWell(first);
    const std::uint64_t from = first.images.facts[0].superstep;
    JobOutcome second = ResumeOnNodes({.node_of = {0, 1, 1}, .saves = {{from}, {from + 1}}},
                                      std::move(first.images));
    ExpectAllEndWell(second);
    ASSERT_EQ(second.taken.size(), 6u);
    EXPECT_EQ(second.taken[0].superstep, from + 1);
    EXPECT_EQ(second.taken[3].superstep, from + 2);
    ExpectAllEndWell(ResumeOnNodes({.node_of = placement}, std::move(second.images)));
  }
}

TEST(CheckpointTest, AResumedProcessNamesSuperstepsFromTheStart) {
  JobOutcome outcome = RunOnNodes({.node_of = {0, 1}, .saves = {{4}}}, [](Process& process) {
    process.Begin(2);
    for (int s = 0; s < 7; ++s) process.Sync(0);
    if (TimesRestored() != 0 && process.pid() == 1) process.Pop("bsp_pop_reg", 4711);
    process.Sync(0);
    process.End(0);
  });
  ExpectAllEndWell(outcome);
  const JobOutcome resumed = ResumeOnNodes({.node_of = {0, 1}}, std::move(outcome.images));
  EXPECT_NE(resumed.errors.find("bsp_pop_reg on pid 1, superstep 7: "), std::string::npos)
      << resumed.errors;
}

TEST(CheckpointTest, NobodyLeavesABarrierWithoutALease) {
  for (const Placement& placement : {Placement{0, 0}, {0, 1}}) {
    const auto program = [](Process& process) {
      process.Begin(2);
      std::uint32_t more = 1;
      Register(process, &more, sizeof more);
      process.Sync(0);
      const std::uint64_t start_ns = NowNs();
      while (more != 0) {
        std::uint32_t next = NowNs() - start_ns < 60'000'000 ? 1 : 0;
        for (std::uint32_t i = 0; process.pid() == 0 && i < 2; ++i) {
          Put(process, {.pid = i, .area = &more, .offset = 0, .local = &next, .bytes = 4});
        }
        process.Sync(0);
      }
      process.End(0);
    };
    ExpectAllEndWell(RunOnNodes({.node_of = placement, .lease_expires_behind = 5}, program));
  }
}

// ---- Areas ------------------------------------------------------------------------------------

void ProgramWithAreas(Process& process) {
  process.Begin(100);
  std::uint64_t s = 0, clocks[2] = {};
  std::vector<std::uint32_t> sums(10 + process.pid());  // Sizes differ.
  process.RegisterForCheckpoints(&s, sizeof s);
  process.RegisterForCheckpoints(clocks, sizeof clocks);
  process.RegisterForCheckpoints(sums.data(), 4 * sums.size());
  process.RegisterForCheckpoints(nullptr, 0);
  const std::uint64_t from = process.ResumeFromCheckpoint();
  if (from != 0) dprintf(STDERR_FILENO, "from %d\n", static_cast<int>(from));
  Require(from == 0 || s == from, "the areas are those of that superstep");
  const auto elapsed_ns = [&process] { return NowNs() - process.begin_ns(); };
  Require(elapsed_ns() >= clocks[0] && process.processor_ns() >= clocks[1], "clocks go on");
  while (elapsed_ns() < 100'000'000) continue;  // Longer than it takes the next run to come here.
  for (; s < kSupersteps || (from == 0 && ImagesTaken() == 0);) {
    for (std::uint32_t& sum : sums) sum += static_cast<std::uint32_t>(s);
    s += 1;
    clocks[0] = elapsed_ns() + NowNs();  // Less than the stand-in for images writes.
    clocks[1] = process.processor_ns();
    process.Sync(0);
  }
  for (const std::uint32_t sum : sums) Require(sum == s * (s - 1) / 2, "every superstep counts");
  process.End(0);
}

TEST(CheckpointTest, AreasComeBackInARunFromTheStart) {
  JobOutcome outcome = RunOnNodes({.node_of = {0, 1, 0}, .saves = {{6}}}, ProgramWithAreas);
  ExpectAllEndWell(outcome);
  ASSERT_EQ(outcome.taken.size(), 3u);
  for (const ImageForTest& image : outcome.taken) {
    EXPECT_EQ(image.kind, static_cast<std::uint32_t>(ImageKind::kAreas));
  }
  const JobOutcome again =
      RerunOnNodes({.node_of = {0, 0, 1}}, std::move(outcome.images), ProgramWithAreas);
  EXPECT_EQ(again.statuses, std::vector<int>(3, 0));
  EXPECT_EQ(again.errors, "from 7\nfrom 7\nfrom 7\n");
}

// Its areas are gone when the second section begins: to read them would end the process.
void ProgramOfSectionsWithAreas(Process& process) {
  process.BeginSection("bsp_begin", 100);
  {
    const MappedRegion area = MappedRegion::Private(4096);
    process.RegisterForCheckpoints(area.data(), area.bytes());
    process.ResumeFromCheckpoint();
    for (int s = 0; s < 3; ++s) process.Sync(0);
    process.End(0);
  }
  process.BeginSection("bsp_begin", 100);
  for (int s = 0; s < 10; ++s) process.Sync(0);
  process.End(0);
  exit(EXIT_SUCCESS);  // Which ends a program of sections.
}

TEST(CheckpointTest, AreasEndWithTheirSection) {
  fflush(stdout);  // Or the exit of each process writes what is in the buffer.
  for (const std::uint64_t after : {3, 8}) {  // The fourth barrier is bsp_end's.
    JobOutcome outcome =
        RunOnNodes({.node_of = {0, 1}, .saves = {{after}}}, ProgramOfSectionsWithAreas);
    ExpectAllEndWell(outcome);
    ASSERT_EQ(outcome.taken.size(), 2u);
    for (const ImageForTest& image : outcome.taken) {
      EXPECT_EQ(image.kind, static_cast<std::uint32_t>(ImageKind::kProcess));
    }
    ExpectAllEndWell(ResumeOnNodes({.node_of = {1, 0}}, std::move(outcome.images)));
  }
}

void AddWords(void* sum, void* left, void* right, int* bytes) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(*bytes) / 4; ++i) {
    static_cast<std::uint32_t*>(sum)[i] =
        static_cast<std::uint32_t*>(left)[i] + static_cast<std::uint32_t*>(right)[i];
  }
}

// Most supersteps are those of collective calls, where the areas are between two states; and what
// PUB's reductions write is there only when bsp_sync has done all that it does.
void ProgramWithAreasAndCollectives(Process& process) {
  process.Begin(100);
  const std::uint32_t p = process.nprocs();
  std::uint32_t s = 0, completed = 0, words[60] = {};
  process.RegisterForCheckpoints(&s, sizeof s);
  process.RegisterForCheckpoints(&completed, sizeof completed);
  process.RegisterForCheckpoints(words, sizeof words);
  const std::uint64_t from = process.ResumeFromCheckpoint();
  for (const std::uint32_t word : words) Require(word == p * s, "all or nothing of a call");
  Require(completed == s, "all that bsp_sync does");
  while (s < kSupersteps || (from == 0 && ImagesTaken() == 0)) {
    for (std::uint32_t call = 0; call < 20; ++call) {
      for (std::uint32_t& word : words) word = s + 1;
      Team team(process, process.group(), process.collectives(),
                {.call = "test",
                 .collective = Collective::kFoldElements,
                 .root = 0,
                 .bytes = sizeof words,
                 .element_bytes = 4});
      Fold(team, &AddWords, words, words);
    }
    s += 1;
    process.Sync(process.group(), 0, [&] { completed = s; });
  }
  process.End(0);
}

TEST(CheckpointTest, AreasAreNotSavedWithinACollectiveCall) {
  JobOutcome outcome =
      RunOnNodes({.node_of = {0, 0, 0}, .saves = {{6}}}, ProgramWithAreasAndCollectives);
  ExpectAllEndWell(outcome);
  ASSERT_EQ(outcome.taken.size(), 3u);
  const JobOutcome again = RerunOnNodes({.node_of = {0, 0, 0}}, std::move(outcome.images),
                                        ProgramWithAreasAndCollectives);
  EXPECT_EQ(again.statuses, std::vector<int>(3, 0)) << again.errors;
}

TEST(CheckpointTest, AProgramWithAreasIsNotSavedBeforeItResumes) {
  const JobOutcome outcome = RunOnNodes({.node_of = {0, 1}, .saves = {{1}}}, [](Process& process) {
    process.Begin(2);
    int area = 0;
    process.RegisterForCheckpoints(&area, sizeof area);
    for (int s = 0; s < 4; ++s) process.Sync(0);
    process.End(0);
  });
  ExpectAllEndWell(outcome);
  EXPECT_TRUE(outcome.taken.empty());
  ASSERT_EQ(outcome.refusals.size(), 2u);
  EXPECT_NE(outcome.refusals[0].find("not bsp_checkpoint_resume"), std::string::npos);
}

void ExpectMisuse(const std::function<void(Process&)>& misuse, const std::string& text) {
  const JobOutcome outcome = RunOnNodes({.node_of = {0, 1}}, [&misuse](Process& process) {
    process.Begin(2);
    misuse(process);
    process.Sync(0);
    process.End(0);
  });
  EXPECT_NE(outcome.errors.find(text), std::string::npos) << outcome.errors;
}

TEST(CheckpointTest, MisuseOfAreasIsNamed) {
  ExpectMisuse([](Process& process) { process.RegisterForCheckpoints(nullptr, 8); },
               "data is NULL, and nbytes is 8; give the address of the area");
  ExpectMisuse([](Process& process) { process.ResumeFromCheckpoint(); },
               "bsp_checkpoint_resume on pid 0, superstep 0: no area is registered; call");
  const auto resume = [](Process& process) {
    process.RegisterForCheckpoints(nullptr, 0);
    process.ResumeFromCheckpoint();
  };
  ExpectMisuse(
      [&resume](Process& process) {
        resume(process);
        process.ResumeFromCheckpoint();
      },
      "it has been called before; call it once");
  ExpectMisuse(
      [&resume](Process& process) {
        resume(process);
        process.RegisterForCheckpoints(nullptr, 0);
      },
      "register all areas before it");
  ExpectMisuse(
      [&resume](Process& process) {
        if (process.pid() == 1) resume(process);
      },
      "only one of pid 0 and pid 1 has called bsp_checkpoint_resume; call it on all processes");
}

}  // namespace
}  // namespace bspnow::runtime
