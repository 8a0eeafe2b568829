#include "runtime/recorder.h"

#include <algorithm>

#include "base/clock.h"

namespace bspnow::runtime {

void Recorder::Attach(const Segment& segment, Pid self, std::uint32_t p, Computing computing) {
  segment_ = &segment;
  self_ = self;
  p_ = p;
  by_thread_ = computing == Computing::kByTheThread;
}

void Recorder::Record(const SyncTimes& times, std::uint64_t site, const Outbox& outbox) {
  const std::uint64_t last_ns = std::clamp(times.last_ns, times.start_ns, times.released_ns);
  Measurement& m = segment_->measurement(self_, times.superstep);
  m.compute_ns = by_thread_ ? computed_ns_ : times.start_ns - superstep_start_ns_;
  m.waiting_ns = last_ns - times.start_ns;
  m.release_ns = times.released_ns - last_ns;
  m.bytes_out = 0;
  m.bytes_in = 0;
  m.messages_out = 0;
  m.messages_in = 0;
  m.site = site;
  superstep_start_ns_ = times.released_ns;
  if (times.traffic != SyncTimes::Traffic::kNone) {
    CountTraffic(times, outbox.parity(), m);
    superstep_start_ns_ = NowNs();
  }
  m.exchange_ns = superstep_start_ns_ - times.released_ns;
  segment_->cell(self_).recorded.store(times.superstep + 1, std::memory_order_release);
  if (__builtin_expect(by_thread_, 0)) computing_since_ns_ = ThreadNs();
}

// Not to be taken for computing.
void Recorder::AddPause(std::uint64_t superstep, std::uint64_t pause_ns) {
  segment_->measurement(self_, superstep).exchange_ns += pause_ns;
  superstep_start_ns_ += pause_ns;
}

// Another thread of the program may have made the call before this one.
void Recorder::NoteComputed() {
  const std::uint64_t now_ns = ThreadNs();
  computed_ns_ = now_ns > computing_since_ns_ ? now_ns - computing_since_ns_ : 0;
}

// What stays here is no communication.
void Recorder::CountTraffic(const SyncTimes& times, unsigned parity, Measurement& m) const {
  const bool counted = times.traffic == SyncTimes::Traffic::kCounted;
  m.messages_in = times.counted.count;
  m.bytes_in = times.counted.bytes;
  for (std::uint32_t i = 0; i < p_; ++i) {
    const DirectoryEntry& mine = segment_->entry(self_, Pid{i}, parity);
    m.messages_out += mine.transfers + mine.message_count;
    if (i != Value(self_)) m.bytes_out += mine.bytes_to;
    if (counted) continue;
    const DirectoryEntry& theirs = segment_->entry(Pid{i}, self_, parity);
    m.messages_in += theirs.transfers + theirs.message_count;
    if (i == Value(self_)) continue;
    m.bytes_out += theirs.bytes_from;
    m.bytes_in += mine.bytes_from + theirs.bytes_to;
  }
}

void Recorder::FoldIfDue(std::uint64_t superstep) {
  const std::uint64_t folded = FoldedSupersteps(*segment_);
  if (superstep - folded < kFoldSupersteps) return;
  FoldMeasurements(*segment_, p_, superstep);
}

// Of the superstep before those that are added up then a part is read, too (SumsOf).
std::uint64_t Recorder::AwaitedBefore(std::uint64_t superstep) const {
  const std::uint64_t folded = FoldedSupersteps(*segment_);
  return superstep - folded < kRingSupersteps - 1 ? 0 : folded + 1;
}

}  // namespace bspnow::runtime
