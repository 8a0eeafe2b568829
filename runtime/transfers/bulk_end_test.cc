#include "runtime/transfers/bulk_end.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace bspnow::runtime {
namespace {

using Puts = BulkEnd::Puts;

enum class Owes { kNothing, kAll };

/// A process as its program sees it: what it puts, and the area that the other one puts into.
struct Side {
  explicit Side(std::size_t bytes) : source(bytes), area(bytes) {}

  bool arrived() const {
    return in_sync && end.puts() != Puts::kWait && end.puts() != Puts::kUnderWay;
  }

  BulkEnd end;
  std::vector<std::byte> source;
  std::vector<std::byte> area;
  std::vector<std::byte> wire;  ///< Sent, not received.
  bool in_sync = false;
  std::uint64_t written = 0;  ///< Bytes that came into `area`.
};

/// Two processes and the connection between them, which takes and gives as much as it likes.
class World {
 public:
  World(std::uint64_t seed, std::size_t bytes) : random_(seed), sides_{Side(bytes), Side(bytes)} {
    for (Side& side : sides_)
      for (std::byte& byte : side.source) byte = static_cast<std::byte>(random_());
  }

  std::uint64_t Draw(std::uint64_t below) { return random_() % below; }
  Side& side(int i) { return sides_[i]; }

  void Enter(int i, std::uint64_t superstep, Owes owes) {
    Side& side = sides_[i];
    side.end.Enter(superstep);
    side.in_sync = true;
    const std::uint64_t half = side.source.size() / 2;
    if (owes == Owes::kNothing || side.end.broken()) return;
    side.end.Owe({.slot = SlotId{3}, .offset = half, .from = &side.source[half], .bytes = half});
    side.end.Owe({.slot = SlotId{3}, .offset = 0, .from = side.source.data(), .bytes = half});
  }

  /// Some bytes from its end into the connection.
  bool Send(int i) {
    const BulkEnd::Outgoing out = sides_[i].end.NextOut();
    const std::size_t all = out.head_bytes + out.body_bytes;
    if (all == 0) return false;
    const std::size_t some = 1 + Draw(all);
    std::vector<std::byte>& wire = sides_[i].wire;
    const std::size_t of_head = std::min(some, out.head_bytes);
    wire.insert(wire.end(), out.head, out.head + of_head);
    wire.insert(wire.end(), out.body, out.body + (some - of_head));
    sides_[i].end.Sent(some);
    sent_ += some;
    return true;
  }

  /// Some bytes out of the connection.
  bool Receive(int i) {
    Side& side = sides_[i];
    std::vector<std::byte>& wire = sides_[1 - i].wire;
    const BulkEnd::Incoming in = side.end.NextIn();
    if (wire.empty() || in.bytes == 0) return false;
    const std::size_t some = 1 + Draw(std::min(in.bytes, wire.size()));
    memcpy(in.to, wire.data(), some);
    if (in.to >= side.area.data() && in.to < side.area.data() + side.area.size()) {
      EXPECT_TRUE(side.in_sync) << "the program's memory changes while it computes";
      side.written += some;
    }
    wire.erase(wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(some));
    if (side.end.Received(some) != BulkEnd::Came::kPiece) return true;
    const BulkHeader& piece = side.end.piece();
    EXPECT_EQ(piece.slot, 3u);
    EXPECT_LE(piece.offset + piece.bytes, side.area.size());
    side.end.Place(&side.area[piece.offset]);
    return true;
  }

  /// Each sends something, and receives something, if it can. False: none of it happened.
  bool Step() {
    bool any = Send(0);
    any |= Receive(1);
    any |= Send(1);
    any |= Receive(0);
    return any;
  }

  /// Whatever can happen, in any order, until nothing can.
  void Run() {
    for (bool any = true; any;) {
      any = false;
      for (int i = 0; i < 4; ++i) {
        const int which = static_cast<int>(Draw(2));
        any |= Draw(2) == 0 ? Send(which) : Receive(which);
      }
      any |= Step();
    }
  }

  void Leave(int i) {
    sides_[i].end.Leave();
    sides_[i].in_sync = false;
  }
  std::uint64_t sent() const { return sent_; }

 private:
  std::mt19937_64 random_;
  Side sides_[2];
  std::uint64_t sent_ = 0;
};

constexpr std::size_t kBytes = 2 * (kBulkPieceBytes + 10'000);  // A piece and a rest, twice.

TEST(BulkEndTest, PutsOfBothAreInPlaceWhenBothMayArrive) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    World world(seed, kBytes);
    for (std::uint64_t superstep = 0; superstep < 4; ++superstep) {
      const auto draw = [&world] { return world.Draw(2) == 0 ? Owes::kAll : Owes::kNothing; };
      const Owes owes[2] = {superstep == 0 ? Owes::kAll : draw(), draw()};
      for (int i = 0; i < 2; ++i) std::fill_n(world.side(i).area.begin(), kBytes, std::byte{0});
      const int first = static_cast<int>(world.Draw(2));
      world.Enter(first, superstep, owes[first]);
      world.Run();
      EXPECT_EQ(world.side(first).written, 0u) << "the other one computes";
      EXPECT_EQ(world.side(1 - first).written, 0u);
      world.Enter(1 - first, superstep, owes[1 - first]);
      world.Run();
      for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(world.side(i).arrived());
        if (owes[i] == Owes::kNothing) continue;
        EXPECT_EQ(world.side(i).end.puts(), Puts::kTaken);
        EXPECT_TRUE(world.side(1 - i).area == world.side(i).source) << seed;
      }
      for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(world.side(i).wire.empty()) << "under way at the barrier";
        world.Leave(i);
        EXPECT_FALSE(world.side(i).end.broken());
        world.side(i).written = 0;
      }
    }
  }
}

// The one who put sends it another way, and arrives; the other one hears of it, and is in its own
// bsp_sync of this superstep or the next.
TEST(BulkEndTest, WhoComesTooLateBreaksNothing) {
  World world(1, kBytes);
  world.Enter(0, 7, Owes::kAll);
  world.Run();
  ASSERT_EQ(world.side(0).end.puts(), Puts::kWait);
  world.side(0).end.TakeBack();
  EXPECT_TRUE(world.side(0).arrived());
  world.Enter(1, 7, Owes::kAll);
  world.Run();
  EXPECT_EQ(world.side(1).end.puts(), Puts::kTaken) << "in the other direction nothing is late";
  EXPECT_EQ(world.side(1).written, 0u);
  world.Leave(0);
  world.Enter(0, 8, Owes::kAll);
  world.Send(0);  // Before the other one has seen that the barrier is over.
  world.Run();
  EXPECT_EQ(world.side(0).end.puts(), Puts::kWait);
  world.Leave(1);
  world.Enter(1, 8, Owes::kNothing);
  world.Run();
  EXPECT_EQ(world.side(0).end.puts(), Puts::kTaken);
  EXPECT_TRUE(world.side(1).area == world.side(0).source);
}

// So it may sleep where these come, and nowhere else.
TEST(BulkEndTest, ExpectsPiecesFromWhoSaysThatHePutsUntilTheLastOne) {
  World world(1, kBytes);
  world.Enter(1, 4, Owes::kNothing);
  world.Run();
  EXPECT_FALSE(world.side(1).end.Expects());
  world.Enter(0, 4, Owes::kAll);
  while (!world.side(1).end.Expects()) ASSERT_TRUE(world.Step());
  EXPECT_EQ(world.side(1).written, 0u);
  while (world.side(1).written != kBytes) {
    EXPECT_TRUE(world.side(1).end.Expects());
    ASSERT_TRUE(world.Step());
  }
  EXPECT_FALSE(world.side(1).end.Expects());
  EXPECT_FALSE(world.side(0).end.Expects()) << "the other one was here, and puts nothing";
  world.Run();
  for (int i : {0, 1}) world.Leave(i);

  world.Enter(0, 5, Owes::kAll);
  world.Run();
  world.Enter(1, 5, Owes::kNothing);
  while (!world.side(1).end.Expects()) ASSERT_TRUE(world.Receive(1));
  world.side(1).end.Break();
  EXPECT_FALSE(world.side(1).end.Expects());
}

TEST(BulkEndTest, ExpectsNothingAfterTheBarrier) {
  World world(1, kBytes);
  world.Enter(0, 4, Owes::kAll);
  world.Run();
  world.side(0).end.TakeBack();  // The other one has not heard of that.
  world.Enter(1, 4, Owes::kNothing);
  world.Run();
  EXPECT_TRUE(world.side(1).end.Expects());
  for (int i : {0, 1}) world.Leave(i);
  EXPECT_FALSE(world.side(1).end.Expects());
  world.Enter(1, 5, Owes::kNothing);
  EXPECT_FALSE(world.side(1).end.Expects());
}

TEST(BulkEndTest, WhatIsTakenBackAtOnceIsNotHeardOf) {
  World world(1, kBytes);
  world.Enter(0, 1, Owes::kAll);
  world.side(0).end.TakeBack();
  world.Enter(1, 1, Owes::kNothing);
  world.Run();
  EXPECT_EQ(world.sent(), 0u);
  EXPECT_EQ(world.side(0).end.puts(), Puts::kNone);
  for (int i : {0, 1}) world.Leave(i);

  world.Enter(0, 2, Owes::kAll);
  world.side(0).end.TakeBack();
  world.Enter(1, 2, Owes::kAll);
  world.Run();
  EXPECT_EQ(world.side(0).end.puts(), Puts::kNone);
  EXPECT_EQ(world.side(1).end.puts(), Puts::kTaken) << "it takes what the other one puts";
  EXPECT_TRUE(world.side(0).area == world.side(1).source);
}

// At each byte, more or less: nothing counts as taken that is not in its place, and after the
// barrier nothing comes any more.
TEST(BulkEndTest, ABreakAnywhereLosesNothing) {
  constexpr std::size_t kFew = 1000;
  for (std::uint64_t cut = 0; cut <= 2 * (kFew + 4 * sizeof(BulkHeader)); ++cut) {
    World world(cut + 1, kFew);
    world.Enter(0, 1, Owes::kAll);
    world.Enter(1, 1, Owes::kAll);
    while (world.sent() < cut && world.Step()) continue;
    world.side(0).end.Break();
    for (int i = 0; i < 2; ++i) {
      if (world.side(i).end.puts() == Puts::kTaken) {
        EXPECT_TRUE(world.side(1 - i).area == world.side(i).source) << cut;
      }
    }
    EXPECT_EQ(world.side(0).end.NextIn().bytes, 0u);
    EXPECT_EQ(world.side(0).end.NextOut().head_bytes, 0u);
    // The other one has not noticed, and its barrier is over: what still comes finds no memory.
    while (world.Draw(3) != 0) world.Receive(1);
    world.Leave(1);
    EXPECT_EQ(world.side(1).end.NextIn().bytes, 0u);
    const std::uint64_t written = world.side(1).written;
    world.Enter(1, 2, Owes::kNothing);
    world.Run();
    EXPECT_EQ(world.side(1).written, written) << cut;
  }
}

TEST(BulkEndTest, ADamagedByteIsNeverTaken) {
  constexpr std::size_t kFew = 200;
  constexpr std::size_t kAll = sizeof(BulkHeader) + 2 * (sizeof(BulkHeader) + kFew / 2);
  for (std::size_t damaged = 0; damaged < kAll; ++damaged) {
    World world(damaged + 1, kFew);
    world.Enter(0, 1, Owes::kAll);
    world.Enter(1, 1, Owes::kNothing);
    std::size_t from = 0;
    for (bool flipped = false; world.Step();) {
      std::vector<std::byte>& wire = world.side(0).wire;
      from = world.sent();
      if (flipped || wire.empty() || from <= damaged) continue;
      wire.back() ^= std::byte{4};
      flipped = true;
    }
    EXPECT_NE(world.side(0).end.puts(), Puts::kTaken) << damaged;
  }
}

TEST(BulkEndTest, TrustsTcpIfBothAreToldTo) {
  World world(1, kBytes);
  world.side(0).end.Attach(BulkEnd::Payloads::kTrusted, BulkEnd::Others::kNone);
  world.Enter(0, 1, Owes::kAll);
  world.Enter(1, 1, Owes::kAll);
  world.Run();
  EXPECT_TRUE(world.side(0).arrived());
  EXPECT_TRUE(world.side(1).area == world.side(0).source);
  EXPECT_TRUE(world.side(0).area == world.side(1).source) << "each says it of its own pieces";
}

// A peer that has given up, or is none.
TEST(BulkEndTest, TakesNoPieceThatItDidNotAskFor) {
  World sender(1, kBytes);
  sender.Enter(0, 1, Owes::kAll);
  sender.Enter(1, 1, Owes::kAll);
  while (sender.side(0).wire.size() < 1000) {
    sender.Send(0);
    sender.Send(1);
    sender.Receive(0);
  }
  for (const std::uint64_t superstep : {0, 2}) {
    World world(2, kBytes);
    world.side(0).wire = sender.side(0).wire;
    world.Enter(1, superstep, Owes::kAll);
    world.Run();
    EXPECT_TRUE(world.side(1).end.broken());
    EXPECT_EQ(world.side(1).end.puts(), Puts::kFailed);
    EXPECT_EQ(world.side(1).written, 0u);
  }
}

}  // namespace
}  // namespace bspnow::runtime
