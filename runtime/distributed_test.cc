// libbsp in a job of several nodes: real processes, and a worker that follows link.h to the letter.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/exit_status.h"
#include "runtime/link/report.h"
#include "runtime/testing/calls.h"
#include "runtime/testing/nodes.h"

namespace bspnow::runtime {
namespace {

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    count += 1;
  }
  return count;
}

TEST(DistributedTest, EmptySuperstepsPassOnOneTwoAndThreeNodes) {
  for (const std::vector<std::uint32_t>& node_of :
       {std::vector<std::uint32_t>{0, 0}, {0, 1}, {1, 0, 1}, {0, 1, 2, 0, 1}}) {
    const JobOutcome outcome = RunOnNodes({.node_of = node_of}, [](Process& process) {
      process.Begin(100);
      for (int s = 0; s < 500; ++s) process.Sync(0);
      process.End(0);
    });
    ExpectAllEndWell(outcome);
  }
}

TEST(DistributedTest, TheBellWakesAWorkerThatSleeps) {
  const JobOutcome outcome = RunOnNodes({.node_of = {0, 1}}, [](Process& process) {
    process.Begin(2);
    for (int s = 0; s < 20; ++s) {
      // A process computes; long enough for the worker to fall asleep.
      for (const std::uint64_t start = NowNs(); NowNs() - start < 2'000'000;) continue;
      process.Sync(0);
    }
    process.End(0);
  });
  ExpectAllEndWell(outcome);
  EXPECT_GT(outcome.sleeps, 0u);
}

TEST(DistributedTest, ProcessesThatPidZeroDoesNotWantLeave) {
  const JobOutcome outcome = RunOnNodes({.node_of = {0, 1, 2, 1}}, [](Process& process) {
    process.Begin(process.pid() == 0 ? 2 : 4);
    Require(process.nprocs() == 2, "the value of pid 0 counts");
    process.Sync(0);
    process.End(0);
  });
  ExpectAllEndWell(outcome);
}

// Puts, gets and messages of random sizes between all pairs, in every superstep.
void RandomExchange(Process& process) {
  constexpr std::size_t kPart = 3000;
  process.Begin(100);
  const std::uint32_t p = process.nprocs();
  const std::uint32_t self = process.pid();
  std::vector<std::byte> area(p * kPart);
  std::vector<std::byte> shown(kPart);
  std::vector<std::byte> got(p * kPart);
  Register(process, area.data(), area.size());
  Register(process, shown.data(), shown.size());
  process.SetTagBytes(sizeof self);
  process.Sync(0);
  for (std::uint64_t s = 1; s < 60; ++s) {
    std::mt19937 random(static_cast<unsigned>(s));  // The same sizes everywhere.
    std::vector<std::size_t> bytes(p * p);
    for (std::size_t& b : bytes) b = random() % 4 == 0 ? 0 : 1 + random() % kPart;
    std::vector<std::byte> mine(kPart);
    for (std::size_t i = 0; i < kPart; ++i) mine[i] = shown[i] = Pattern(self, s, i);
    for (std::uint32_t to = 0; to < p; ++to) {
      const std::size_t b = bytes[self * p + to];
      if (b == 0) continue;
      Put(process, {.pid = to,
                    .area = area.data(),
                    .offset = self * kPart,
                    .local = mine.data(),
                    .bytes = b});
      Get(process, {.pid = to,
                    .area = shown.data(),
                    .offset = 0,
                    .local = got.data() + to * kPart,
                    .bytes = b});
      if (s % 3 != 0) process.Send("bsp_send", to, &self, mine.data(), b);
    }
    process.Sync(0);
    std::uint64_t messages = 0;
    for (std::uint32_t from = 0; from < p; ++from) {
      const std::size_t b = bytes[from * p + self];
      for (std::size_t i = 0; i < b; ++i) {
        Require(area[from * kPart + i] == Pattern(from, s, i), "a put arrives");
      }
      for (std::size_t i = 0; i < bytes[self * p + from]; ++i) {
        Require(got[from * kPart + i] == Pattern(from, s, i), "a get brings the value");
      }
      if (b == 0 || s % 3 == 0) continue;
      messages += 1;
      const BsmpInbox::Message message = process.inbox().Front();
      Require(memcmp(message.tag, &from, sizeof from) == 0, "messages come in the order of pids");
      Require(message.payload_bytes == b, "a message has its length");
      for (std::size_t i = 0; i < b; ++i) {
        Require(message.payload[i] == Pattern(from, s, i), "a message arrives");
      }
      process.inbox().Pop();
    }
    Require(process.inbox().empty(), "there are no other messages");
    Require(messages == 0 || s % 3 != 0, "none are left from before");
  }
  process.End(0);
}

TEST(DistributedTest, PutsGetsAndMessagesReachOtherNodes) {
  for (const std::vector<std::uint32_t>& node_of :
       {std::vector<std::uint32_t>{0, 1}, {0, 1, 0, 1}, {2, 0, 1, 1, 0}}) {
    ExpectAllEndWell(RunOnNodes({.node_of = node_of}, RandomExchange));
  }
}

TEST(DistributedTest, FullChecksHaveTwoBarriersASuperstep) {
  ExpectAllEndWell(RunOnNodes({.node_of = {0, 1, 0}, .check_full = true}, RandomExchange));
}

TEST(DistributedTest, AreasPushedAndPoppedAreKnownOnOtherNodes) {
  const JobOutcome outcome = RunOnNodes({.node_of = {0, 1, 0, 1}}, [](Process& process) {
    process.Begin(4);
    const std::uint32_t next = (process.pid() + 1) % 4;
    std::vector<std::uint32_t> areas(64);
    for (std::uint32_t s = 0; s < 200; ++s) {
      // Each process registers another size for a slot; slots are used again in another order.
      std::uint32_t* area = &areas[(s * 7) % 64];
      Register(process, area, 4 * (1 + (process.pid() + s) % 3));
      if (s >= 5)
        process.Pop("bsp_pop_reg", reinterpret_cast<std::uintptr_t>(&areas[((s - 5) * 7) % 64]));
      process.Sync(0);
      Put(process, {.pid = next, .area = area, .offset = 0, .local = &s, .bytes = sizeof s});
      process.Sync(0);
      Require(*area == s, "a put finds the area that was just pushed");
    }
    process.End(0);
  });
  ExpectAllEndWell(outcome);
}

void ExpectOneReport(const NodesPlan& plan, const std::function<void(Process&)>& program,
                     const std::string& text) {
  const JobOutcome outcome = RunOnNodes(plan, program);
  EXPECT_EQ(CountOf(outcome.errors, "\n"), 1u) << outcome.errors;
  EXPECT_NE(outcome.errors.find(text), std::string::npos) << outcome.errors;
  const auto aborted = std::count_if(
      outcome.statuses.begin(), outcome.statuses.end(),
      [](int status) { return WIFEXITED(status) && WEXITSTATUS(status) == kAbortStatus; });
  EXPECT_EQ(aborted, 1);
}

TEST(DistributedTest, DifferentRegistrationsAreReportedOnce) {
  ExpectOneReport(
      {.node_of = {0, 1, 2, 0, 1, 2}},
      [](Process& process) {
        std::uint64_t x = 0;
        std::uint64_t y = 0;
        process.Begin(6);
        Register(process, &x, 8);
        Register(process, &y, 8);
        process.Sync(0);
        process.Pop("bsp_pop_reg", reinterpret_cast<std::uintptr_t>(process.pid() == 4 ? &x : &y));
        process.Sync(0);
        process.End(0);
      },
      "pid 0 popped registration 2 where pid 4 popped registration 1");
}

TEST(DistributedTest, DifferentTagSizesAreReportedOnce) {
  ExpectOneReport(
      {.node_of = {0, 1, 1}},
      [](Process& process) {
        process.Begin(3);
        if (process.pid() == 2) process.SetTagBytes(4);
        process.Sync(0);
        process.End(0);
      },
      "tag sizes differ: pid 0 set 0, pid 2 set 4");
}

TEST(DistributedTest, DifferentEndsAreReportedOnce) {
  for (const bool check_full : {false, true}) {
    for (const std::uint32_t early : {0u, 3u}) {
      ExpectOneReport(
          {.node_of = {1, 0, 1, 0}, .check_full = check_full},
          [early](Process& process) {
            process.Begin(4);
            process.Sync(0);
            if (process.pid() != early) process.Sync(0);
            process.End(0);
          },
          "is in bsp_end, while pid");  // Who is in bsp_sync says so: its place tells more.
    }
  }
}

TEST(DistributedTest, ADirectGetFromAnotherNodeIsAnError) {
  ExpectOneReport(
      {.node_of = {0, 1}},
      [](Process& process) {
        std::uint64_t x = 0;
        std::uint64_t y = 0;
        process.Begin(2);
        Register(process, &x, 8);
        process.Sync(0);
        if (process.pid() == 0) {
          DirectGet(process, {.pid = 1, .area = &x, .offset = 0, .local = &y, .bytes = 8});
        }
        process.Sync(0);
        process.End(0);
      },
      "pid 1 lives on another node");
}

TEST(DistributedTest, FullChecksSeeTheLocalSideOfAnUnbufferedPut) {
  ExpectOneReport(
      {.node_of = {0, 1}, .check_full = true},
      [](Process& process) {
        std::vector<std::byte> out(100);
        std::vector<std::byte> in(100);
        process.Begin(2);
        Register(process, in.data(), in.size());
        process.Sync(0);
        if (process.pid() == 1) {
          HpPut(process,
                {.pid = 0, .area = in.data(), .offset = 0, .local = out.data(), .bytes = 100});
          out[50] = std::byte{1};
        }
        process.Sync(0);
        process.End(0);
      },
      "the source of 100 bytes on pid 1 changed");
}

// Both puts are issued in this function, one of them on another node.
void PutByOneAndByTwo(Process& process) {
  std::uint64_t area = 0;
  process.Begin(3);
  Register(process, &area, sizeof area);
  process.Sync(0);
  if (process.pid() != 0) {
    std::uint64_t value = 1;
    Transfer transfer = TransferForTest(
        Direction::kPut, Buffering::kBuffered,
        {.pid = 0, .area = &area, .offset = 0, .local = &value, .bytes = sizeof value});
    transfer.call_site = reinterpret_cast<std::uintptr_t>(&PutByOneAndByTwo) + 1;
    process.Move(transfer);
  }
  process.Sync(0);
  process.End(0);
}

TEST(DistributedTest, FullChecksNameCallSitesOnOtherNodes) {
  const JobOutcome outcome =
      RunOnNodes({.node_of = {0, 0, 1}, .check_full = true}, PutByOneAndByTwo);
  // With debug information a line, without it a place in the program; the same for both.
  const std::string& text = outcome.errors;
  const std::string first = text.substr(text.find("pid 1 put there at ") + 19);
  const std::string second = text.substr(text.find("pid 2 at ") + 9);
  const std::string place = first.substr(0, first.find(','));
  EXPECT_EQ(place, second.substr(0, second.find(';'))) << text;
  EXPECT_NE(place.find("distributed_test"), std::string::npos) << text;
}

// ---- What counts as computing -------------------------------------------------------------------

constexpr std::uint64_t kLongNs = 200'000'000;

/// By its own clock the program computed for `ns` at most: a busy machine may make that long.
void RequireComputed(const Measurement& m, std::uint64_t ns) {
  Require(m.compute_ns < ns + kLongNs / 2, "a wait counts as no computing");
}

TEST(ComputingTest, DoesNotContainTheWaitForALease) {
  ExpectAllEndWell(RunOnNodes({.node_of = {0, 0}}, [](Process& process) {
    process.Begin(2);
    const std::uint64_t before_ns = NowNs();
    process.Sync(0);
    const Segment& segment = process.root().segment();
    std::atomic<std::uint64_t>& lease_until_ns = segment.header().lease_until_ns;
    if (process.pid() == 0) {
      const auto started = [&](std::uint32_t pid) {
        return segment.cell(Pid{pid}).started.value.load();
      };
      while (started(1) != started(0)) sched_yield();  // It is not to wait for its lease.
      lease_until_ns.store(0);
    } else {
      while (lease_until_ns.load() != 0) sched_yield();
      const std::uint64_t start_ns = NowNs();
      while (NowNs() - start_ns < kLongNs) sched_yield();
      lease_until_ns.store(~std::uint64_t{0});
    }
    const std::uint64_t called_ns = NowNs();
    process.Sync(0);
    if (process.pid() == 0) {
      const Measurement& m = segment.measurement(Pid{0}, 1);
      RequireComputed(m, called_ns - before_ns);
      Require(m.compute_ns + m.waiting_ns + m.release_ns >= kLongNs, "but as what it is");
    }
    process.End(0);
  }));
}

TEST(ComputingTest, DoesNotContainForHowLongAnImageIsHeld) {
  constexpr std::size_t kSyncs = 6;
  const NodesPlan plan{.node_of = {0, 1},
                       .saves = {{.superstep = 3, .hold = 1, .hold_ns = kLongNs}}};
  ExpectAllEndWell(RunOnNodes(plan, [](Process& process) {
    process.Begin(2);
    std::uint64_t called_ns[kSyncs];
    std::uint64_t returned_ns[kSyncs];
    for (std::size_t s = 0; s < kSyncs; ++s) {
      called_ns[s] = NowNs();
      process.Sync(0);
      returned_ns[s] = NowNs();
    }
    const auto measured = [&](std::size_t s) -> const Measurement& {
      return process.root().segment().measurement(Pid{process.pid()}, s);
    };
    std::size_t held = 0;
    while (held < kSyncs - 2 && measured(held).exchange_ns < kLongNs) ++held;
    Require(measured(held).exchange_ns >= kLongNs, "it was held");
    RequireComputed(measured(held + 1), called_ns[held + 1] - returned_ns[held]);
    process.End(0);
  }));
}

}  // namespace
}  // namespace bspnow::runtime
