#include "tests/simulation/sim_bulk.h"

#include <string.h>

#include <algorithm>
#include <span>
#include <utility>

#include "tests/simulation/sim_program.h"

namespace bspnow {
namespace {

using runtime::BulkEnd;
using runtime::OwnTransfers;
using Puts = BulkEnd::Puts;

// As BulkLanes has them.
constexpr std::uint64_t kPatienceNs = 5 * kMillisecond;
constexpr std::uint64_t kStallNs = 2 * kSecond;
constexpr std::uint64_t kLookNs = 2 * kMillisecond;  // Of who waits for something else, at most.
constexpr std::uint64_t kStepNs = 20 * kMicrosecond;
constexpr std::size_t kReadBytesMax = 1000;  // Before it writes again.

}  // namespace

// ---- The memory of the program ------------------------------------------------------------------

std::vector<std::byte> SimArea::BytesOf(std::uint64_t value) {
  std::vector<std::byte> bytes(kCellBytes);
  std::uint64_t word = value;
  for (std::size_t at = 0; at < kCellBytes; at += sizeof word) {
    memcpy(&bytes[at], &word, sizeof word);
    word = SimProgram::Mix(value, at, 3);
  }
  return bytes;
}

std::byte* SimArea::Find(std::uint32_t from, std::uint64_t offset, std::uint64_t bytes) {
  constexpr std::size_t kAreaBytes = kCells * kCellBytes;
  if (offset > kAreaBytes || bytes > kAreaBytes - offset) return nullptr;
  std::vector<std::byte>& area = areas_[from];
  area.resize(kAreaBytes);
  return &area[offset];
}

bool SimArea::Put(std::uint32_t from, std::uint32_t index, std::uint64_t value) {
  const std::vector<std::byte> bytes = BytesOf(value);
  std::byte* const cell = Find(from, index * kCellBytes, kCellBytes);
  const bool again =
      std::any_of(cell, cell + kCellBytes, [](std::byte b) { return b != std::byte{0}; });
  std::copy(bytes.begin(), bytes.end(), cell);
  return again;
}

bool SimArea::Take(std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>& values) {
  const std::vector<std::byte> empty(kCellBytes);
  for (auto& [from, area] : areas_) {
    for (std::uint32_t index = 0; index < kCells; ++index) {
      const std::span<std::byte> cell(&area[index * kCellBytes], kCellBytes);
      if (std::equal(cell.begin(), cell.end(), empty.begin())) continue;
      std::uint64_t value;
      memcpy(&value, cell.data(), sizeof value);
      const std::vector<std::byte> put = BytesOf(value);
      if (!std::equal(cell.begin(), cell.end(), put.begin())) return false;
      values[{from, index}] = value;
      std::fill(cell.begin(), cell.end(), std::byte{0});
    }
  }
  return true;
}

// ---- A bsp_sync ---------------------------------------------------------------------------------

SimBulk::~SimBulk() {
  for (const auto& [pid, end] : ends_) end.lane.pipe->OnNews(end.lane.here, nullptr);
}

void SimBulk::Enter(std::uint64_t superstep, OwnTransfers own, std::set<std::uint32_t> puts_to) {
  entered_ = true;
  superstep_ = superstep;
  own_ = own;
  puts_to_ = std::move(puts_to);
  sources_.clear();
  OnNews();
}

void SimBulk::Leave() {
  entered_ = false;
  if (!std::exchange(open_, false)) return;
  for (auto& [pid, end] : ends_) {
    if (end.closed) continue;
    end.end.Leave();
    if (end.end.broken()) Fail(end);
  }
}

bool SimBulk::Open() {
  if (open_) return true;
  if (!entered_) return false;
  const std::vector<Lane> lanes = world_.open();
  if (lanes.empty()) return false;
  open_ = true;
  for (const Lane& lane : lanes) {
    End& end = ends_[lane.pid];
    if (!end.lane.pipe) {
      lane.pipe->OnNews(lane.here, [this] { OnNews(); });
      end.end.Attach(BulkEnd::Payloads::kChecked,
                     world_.processes == 2 ? BulkEnd::Others::kNone : BulkEnd::Others::kSome);
    }
    end.lane = lane;
    end.end.Enter(superstep_);
    if (own_ == OwnTransfers::kOther) continue;
    if (!puts_to_.contains(lane.pid)) end.end.SayApart();
    end.end.SayFree();
  }
  return true;
}

void SimBulk::Owe(std::uint32_t pid, std::uint32_t self, std::uint32_t index, std::uint64_t value) {
  if (!Open()) return;
  const auto found = ends_.find(pid);
  if (found == ends_.end() || found->second.end.broken()) return;
  sources_.push_back(SimArea::BytesOf(value));
  found->second.end.Owe({.slot = SlotId{self},
                         .offset = index * SimArea::kCellBytes,
                         .from = sources_.back().data(),
                         .bytes = SimArea::kCellBytes});
}

void SimBulk::Offer(std::uint32_t pid, std::uint32_t self) {
  const auto found = ends_.find(pid);
  if (!open_ || found == ends_.end() || found->second.end.broken()) return;
  found->second.end.OweBuffered(
      {.slot = SlotId{self}, .offset = 0, .bytes = SimArea::kCells * SimArea::kCellBytes});
  found->second.end.SayApart();
}

bool SimBulk::Took(std::uint32_t pid) const {
  const auto found = ends_.find(pid);
  return open_ && found != ends_.end() && found->second.end.puts() == Puts::kTaken;
}

void SimBulk::SendAll(std::function<void()> done) {
  done_ = std::move(done);
  start_ns_ = world_.loop.now_ns();
  for (auto& [pid, end] : ends_) end.moved_ns = start_ns_;
  sending_ = true;
  Next(0);
}

// It sleeps in poll while it sends. Who waits for something else looks now and then.
void SimBulk::OnNews() {
  if (entered_) Next(world_.loop.Below(sending_ ? kStepNs : kLookNs));
}

void SimBulk::Next(std::uint64_t delay_ns) {
  const std::uint64_t now_ns = world_.loop.now_ns();
  if (due_ns_ >= now_ns && due_ns_ <= now_ns + delay_ns) return;
  due_ns_ = now_ns + delay_ns;
  world_.after(delay_ns, [this, turn = ++turn_] {
    if (turn == turn_) Pump();
  });
}

void SimBulk::Pump() {
  due_ns_ = 0;
  bool any = false;
  const bool open = Open();
  for (auto& [pid, end] : ends_) {
    const bool wrote = open && Write(end);
    if (!open || (!Read(end) && !wrote)) continue;
    end.moved_ns = world_.loop.now_ns();
    any = true;
  }
  if (any) SeeToLeave();
  if (sending_ && !AnyUnderWay()) {
    sending_ = false;
    std::exchange(done_, nullptr)();
  }
  if (any || sending_)
    Next(any ? world_.loop.Below(kStepNs) : kLookNs + world_.loop.Below(kLookNs));
}

bool SimBulk::AnyUnderWay() {
  const std::uint64_t now_ns = world_.loop.now_ns();
  bool any = false;
  for (auto& [pid, end] : ends_) {
    const Puts puts = open_ ? end.end.puts() : Puts::kNone;
    if (puts == Puts::kWait && now_ns - start_ns_ > kPatienceNs + end.end.owed_bytes()) {
      world_.oracle.Count("puts taken back");
      end.end.TakeBack();
    } else if (puts == Puts::kUnderWay && now_ns - end.moved_ns > kStallNs) {
      world_.oracle.Count("puts under way for too long");
      Fail(end);
    } else {
      any |= puts == Puts::kWait || puts == Puts::kUnderWay;
    }
  }
  return any;
}

// The areas of two sources are apart.
void SimBulk::SeeToLeave() {
  std::vector<BulkEnd*> of;
  for (auto& [pid, end] : ends_) of.push_back(&end.end);
  const runtime::BulkEnds ends{.of = of.data(), .count = static_cast<std::uint32_t>(of.size())};
  const OwnTransfers own = of.size() + 1 == world_.processes ? own_ : OwnTransfers::kOther;
  if (LookForLeave(ends, own) == runtime::LeaveDue::kNothing) return;
  AnswerForLeave(ends, nullptr, 0);
  world_.oracle.Count("leave to put what is buffered");
}

bool SimBulk::Write(End& end) {
  const BulkEnd::Outgoing out = end.end.NextOut();
  if (end.closed || out.head_bytes + out.body_bytes == 0) return false;
  std::vector<std::byte> bytes(out.head, out.head + out.head_bytes);
  bytes.insert(bytes.end(), out.body, out.body + out.body_bytes);
  const SimPipe::Moved sent = end.lane.pipe->Write(end.lane.here, bytes);
  if (sent.over) Fail(end);
  if (sent.bytes != 0) end.end.Sent(sent.bytes);
  return sent.bytes != 0;
}

bool SimBulk::Read(End& end) {
  bool worked = false;
  for (std::size_t left = kReadBytesMax;;) {
    const BulkEnd::Incoming in = end.end.NextIn();
    if (end.closed || in.bytes == 0) return worked;
    const SimPipe::Moved came = end.lane.pipe->Read(end.lane.here, {in.to, in.bytes});
    if (came.over) return Fail(end), worked;
    if (came.bytes == 0) return worked;
    if (!entered_) world_.oracle.Fail("the memory of a program changes while it computes");
    worked = true;
    const BulkEnd::Came what = end.end.Received(came.bytes);
    if (what == BulkEnd::Came::kFault) return Fail(end), worked;
    if (what == BulkEnd::Came::kPiece) {
      const runtime::BulkHeader& piece = end.end.piece();
      std::byte* const place = area_.Find(end.lane.pid, piece.offset, piece.bytes);
      if (place == nullptr || piece.slot != end.lane.pid)
        return world_.oracle.Fail("a piece of a put for a place that is none"), worked;
      if (end.end.AsksForLeave() && !world_.unread(superstep_))
        return world_.oracle.Fail("what is buffered comes while it may be read"), worked;
      end.end.Place(place);
    }
    if (came.bytes >= left) return worked;
    left -= came.bytes;
  }
}

void SimBulk::Fail(End& end) {
  if (end.end.puts() == Puts::kUnderWay) world_.oracle.Count("bulk lanes broken in a transfer");
  end.end.Break();
  if (!std::exchange(end.closed, true)) end.lane.pipe->ShutDown(end.lane.here);
}

}  // namespace bspnow
