#include "runtime/collectives/collective_plan.h"

#include <gtest/gtest.h>

namespace bspnow::runtime {
namespace {

constexpr Machine kMachine{.g_ns_per_byte = 1,
                           .alone_g_ns_per_byte = 1,
                           .l_ns = 10'000,
                           .half_bytes = 100,
                           .s_flops = 1e9,
                           .nodes = Nodes::kSeveral,
                           .near_processes = 1,
                           .near_g_ns_per_byte = 0.1};

Algorithm ChosenFor(Collective collective, std::uint32_t p, std::size_t bytes) {
  return MakePlan(collective, kMachine, p, bytes).algorithm;
}

TEST(CollectivePlanTest, BroadcastsFewBytesDirectly) {
  EXPECT_EQ(ChosenFor(Collective::kBroadcast, 4, 8), Algorithm::kDirect);
}

// (p - 1) n1/2 g alone exceeds a few levels' l.
TEST(CollectivePlanTest, BroadcastsFewBytesToManyByATree) {
  EXPECT_EQ(ChosenFor(Collective::kBroadcast, 4096, 8), Algorithm::kTree);
}

TEST(CollectivePlanTest, BroadcastsMoreInTwoPhases) {
  EXPECT_EQ(ChosenFor(Collective::kBroadcast, 64, 64 << 10), Algorithm::kTwoPhase);
}

// Where nodes share processors, a process that sends alone has them to itself.
TEST(CollectivePlanTest, BroadcastsDirectlyWhatAllWouldSendSlowly) {
  Machine machine = kMachine;
  EXPECT_EQ(MakePlan(Collective::kBroadcast, machine, 8, 16 << 10).algorithm, Algorithm::kTwoPhase);
  machine.g_ns_per_byte = 3;
  machine.alone_g_ns_per_byte = 0.5;
  EXPECT_EQ(MakePlan(Collective::kBroadcast, machine, 8, 16 << 10).algorithm, Algorithm::kDirect);
  EXPECT_EQ(MakePlan(Collective::kFoldElements, machine, 8, 16 << 10).algorithm,
            Algorithm::kTwoPhase);
}

// Two phases move 2 n, a pipeline n and a bit.
TEST(CollectivePlanTest, BroadcastsVeryMuchByAPipeline) {
  EXPECT_EQ(ChosenFor(Collective::kBroadcast, 8, 256 << 20), Algorithm::kPipeline);
}

// A tree crosses the network once for each node, if processes of a node follow one another.
TEST(CollectivePlanTest, BroadcastsToNodesOfManyByATree) {
  Machine machine = kMachine;
  EXPECT_EQ(MakePlan(Collective::kBroadcast, machine, 8, 1 << 20).algorithm, Algorithm::kPipeline);
  machine.near_processes = 4;
  EXPECT_EQ(MakePlan(Collective::kBroadcast, machine, 8, 1 << 20).algorithm, Algorithm::kTree);
  EXPECT_EQ(MakePlan(Collective::kBroadcast, machine, 8, 256 << 20).algorithm,
            Algorithm::kPipeline);
}

TEST(CollectivePlanTest, ReadsOnOneNodeAlone) {
  Machine machine = kMachine;
  machine.nodes = Nodes::kOne;
  EXPECT_EQ(MakePlan(Collective::kBroadcast, machine, 4, 16 << 20).algorithm, Algorithm::kRead);
  EXPECT_EQ(MakePlan(Collective::kScatter, machine, 4, 16 << 20).algorithm, Algorithm::kRead);
  EXPECT_LT(MakePlan(Collective::kScatter, kMachine, 4, 16 << 20).candidates[4].cost_ns, 0);
}

TEST(CollectivePlanTest, FoldsMuchByATreeAndLittleDirectly) {
  EXPECT_EQ(ChosenFor(Collective::kFold, 8, 8), Algorithm::kDirect);
  EXPECT_EQ(ChosenFor(Collective::kFold, 8, 1 << 20), Algorithm::kTree);
  EXPECT_EQ(ChosenFor(Collective::kScan, 8, 1 << 20), Algorithm::kTree);
}

TEST(CollectivePlanTest, CutsMuchOfWhatMayBeCut) {
  EXPECT_EQ(ChosenFor(Collective::kFoldElements, 8, 8), Algorithm::kDirect);
  EXPECT_EQ(ChosenFor(Collective::kFoldElements, 8, 1 << 20), Algorithm::kTwoPhase);
  EXPECT_EQ(ChosenFor(Collective::kScanElements, 8, 24 << 10), Algorithm::kTwoPhase);
  const auto two_phase = static_cast<std::size_t>(Algorithm::kTwoPhase);
  EXPECT_LT(MakePlan(Collective::kFold, kMachine, 8, 1 << 20).candidates[two_phase].cost_ns, 0);
}

// Two phases move 2 n, a pipeline n and a bit.
TEST(CollectivePlanTest, ScansVeryMuchThatMayBeCutByAPipeline) {
  EXPECT_EQ(ChosenFor(Collective::kScanElements, 8, 64 << 20), Algorithm::kPipeline);
  const auto pipeline = static_cast<std::size_t>(Algorithm::kPipeline);
  EXPECT_LT(MakePlan(Collective::kScan, kMachine, 8, 64 << 20).candidates[pipeline].cost_ns, 0);
}

TEST(VectorPiecesTest, FollowOneAnotherAndAreAlikeInSize) {
  for (const std::size_t elements : {0u, 1u, 5u, 64u, 1000u, 0x7fff'ffffu}) {
    const VectorPieces pieces{.p = 7, .elements = elements, .element_bytes = 3};
    EXPECT_EQ(pieces.Begin(0), 0u);
    EXPECT_EQ(pieces.Begin(7), 3 * elements);
    for (std::uint32_t pid = 0; pid < 7; ++pid) {
      EXPECT_LE(pieces.Bytes(pid), pieces.bytes_max());
      EXPECT_LE(pieces.bytes_max() - pieces.Bytes(pid), 3u);
    }
  }
}

TEST(CollectivePlanTest, ChoosesTheLeastCost) {
  for (std::uint32_t p = 2; p < 70; ++p) {
    for (std::size_t bytes = 1; bytes < 100'000'000; bytes *= 7) {
      for (std::size_t kind = 0; kind < kCollectives; ++kind) {
        const Plan plan = MakePlan(static_cast<Collective>(kind), kMachine, p, bytes);
        const Plan::Candidate& chosen = plan.candidates[static_cast<std::size_t>(plan.algorithm)];
        EXPECT_GT(chosen.cost_ns, 0);
        EXPECT_GT(chosen.ways, 0u);
        for (const Plan::Candidate& other : plan.candidates) {
          EXPECT_TRUE(other.cost_ns < 0 || chosen.cost_ns <= other.cost_ns);
        }
      }
    }
  }
}

// Every process of a block is in exactly one part, and the parts cover all processes.
TEST(FoldStepTest, PartsHoldEachProcessOnce) {
  for (std::uint32_t p = 1; p < 40; ++p) {
    for (std::uint32_t ways = 2; ways <= p; ++ways) {
      for (std::uint32_t block = 1; block < p; block *= ways) {
        const FoldStep step{.p = p, .ways = ways, .block = block};
        for (std::uint32_t pid = 0; pid < p; ++pid) {
          const std::uint32_t first = step.Begin(pid) + step.Part(pid) * block;
          EXPECT_LT(step.Part(pid), ways);
          EXPECT_LE(first, pid);
          EXPECT_LT(pid, first + step.Size(step.Begin(pid), step.Part(pid)));
        }
      }
    }
  }
}

TEST(MachineTest, TakesWhatIsGivenAndTheMeasuredForTheRest) {
  GivenMachine given;
  ASSERT_TRUE(ParseMachine("l=5000,n12=0,g=0.25", given));
  const Machine machine = MachineOf(4, 1, given);
  EXPECT_EQ(machine.l_ns, 5000);
  EXPECT_EQ(machine.half_bytes, 0);
  EXPECT_EQ(machine.g_ns_per_byte, 0.25);
  EXPECT_EQ(machine.s_flops, MachineOf(4, 1, {}).s_flops);
}

TEST(MachineTest, ABarrierOfMoreNodesTakesLonger) {
  EXPECT_LT(MachineOf(8, 1, {}).l_ns, MachineOf(8, 2, {}).l_ns);
  EXPECT_LT(2 * MachineOf(8, 2, {}).l_ns, MachineOf(8, 8, {}).l_ns);
}

TEST(MachineTest, NodesThatAllSendTakeEachOthersTime) {
  EXPECT_LT(MachineOf(8, 2, {}).g_ns_per_byte, MachineOf(8, 8, {}).g_ns_per_byte);
  EXPECT_EQ(MachineOf(8, 2, {}).alone_g_ns_per_byte, MachineOf(8, 8, {}).alone_g_ns_per_byte);
  GivenMachine given;
  ASSERT_TRUE(ParseMachine("g=8.5", given));
  EXPECT_EQ(MachineOf(8, 8, given).g_ns_per_byte, 8.5);
  EXPECT_EQ(MachineOf(8, 8, given).alone_g_ns_per_byte, 8.5);
}

// Of several nodes, that is between them.
TEST(MachineTest, AGivenMachineIsNoSlowerWithinANode) {
  GivenMachine given;
  ASSERT_TRUE(ParseMachine("g=8.5", given));
  EXPECT_EQ(MachineOf(4, 1, given).near_g_ns_per_byte, 8.5);
  const double near = MachineOf(4, 4, {}).near_g_ns_per_byte;
  EXPECT_EQ(MachineOf(4, 4, given).near_g_ns_per_byte, near);
  ASSERT_TRUE(ParseMachine("g=0.01", given));
  EXPECT_EQ(MachineOf(4, 4, given).near_g_ns_per_byte, 0.01);
}

TEST(MachineTest, RefusesOtherText) {
  for (const char* text : {"x=1", "g=", "g=-1", "g=1;l=2", "g=nan", "l=1 g=2", "g"}) {
    GivenMachine given;
    EXPECT_FALSE(ParseMachine(text, given)) << text;
  }
}

}  // namespace
}  // namespace bspnow::runtime
