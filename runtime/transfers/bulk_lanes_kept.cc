// BulkLanes: buffered puts, out of the outbox, and leave for those of others (bulk_leave.h).
#include <algorithm>

#include "base/units.h"
#include "runtime/link/chain.h"
#include "runtime/transfers/bulk_lanes.h"

namespace bspnow::runtime {
namespace {

// A put that goes as pieces of a whole chain: shorter ones cost too many calls.
constexpr std::uint32_t kKeptPieceBytesMin = 16 << 10;
// Who puts and then computes for longer has it sent meanwhile, in chunks.
constexpr std::uint64_t kIdleNs = kNsPerMs;
constexpr std::uint64_t kRestMax = 1023;
constexpr std::uint32_t kOwnMax = 16;  // Puts to oneself that are looked at.

}  // namespace

const DirectoryEntry& BulkLanes::Owed(Pid pid) const {
  return segment_->entry(self_, pid, outbox_->parity());
}

void BulkLanes::EnterLane(Lane& lane) {
  lane.end.Enter(superstep_);
  if (superstep_ < lane.lately_until) lane.end.Ask();  // It is likely to put something again.
  if (own_ == OwnTransfers::kOther) return;
  const DirectoryEntry& owed = Owed(lane.pid);
  if ((owed.puts | owed.gets) == 0) lane.end.SayApart();
  if (Owed(self_).puts == 0) lane.end.SayFree();
}

// Each process has a lane to each other one, or nobody could give leave.
Outbox::LargePuts BulkLanes::TreatmentIn(std::uint64_t superstep) {
  using enum Outbox::LargePuts;
  if (!lanes_->Carry()) return kHandedOver;
  if (superstep < keeps_from_ || !lanes_->HasBulk()) return kInFrames;
  for (std::uint32_t i = 0; i < count_; ++i)
    if (of_[i].end.broken()) return kInFrames;
  return lanes_->bulk().count == p_ - 1 ? kKept : kInFrames;
}

// All that the chain holds, or nothing: what goes another way is not apart from it.
bool BulkLanes::OfferKept(Lane& lane) {
  const DirectoryEntry& owed = Owed(lane.pid);
  if (owed.puts == 0 || owed.gets != 0 || lane.end.broken()) return false;
  std::uint64_t bytes = 0;
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t end = 0;
  std::uint32_t slot = 0;
  for (ChainReader chain(segment_->arena(self_), owed.puts); !chain.done();) {
    const auto& put = *reinterpret_cast<const PutRecord*>(chain.record());
    if (put.bytes < kKeptPieceBytesMin || (put.slot & kRun) != 0 ||
        (bytes != 0 && put.slot != slot))
      return false;
    slot = put.slot;
    bytes += put.bytes;
    begin = std::min(begin, put.offset);
    end = std::max(end, put.offset + put.bytes);
    chain.Skip(sizeof put + put.bytes, kRecordAlign);
  }
  if (bytes < kWorthALaneBytes || end - begin > BulkEnd::kRangeBytesMax) return false;
  for (ChainReader chain(segment_->arena(self_), owed.puts); !chain.done();) {
    const auto& put = *reinterpret_cast<const PutRecord*>(chain.record());
    lane.end.Owe({.slot = SlotId{put.slot},
                  .offset = put.offset,
                  .from = chain.record() + sizeof put,
                  .bytes = put.bytes});
    chain.Skip(sizeof put + put.bytes, kRecordAlign);
  }
  lane.end.OweBuffered({.slot = SlotId{slot}, .offset = begin, .bytes = end - begin});
  lane.end.SayApart();
  return true;
}

void BulkLanes::SendKept(std::uint64_t called_ns) {
  if (!outbox_->KeptAny()) return Rest();
  bool takes_all = !outbox_->kept_in_vain() && called_ns - outbox_->kept_ns() < kIdleNs;
  const bool may = own_ == OwnTransfers::kNone && Open();
  for (std::uint32_t i = 0; may && i < count_; ++i)
    if (outbox_->Kept(of_[i].pid)) takes_all &= OfferKept(of_[i]);
  if (may) SendAll();
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (!outbox_->Kept(of_[i].pid)) continue;
    const bool taken = may && Took(of_[i].pid);
    if (taken) outbox_->DropPuts(of_[i].pid);
    takes_all &= taken;
  }
  if (!takes_all) return Rest();
  rest_ = 0;
  keeps_from_ = superstep_ + 1;
}

void BulkLanes::Rest() {
  rest_ = std::min(2 * rest_ + 1, kRestMax);
  keeps_from_ = superstep_ + 1 + rest_;
}

// Of the puts to oneself, which are written after the barrier. If they are too many to look at,
// they may be anywhere.
std::uint32_t BulkLanes::FindOwn(Interval* intervals) const {
  std::uint32_t count = 0;
  for (ChainReader chain(segment_->arena(self_), Owed(self_).puts); !chain.done();) {
    const auto& put = *reinterpret_cast<const PutRecord*>(chain.record());
    if (count == kOwnMax || (put.slot & kRun) != 0) {
      intervals[0] = {.begin = 0, .end = ~std::uint64_t{0}};
      return 1;
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(delivery_->PutTarget(self_, put));
    intervals[count++] = {.begin = begin, .end = begin + put.bytes};
    chain.Skip(sizeof put + put.bytes, kRecordAlign);
  }
  return count;
}

void BulkLanes::SeeToLeave() {
  BulkEnd* of[kBulkLanesMax];
  for (std::uint32_t i = 0; i < count_; ++i) of[i] = &of_[i].end;
  const BulkEnds ends{.of = of, .count = count_};
  const OwnTransfers own = count_ == p_ - 1 ? own_ : OwnTransfers::kOther;
  if (LookForLeave(ends, own) == LeaveDue::kNothing) return;
  Interval intervals[kBulkLanesMax + kOwnMax];
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (!of[i]->AsksForLeave()) continue;
    const BulkEnd::Range& asked = of[i]->asked();
    const PutRecord range{.slot = Value(asked.slot),
                          .bytes = static_cast<std::uint32_t>(asked.bytes),
                          .offset = asked.offset};
    const auto begin = reinterpret_cast<std::uintptr_t>(delivery_->PutTarget(of_[i].pid, range));
    intervals[count++] = {.begin = begin, .end = begin + asked.bytes};
  }
  count += FindOwn(intervals + count);
  AnswerForLeave(ends, intervals, count);
}

}  // namespace bspnow::runtime
