// Processes that put to each other buffered, some of it by lanes, and get from each other: whatever
// comes when, lanes break or patience ends, the memory of each is what BSPlib says (all gets read
// before any put writes, and puts are written by source and in the order of issue).
#include "runtime/transfers/bulk_leave.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace bspnow::runtime {
namespace {

using Puts = BulkEnd::Puts;

constexpr std::size_t kAreaBytes = 256;
using Area = std::vector<std::byte>;

struct IssuedPut {
  std::size_t offset;
  std::vector<std::byte> bytes;
};

struct Counts {
  int taken = 0, refused = 0, broken = 0, taken_back = 0, gets = 0;
};

class World {
 public:
  World(std::uint64_t seed, std::uint32_t p) : random_(seed), p_(p), processes_(p) {
    for (std::uint32_t i = 0; i < p; ++i) {
      Process& process = processes_[i];
      process.area.resize(kAreaBytes);
      process.lanes.resize(p);
      for (std::uint32_t k = 0; k < p; ++k)
        process.lanes[k].Attach(BulkEnd::Payloads::kChecked,
                                p == 2 ? BulkEnd::Others::kNone : BulkEnd::Others::kSome);
    }
    wires_.resize(std::size_t{p} * p);
  }

  void Superstep(std::uint64_t superstep, Counts& counts) {
    for (std::uint32_t i = 0; i < p_; ++i) Issue(i);
    const std::vector<Area> expected = Expected();
    std::vector<Area> before;
    for (const Process& process : processes_) before.push_back(process.area);
    rough_ = Draw(3) == 0;
    for (int step = 0; !AllArrived() || Draw(4) != 0; ++step) {
      ASSERT_LT(step, 200'000) << "somebody waits for ever";
      Step(superstep, counts);
    }
    for (std::uint32_t i = 0; i < p_; ++i) {
      bool read = processes_[i].gets;
      for (const Process& other : processes_) read |= other.gets_from == i;
      if (read) {
        EXPECT_TRUE(processes_[i].area == before[i]) << "written before it is read";
      }
      counts.gets += read ? 1 : 0;
      for (BulkEnd& end : processes_[i].lanes) end.Leave();
    }
    for (std::uint32_t i = 0; i < p_; ++i) WriteRest(i, counts);
    for (std::uint32_t i = 0; i < p_; ++i)
      EXPECT_TRUE(processes_[i].area == expected[i]) << "pid " << i << " of " << p_;
    for (Process& process : processes_) process.in_sync = false;
  }

 private:
  struct Process {
    Area area;
    std::vector<BulkEnd> lanes;                ///< By pid; its own is not used.
    std::vector<std::vector<IssuedPut>> puts;  ///< By pid.
    std::vector<bool> offered;                 ///< The same.
    std::uint32_t gets_from = ~0u;
    bool gets = false;
    bool in_sync = false;
  };

  std::uint64_t Draw(std::uint64_t below) { return random_() % below; }
  /// Sent, not received.
  std::vector<std::byte>& wire(std::uint32_t from, std::uint32_t to) {
    return wires_[from * p_ + to];
  }

  // Either each source has its own part of the areas, or they meet.
  void Issue(std::uint32_t self) {
    Process& process = processes_[self];
    process.puts.assign(p_, {});
    process.offered.assign(p_, false);
    process.gets = Draw(6) == 0;
    process.gets_from = process.gets ? static_cast<std::uint32_t>(Draw(p_)) : ~0u;
    const bool meets = Draw(6) == 0;
    const std::size_t part = kAreaBytes / p_;
    for (std::uint32_t to = 0; to < p_; ++to) {
      const std::uint64_t count = to == self ? Draw(2) : Draw(3);
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::size_t from = meets ? 0 : self * part;
        const std::size_t room = meets ? kAreaBytes : part;
        const std::size_t begin = Draw(room);
        std::vector<std::byte> bytes(1 + Draw(room - begin));
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_());
        process.puts[to].push_back({.offset = from + begin, .bytes = std::move(bytes)});
      }
    }
  }

  std::vector<Area> Expected() const {
    std::vector<Area> areas;
    for (std::uint32_t i = 0; i < p_; ++i) {
      areas.push_back(processes_[i].area);
      for (const Process& source : processes_)
        for (const IssuedPut& put : source.puts[i])
          std::copy(put.bytes.begin(), put.bytes.end(),
                    areas.back().begin() + static_cast<std::ptrdiff_t>(put.offset));
    }
    return areas;
  }

  // As BulkLanes::EnterLane and OfferKept.
  void Enter(std::uint32_t self, std::uint64_t superstep) {
    Process& process = processes_[self];
    process.in_sync = true;
    for (std::uint32_t to = 0; to < p_; ++to) {
      if (to == self) continue;
      BulkEnd& end = process.lanes[to];
      end.Enter(superstep);
      if (process.gets) continue;
      if (process.puts[to].empty()) end.SayApart();
      if (process.puts[self].empty()) end.SayFree();
      if (process.puts[to].empty() || end.broken() || Draw(5) == 0) continue;
      process.offered[to] = true;
      std::size_t begin = kAreaBytes;
      std::size_t last = 0;
      for (const IssuedPut& put : process.puts[to]) {
        end.Owe({.slot = SlotId{1},
                 .offset = put.offset,
                 .from = put.bytes.data(),
                 .bytes = put.bytes.size()});
        begin = std::min(begin, put.offset);
        last = std::max(last, put.offset + put.bytes.size());
      }
      end.OweBuffered({.slot = SlotId{1}, .offset = begin, .bytes = last - begin});
      end.SayApart();
      if (Draw(8) == 0) end.TakeBack();  // Before anybody has heard of it.
    }
  }

  // As BulkLanes::SeeToLeave.
  void SeeToLeave(std::uint32_t self, Counts& counts) {
    Process& process = processes_[self];
    std::vector<BulkEnd*> of;
    for (std::uint32_t i = 0; i < p_; ++i)
      if (i != self) of.push_back(&process.lanes[i]);
    const BulkEnds ends{.of = of.data(), .count = p_ - 1};
    const OwnTransfers own = process.gets ? OwnTransfers::kOther : OwnTransfers::kNone;
    if (LookForLeave(ends, own) == LeaveDue::kNothing) return;
    std::vector<Interval> intervals;
    for (const BulkEnd* end : of)
      if (end->AsksForLeave())
        intervals.push_back({end->asked().offset, end->asked().offset + end->asked().bytes});
    for (const IssuedPut& put : process.puts[self])
      intervals.push_back({put.offset, put.offset + put.bytes.size()});
    AnswerForLeave(ends, intervals.data(), static_cast<std::uint32_t>(intervals.size()));
    counts.refused += of[0]->AsksForLeave() && !of[0]->HasLeave() ? 1 : 0;
  }

  bool Arrived(std::uint32_t self) const {
    const Process& process = processes_[self];
    return process.in_sync &&
           std::all_of(process.lanes.begin(), process.lanes.end(), [](const BulkEnd& end) {
             return end.puts() != Puts::kWait && end.puts() != Puts::kUnderWay;
           });
  }
  bool AllArrived() const {
    for (std::uint32_t i = 0; i < p_; ++i)
      if (!Arrived(i)) return false;
    return true;
  }

  void Step(std::uint64_t superstep, Counts& counts) {
    const auto self = static_cast<std::uint32_t>(Draw(p_));
    const auto other = static_cast<std::uint32_t>(Draw(p_));
    Process& process = processes_[self];
    if (!process.in_sync) {
      if (Draw(3) == 0) Enter(self, superstep);
      return;
    }
    if (other == self) return;
    BulkEnd& end = process.lanes[other];
    if (rough_ && Draw(200) == 0) {
      counts.broken += end.broken() ? 0 : 1;
      end.Break();
      processes_[other].lanes[self].Break();
    }
    if (Draw(rough_ ? 60 : 2000) == 0 && end.puts() == Puts::kWait) {
      counts.taken_back += 1;
      end.TakeBack();
    }
    Draw(2) == 0 ? Send(self, other) : Receive(self, other, counts);
  }

  void Send(std::uint32_t self, std::uint32_t other) {
    BulkEnd& end = processes_[self].lanes[other];
    const BulkEnd::Outgoing out = end.NextOut();
    const std::size_t all = out.head_bytes + out.body_bytes;
    if (all == 0) return;
    const std::size_t some = 1 + Draw(all);
    const std::size_t of_head = std::min(some, out.head_bytes);
    std::vector<std::byte>& bytes = wire(self, other);
    bytes.insert(bytes.end(), out.head, out.head + of_head);
    bytes.insert(bytes.end(), out.body, out.body + (some - of_head));
    end.Sent(some);
  }

  void Receive(std::uint32_t self, std::uint32_t other, Counts& counts) {
    Process& process = processes_[self];
    BulkEnd& end = process.lanes[other];
    std::vector<std::byte>& bytes = wire(other, self);
    const BulkEnd::Incoming in = end.NextIn();
    if (bytes.empty() || in.bytes == 0) return;
    const std::size_t some = 1 + Draw(std::min(in.bytes, bytes.size()));
    std::copy_n(bytes.begin(), some, in.to);
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(some));
    if (end.Received(some) == BulkEnd::Came::kPiece) {
      ASSERT_LE(end.piece().offset + end.piece().bytes, kAreaBytes);
      end.Place(&process.area[end.piece().offset]);
    }
    SeeToLeave(self, counts);
  }

  // After the barrier, what no lane took.
  void WriteRest(std::uint32_t self, Counts& counts) {
    for (std::uint32_t from = 0; from < p_; ++from) {
      const Process& source = processes_[from];
      if (from != self && source.offered[self] && source.lanes[self].puts() == Puts::kTaken) {
        counts.taken += 1;
        continue;
      }
      for (const IssuedPut& put : source.puts[self])
        std::copy(put.bytes.begin(), put.bytes.end(),
                  processes_[self].area.begin() + static_cast<std::ptrdiff_t>(put.offset));
    }
  }

  std::mt19937_64 random_;
  std::uint32_t p_;
  bool rough_ = false;
  std::vector<Process> processes_;
  std::vector<std::vector<std::byte>> wires_;
};

TEST(BulkLeaveTest, MemoryIsWhatBsplibSaysWhateverComesWhen) {
  for (std::uint32_t p = 2; p <= 4; ++p) {
    Counts counts;
    for (std::uint64_t seed = 1; seed <= 150 && !HasFailure(); ++seed) {
      SCOPED_TRACE(seed);
      World world(seed, p);
      for (std::uint64_t superstep = 0; superstep < 4; ++superstep)
        world.Superstep(superstep, counts);
    }
    EXPECT_GT(counts.taken, 50) << p;
    EXPECT_GT(counts.broken, 10) << p;
    EXPECT_GT(counts.taken_back, 10) << p;
    EXPECT_GT(counts.gets, 50) << p;
    if (p > 2) {
      EXPECT_GT(counts.refused, 5) << p;
    }
  }
}

}  // namespace
}  // namespace bspnow::runtime
