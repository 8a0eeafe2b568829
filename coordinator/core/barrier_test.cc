#include "coordinator/core/barrier.h"

#include <gtest/gtest.h>
#include <string.h>

#include <map>

namespace bspnow::coordinator {
namespace {

constexpr WorkerId kA{1};
constexpr WorkerId kB{2};
constexpr WorkerId kC{3};
constexpr WorkerId kStranger{9};

/// What a worker says, as bytes.
struct Arrival {
  ArriveBody body{};
  std::vector<PeerOwed> peers;
  std::vector<unsigned char> ending;

  std::vector<std::byte> Encode() const {
    ArriveBody complete = body;
    complete.peers = static_cast<std::uint32_t>(peers.size());
    complete.ending_bytes = static_cast<std::uint32_t>(ending.size());
    std::vector<std::byte> bytes(sizeof complete + peers.size() * sizeof(PeerOwed) + ending.size());
    memcpy(bytes.data(), &complete, sizeof complete);
    if (!peers.empty()) {
      memcpy(bytes.data() + sizeof complete, peers.data(), peers.size() * sizeof(PeerOwed));
    }
    if (!ending.empty()) memcpy(&bytes[bytes.size() - ending.size()], ending.data(), ending.size());
    return bytes;
  }
};

Arrival At(std::uint64_t barrier, std::uint32_t processes) {
  Arrival arrival;
  arrival.body.barrier = barrier;
  arrival.body.processes = processes;
  return arrival;
}

BarrierVerdict Arrive(Barrier& barrier, WorkerId from, const Arrival& arrival) {
  const std::vector<std::byte> bytes = arrival.Encode();
  return barrier.OnArrive(from, *ArriveView::Decode(bytes));
}

/// What a worker hears, from bytes.
struct Heard {
  ReleaseBody body;
  std::map<std::uint32_t, std::uint64_t> frames_from;
  std::vector<unsigned char> ending;
};

Heard Hear(const Barrier& barrier, WorkerId worker) {
  const std::span<const std::byte> bytes = barrier.release(barrier.HostOf(worker));
  Heard heard;
  memcpy(&heard.body, bytes.data(), sizeof heard.body);
  std::size_t at = sizeof heard.body;
  for (std::uint32_t i = 0; i < heard.body.peers; ++i, at += sizeof(PeerOwed)) {
    PeerOwed owed;
    memcpy(&owed, bytes.data() + at, sizeof owed);
    heard.frames_from[owed.worker] = owed.frames;
  }
  EXPECT_EQ(bytes.size(), at + heard.body.ending_bytes);
  for (; at < bytes.size(); ++at) heard.ending.push_back(std::to_integer<unsigned char>(bytes[at]));
  return heard;
}

/// Pids 0 and 1 at A, 2 at B, 3 and 4 at C.
Barrier ThreeWorkers() {
  return Barrier(
      {.nprocs = 5, .hosts = {{kA, {Pid{0}, Pid{1}}}, {kB, {Pid{2}}}, {kC, {Pid{3}, Pid{4}}}}});
}

Barrier Begun() {
  Barrier barrier = ThreeWorkers();
  EXPECT_EQ(barrier.OnBegin(kA, 5), BarrierVerdict::kTellBegin);
  return barrier;
}

void Pass(Barrier& barrier, std::uint64_t index) {
  ASSERT_EQ(Arrive(barrier, kA, At(index, 2)), BarrierVerdict::kNothing);
  ASSERT_EQ(Arrive(barrier, kB, At(index, 1)), BarrierVerdict::kNothing);
  ASSERT_EQ(Arrive(barrier, kC, At(index, 2)), BarrierVerdict::kRelease);
}

TEST(BarrierTest, ReleasesWhenTheLastWorkerHasArrived) {
  Barrier barrier = Begun();
  for (std::uint64_t index = 0; index < 5; ++index) {
    EXPECT_EQ(barrier.current(), index);
    Pass(barrier, index);
    EXPECT_EQ(Hear(barrier, kB).body.barrier, index);
  }
}

TEST(BarrierTest, TellsEachWorkerWhatEachOtherHasSentIt) {
  Barrier barrier = Begun();
  Pass(barrier, 0);
  Arrival a = At(1, 2);
  a.peers = {{Value(kB), 0, 7}, {Value(kC), 0, 1}};
  Arrival c = At(1, 2);
  c.peers = {{Value(kB), 0, 3}};
  Arrive(barrier, kA, a);
  Arrive(barrier, kB, At(1, 1));
  ASSERT_EQ(Arrive(barrier, kC, c), BarrierVerdict::kRelease);
  using Frames = std::map<std::uint32_t, std::uint64_t>;
  EXPECT_EQ(Hear(barrier, kA).frames_from, Frames{});
  EXPECT_EQ(Hear(barrier, kB).frames_from, (Frames{{Value(kA), 7}, {Value(kC), 3}}));
  EXPECT_EQ(Hear(barrier, kC).frames_from, (Frames{{Value(kA), 1}}));
  Pass(barrier, 2);
  EXPECT_EQ(Hear(barrier, kB).frames_from, Frames{});
}

TEST(BarrierTest, AddsUpTheCountsOfAllWorkers) {
  Barrier barrier = Begun();
  Arrival a = At(0, 2);
  a.body.with_data = 2;
  a.body.with_votes = 1;
  Arrival b = At(0, 1);
  b.body.with_data = 1;
  b.body.with_gets = 1;
  Arrive(barrier, kA, a);
  Arrive(barrier, kB, b);
  Arrive(barrier, kC, At(0, 2));
  const ReleaseBody body = Hear(barrier, kC).body;
  EXPECT_EQ(body.with_data, 3u);
  EXPECT_EQ(body.with_gets, 1u);
  EXPECT_EQ(body.with_votes, 1u);
  EXPECT_EQ(body.ending, 0u);
}

TEST(BarrierTest, NoCheckpointWhileAProcessIsInAnotherGroup) {
  Barrier barrier = Begun();
  Pass(barrier, 0);
  for (const std::uint32_t in_groups : {1u, 0u}) {
    Arrival a = At(barrier.current(), 2);
    Arrival b = At(barrier.current(), 1);
    Arrival c = At(barrier.current(), 2);
    for (Arrival* const arrival : {&a, &b, &c}) arrival->body.ends_superstep = 1;
    b.body.with_groups = in_groups;
    Arrive(barrier, kA, a);
    Arrive(barrier, kB, b);
    ASSERT_EQ(Arrive(barrier, kC, c), BarrierVerdict::kRelease);
    EXPECT_EQ(barrier.may_checkpoint(), in_groups == 0);
    EXPECT_EQ(Hear(barrier, kA).body.with_groups, in_groups);
  }
  Arrival too_many = At(barrier.current(), 1);
  too_many.body.with_groups = 2;
  EXPECT_EQ(Arrive(barrier, kB, too_many), BarrierVerdict::kRefused);
}

TEST(BarrierTest, NamesThoseInBspEndIfNotAllAre) {
  Barrier barrier = Begun();
  Arrival b = At(0, 1);  // All of B's, that is pid 2.
  b.body.ending = 1;
  Arrival c = At(0, 2);
  c.body.ending = 1;
  c.ending = {1 << 4};
  Arrive(barrier, kA, At(0, 2));
  Arrive(barrier, kB, b);
  ASSERT_EQ(Arrive(barrier, kC, c), BarrierVerdict::kRelease);
  const Heard heard = Hear(barrier, kA);
  EXPECT_EQ(heard.body.ending, 2u);
  EXPECT_EQ(heard.ending, (std::vector<unsigned char>{1 << 2 | 1 << 4}));
}

TEST(BarrierTest, SendsNoBitmapWhenAllAreInBspEnd) {
  Barrier barrier = Begun();
  for (const auto& [worker, processes] : {std::pair{kA, 2u}, {kB, 1u}, {kC, 2u}}) {
    Arrival arrival = At(0, processes);
    arrival.body.ending = processes;
    Arrive(barrier, worker, arrival);
  }
  EXPECT_EQ(Hear(barrier, kA).body.ending, 5u);
  EXPECT_TRUE(Hear(barrier, kA).ending.empty());
}

TEST(BarrierTest, ARepeatedArrivalChangesNothing) {
  Barrier barrier = Begun();
  Arrival a = At(0, 2);
  a.body.with_data = 1;
  a.peers = {{Value(kB), 0, 7}};
  EXPECT_EQ(Arrive(barrier, kA, a), BarrierVerdict::kNothing);
  EXPECT_EQ(Arrive(barrier, kA, a), BarrierVerdict::kNothing);
  Arrive(barrier, kB, At(0, 1));
  EXPECT_EQ(Arrive(barrier, kA, a), BarrierVerdict::kNothing);
  ASSERT_EQ(Arrive(barrier, kC, At(0, 2)), BarrierVerdict::kRelease);
  EXPECT_EQ(Hear(barrier, kB).body.with_data, 1u);
  EXPECT_EQ(Hear(barrier, kB).body.peers, 1u);
}

TEST(BarrierTest, AnArrivalAtTheLastBarrierBringsItsReleaseAgain) {
  Barrier barrier = Begun();
  Arrival a = At(0, 2);
  a.peers = {{Value(kB), 0, 7}};
  Arrive(barrier, kA, a);
  Arrive(barrier, kB, At(0, 1));
  Arrive(barrier, kC, At(0, 2));
  // Others are at the next barrier already.
  EXPECT_EQ(Arrive(barrier, kA, At(1, 2)), BarrierVerdict::kNothing);
  EXPECT_EQ(Arrive(barrier, kB, At(0, 1)), BarrierVerdict::kRepeat);
  EXPECT_EQ(Hear(barrier, kB).body.barrier, 0u);
  EXPECT_EQ(Hear(barrier, kB).frames_from.at(Value(kA)), 7u);
}

TEST(BarrierTest, IgnoresArrivalsAtBarriersLongOver) {
  Barrier barrier = Begun();
  Pass(barrier, 0);
  Pass(barrier, 1);
  EXPECT_EQ(Arrive(barrier, kA, At(0, 2)), BarrierVerdict::kNothing);
}

TEST(BarrierTest, LeavesOutWorkersWithoutAProcessBelowP) {
  Barrier barrier = ThreeWorkers();
  ASSERT_EQ(barrier.OnBegin(kA, 3), BarrierVerdict::kTellBegin);
  EXPECT_TRUE(barrier.takes_part(barrier.HostOf(kB)));
  EXPECT_FALSE(barrier.takes_part(barrier.HostOf(kC)));
  Arrive(barrier, kA, At(0, 2));
  EXPECT_EQ(Arrive(barrier, kB, At(0, 1)), BarrierVerdict::kRelease);
  EXPECT_EQ(Arrive(barrier, kC, At(1, 2)), BarrierVerdict::kRefused);
  EXPECT_EQ(Arrive(barrier, kC, At(0, 2)), BarrierVerdict::kNothing);
}

TEST(BarrierTest, CountsOnlyProcessesBelowP) {
  Barrier barrier = ThreeWorkers();
  barrier.OnBegin(kA, 4);
  Arrive(barrier, kA, At(0, 2));
  Arrive(barrier, kB, At(0, 1));
  EXPECT_EQ(Arrive(barrier, kC, At(0, 2)), BarrierVerdict::kRefused);
  EXPECT_EQ(Arrive(barrier, kC, At(0, 1)), BarrierVerdict::kRelease);
}

TEST(BarrierTest, BeginMayBeRepeatedButNotChanged) {
  Barrier barrier = ThreeWorkers();
  EXPECT_EQ(barrier.OnBegin(kB, 5), BarrierVerdict::kRefused);  // Not pid 0's.
  EXPECT_EQ(barrier.OnBegin(kA, 0), BarrierVerdict::kRefused);
  EXPECT_EQ(barrier.OnBegin(kA, 6), BarrierVerdict::kRefused);
  EXPECT_EQ(barrier.OnBegin(kA, 4), BarrierVerdict::kTellBegin);
  EXPECT_EQ(barrier.OnBegin(kA, 4), BarrierVerdict::kNothing);
  EXPECT_EQ(barrier.OnBegin(kA, 5), BarrierVerdict::kRefused);
  EXPECT_EQ(barrier.processes(), 4u);
}

TEST(BarrierTest, RefusesWhatContradictsAndStaysAsItWas) {
  Barrier barrier = ThreeWorkers();
  EXPECT_EQ(Arrive(barrier, kA, At(0, 2)), BarrierVerdict::kRefused);
  EXPECT_STREQ(barrier.refusal(), "arrival before bsp_begin");
  barrier.OnBegin(kA, 5);
  Arrival many = At(0, 2);
  many.body.with_data = 3;
  Arrival self = At(0, 2);
  self.peers = {{Value(kA), 0, 1}};
  Arrival stranger = At(0, 2);
  stranger.peers = {{Value(kStranger), 0, 1}};
  Arrival twice = At(0, 2);
  twice.peers = {{Value(kB), 0, 1}, {Value(kB), 0, 1}};
  Arrival no_bitmap = At(0, 2);
  no_bitmap.body.ending = 1;
  Arrival others_bit = no_bitmap;
  others_bit.ending = {1 << 2};
  Arrival long_bitmap = no_bitmap;
  long_bitmap.ending = {1, 0};
  for (const Arrival& wrong :
       {At(0, 1), At(1, 2), many, self, stranger, twice, no_bitmap, others_bit, long_bitmap}) {
    EXPECT_EQ(Arrive(barrier, kA, wrong), BarrierVerdict::kRefused);
    EXPECT_STRNE(barrier.refusal(), "");
  }
  EXPECT_EQ(Arrive(barrier, kStranger, At(0, 2)), BarrierVerdict::kRefused);
  Pass(barrier, 0);
  EXPECT_EQ(Hear(barrier, kB).body.peers, 0u);
  EXPECT_EQ(Hear(barrier, kB).body.with_data, 0u);
}

TEST(BarrierTest, AddsUpWhatNodesMeasured) {
  Barrier barrier = Begun();
  Pass(barrier, 0);
  EXPECT_EQ(barrier.sums(), nullptr);
  for (const auto& [worker, processes] : {std::pair{kC, 2u}, {kA, 2u}, {kB, 1u}}) {
    Arrival arrival = At(1, processes);
    arrival.body.has_sums = 1;
    arrival.body.sums.w_ns = 10 * Value(worker);
    arrival.body.sums.messages_out = 1;
    Arrive(barrier, worker, arrival);
  }
  ASSERT_NE(barrier.sums(), nullptr);
  EXPECT_EQ(barrier.sums()->w_ns, 30u);
  EXPECT_EQ(barrier.sums()->messages_out, 3u);
}

TEST(BarrierTest, NobodyWaitsForTheBarrierAfterTheEnd) {
  Barrier barrier = Begun();
  Pass(barrier, 0);
  for (const std::uint64_t index : {1u, 2u}) {
    for (const auto& [worker, processes] : {std::pair{kA, 2u}, {kB, 1u}, {kC, 2u}}) {
      Arrival arrival = At(index, processes);
      arrival.body.ending = index == 1 ? processes : 0;
      arrival.body.has_sums = 1;
      arrival.body.sums.superstep = index - 1;
      Arrive(barrier, worker, arrival);
    }
    ASSERT_NE(barrier.sums(), nullptr);
    EXPECT_EQ(barrier.sums()->superstep, index - 1);
    EXPECT_EQ(barrier.over(), index == 2);
  }
}

TEST(BarrierTest, GivesTheSumsOfASuperstepOnce) {
  Barrier barrier = Begun();
  Pass(barrier, 0);
  for (const std::uint64_t index : {1u, 2u}) {  // As with two barriers in a superstep.
    for (const auto& [worker, processes] : {std::pair{kA, 2u}, {kB, 1u}, {kC, 2u}}) {
      Arrival arrival = At(index, processes);
      arrival.body.has_sums = 1;
      Arrive(barrier, worker, arrival);
    }
    EXPECT_EQ(barrier.sums() != nullptr, index == 1);
  }
}

TEST(ArriveCodecTest, RefusesLengthsThatDoNotAddUp) {
  Arrival arrival = At(0, 2);
  arrival.peers = {{Value(kB), 0, 7}};
  arrival.ending = {3};
  std::vector<std::byte> bytes = arrival.Encode();
  ASSERT_TRUE(ArriveView::Decode(bytes).has_value());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ArriveView::Decode(std::span(bytes).first(size)).has_value());
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(ArriveView::Decode(bytes).has_value());
  ArriveBody body{};
  body.peers = ~0u;
  body.ending_bytes = ~0u;
  EXPECT_FALSE(ArriveView::Decode(std::as_bytes(std::span(&body, 1))).has_value());
}

// ---- Nodes that release themselves --------------------------------------------------------------

Barrier DirectTwo(EpochOrigin origin) {
  return Barrier(
      {.nprocs = 2, .hosts = {{kA, {Pid{0}}}, {kB, {Pid{1}}}}, .origin = origin, .direct = true});
}

Arrival Last(std::uint64_t w_ns) {
  Arrival arrival = At(40, 1);
  arrival.body.has_sums = 1;
  arrival.body.sums.superstep = 38;
  arrival.body.sums.w_ns = w_ns;
  return arrival;
}

TEST(BarrierTest, OfNodesThatReleaseThemselvesItHearsTheFirstBarrierAndTheLast) {
  Barrier barrier = DirectTwo(EpochOrigin::kStarted);
  EXPECT_EQ(barrier.OnBegin(kA, 2), BarrierVerdict::kTellBegin);
  EXPECT_EQ(Arrive(barrier, kA, At(0, 1)), BarrierVerdict::kNothing);
  EXPECT_EQ(Arrive(barrier, kB, At(0, 1)), BarrierVerdict::kRelease);
  EXPECT_FALSE(barrier.over());
  EXPECT_EQ(Arrive(barrier, kB, Last(7)), BarrierVerdict::kNothing);
  EXPECT_EQ(Arrive(barrier, kA, Last(9)), BarrierVerdict::kRelease);
  EXPECT_TRUE(barrier.over());
  EXPECT_FALSE(barrier.may_checkpoint());
  ASSERT_NE(barrier.sums(), nullptr);
  EXPECT_EQ(barrier.sums()->w_ns, 9u);
}

TEST(BarrierTest, OfNodesThatReleaseThemselvesALastArrivalMayComeBeforeBspBeginIsKnownAgain) {
  Barrier barrier = DirectTwo(EpochOrigin::kAdopted);
  EXPECT_EQ(Arrive(barrier, kB, At(0, 1)), BarrierVerdict::kNothing);
  EXPECT_EQ(Arrive(barrier, kB, Last(7)), BarrierVerdict::kNothing);
  EXPECT_EQ(barrier.OnBegin(kA, 2), BarrierVerdict::kTellBegin);
  EXPECT_EQ(Arrive(barrier, kA, Last(9)), BarrierVerdict::kNothing);
  EXPECT_FALSE(barrier.over());
}

}  // namespace
}  // namespace bspnow::coordinator
