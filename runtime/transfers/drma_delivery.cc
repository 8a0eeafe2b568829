#include "runtime/transfers/drma_delivery.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/copy.h"
#include "runtime/link/chain.h"
#include "runtime/link/memory_room.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {
namespace {

// A large put from another node comes in pieces. If there is more than the caches hold they are
// written as one large record would be; see Copy.
constexpr std::uint64_t kPieceBytesMin = 128 << 10;
constexpr std::uint64_t kPiecesBytesMin = 4 << 20;

enum class Reader { kProcess, kWorker };

// What the worker reads next, to send it, should still be in the caches if it fits there.
void CopyAnswer(std::byte* to, const std::byte* from, std::uint64_t bytes, Reader reader) {
  if (reader == Reader::kWorker && bytes < kPiecesBytesMin) {
    std::memcpy(to, from, bytes);
  } else {
    Copy(to, from, bytes);
  }
}

// Calls `use` with the length of each transfer of a run, as a constant if it is a common one: then
// what it does for each is a few instructions, and no call.
template <typename Use>
void WithLength(std::uint32_t bytes, const Use& use) {
  if (bytes == 8) {
    use(std::integral_constant<std::uint32_t, 8>{});
  } else if (bytes == 4) {
    use(std::integral_constant<std::uint32_t, 4>{});
  } else {
    use(bytes);
  }
}

}  // namespace

void DrmaDelivery::Attach(const Segment& segment, const RegistrationTable& registrations, Pid self,
                          std::uint32_t p, std::size_t site_bytes) {
  segment_ = &segment;
  registrations_ = &registrations;
  self_ = self;
  p_ = p;
  site_bytes_ = site_bytes;
  answers_ = HeapUse{};
}

// The owner of the memory has the last word: what a record names must lie in an area that is
// registered here, whatever its source believed.
inline std::byte* DrmaDelivery::InArea(const RegisteredArea& area, const char* call, Pid source,
                                       const PutRecord& range) const {
  if (__builtin_expect(range.offset > area.bytes || range.bytes > area.bytes - range.offset, 0)) {
    ReportMisuse(call,
                 "pid %u asked for offset %llu + %u bytes, which is beyond the %llu bytes"
                 " registered here; register the larger size on all processes",
                 Value(source), static_cast<unsigned long long>(range.offset), range.bytes,
                 static_cast<unsigned long long>(area.bytes));
  }
  return reinterpret_cast<std::byte*>(area.address) + range.offset;
}

inline std::byte* DrmaDelivery::Target(const char* call, Pid source, const PutRecord& range) const {
  return InArea(registrations_->Area(SlotId{range.slot}), call, source, range);
}

void DrmaDelivery::AnswerGets(unsigned parity) {
  answers_.Restart();
  for (std::uint32_t q = 0; q < p_; ++q) {
    const DirectoryEntry& asked = segment_->entry(Pid{q}, self_, parity);
    if (asked.gets == 0) continue;
    const std::uint64_t bytes = AnswersTo(Pid{q}, asked);
    const std::uint64_t peak = answers_.peak;
    const std::uint64_t at = segment_->TakeRoom(self_, kAnswerHeap, bytes, answers_);
    if (at == 0) ReportNoMemory(Pid{q}, bytes);
    const FillingMemory filling(segment_->root().memory_group, {.call = "bsp_get", .pid = self_},
                                answers_.peak - peak);
    segment_->entry(self_, Pid{q}, parity).answers = at;
    Answer(Pid{q}, asked, segment_->arena(self_) + at);
  }
}

std::byte* DrmaDelivery::TakeOwn(const char* call, std::uint64_t bytes) {
  if (!has_own_) before_own_ = answers_;
  has_own_ = true;
  const std::uint64_t peak = answers_.peak;
  // Answers end anywhere.
  const std::uint64_t at = segment_->TakeRoom(self_, kAnswerHeap, bytes + kLineBytes, answers_);
  if (at == 0) {
    ReportFailure(
        "%s: pid %u needs %llu bytes for a copy of its own of what others get, too, and all "
        "processes"
        " here together may take %llu; send less at a time, or allow more memory (--memory, or the"
        " limit of the control group)",
        call, Value(self_), static_cast<unsigned long long>(bytes),
        static_cast<unsigned long long>(
            std::min(segment_->layout().memory_max, segment_->layout().heap_bytes)));
  }
  const FillingMemory taken(segment_->root().memory_group, {.call = call, .pid = self_},
                            answers_.peak - peak);
  return segment_->arena(self_) + (at + kLineBytes - 1) / kLineBytes * kLineBytes;
}

void DrmaDelivery::ReportNoMemory(Pid asker, std::uint64_t bytes) const {
  ReportFailure(
      "bsp_get: pid %u gets %llu bytes from pid %u in one superstep, which has answered %llu so "
      "far,"
      " and all processes here together may take %llu for that; get less at a time, use bsp_hpget,"
      " which needs no buffer, or allow more memory (--memory, or the limit of the control group)",
      Value(asker), static_cast<unsigned long long>(bytes), Value(self_),
      static_cast<unsigned long long>(answers_.bytes),
      static_cast<unsigned long long>(
          std::min(segment_->layout().memory_max, segment_->layout().heap_bytes)));
}

// Unbuffered gets count in `bytes_from`, too: where that would matter only the records tell.
std::uint64_t DrmaDelivery::AnswersTo(Pid asker, const DirectoryEntry& asked) const {
  if (asked.bytes_from <= kHeapKeptBytes) return asked.bytes_from;
  std::uint64_t bytes = 0;
  ChainReader chain(segment_->arena(asker), asked.gets);
  while (!chain.done()) {
    const auto& get = *reinterpret_cast<const GetRecord*>(chain.record());
    const auto& run = *reinterpret_cast<const GetRun*>(chain.record());
    if ((get.slot & kRun) != 0) {
      bytes += run.count * run.bytes;
      chain.Skip(sizeof run + run.count * sizeof(GetRunEntry), kRecordAlign);
    } else {
      bytes += get.bytes;
      chain.Skip(sizeof get + site_bytes_, kRecordAlign);
    }
  }
  return bytes;
}

void DrmaDelivery::Answer(Pid asker, const DirectoryEntry& asked, std::byte* to) const {
  const Reader reader = segment_->IsHere(asker) ? Reader::kProcess : Reader::kWorker;
  ChainReader chain(segment_->arena(asker), asked.gets);
  while (!chain.done()) {
    const auto& get = *reinterpret_cast<const GetRecord*>(chain.record());
    if ((get.slot & kRun) != 0) {
      const auto& run = *reinterpret_cast<const GetRun*>(chain.record());
      AnswerRun(asker, run, to);
      to += run.count * run.bytes;
      chain.Skip(sizeof run + run.count * sizeof(GetRunEntry), kRecordAlign);
    } else {
      const PutRecord range{get.slot, get.bytes, get.offset};
      CopyAnswer(to, Target("bsp_get", asker, range), get.bytes, reader);
      to += get.bytes;
      chain.Skip(sizeof get + site_bytes_, kRecordAlign);
    }
  }
}

void DrmaDelivery::AnswerRun(Pid asker, const GetRun& run, std::byte* to) const {
  const std::uint32_t slot = run.slot & ~kRun;
  const RegisteredArea area = registrations_->Area(SlotId{slot});
  const auto* entry = reinterpret_cast<const GetRunEntry*>(&run + 1);
  const GetRunEntry* const end = entry + run.count;
  WithLength(run.bytes, [&](auto bytes) {
    for (; entry != end; ++entry, to += bytes)
      Copy(to, InArea(area, "bsp_get", asker, {slot, bytes, entry->offset}), bytes);
  });
}

void DrmaDelivery::WriteGets(Pid pid, unsigned parity) {
  const std::byte* answers = segment_->arena(pid) + segment_->entry(pid, self_, parity).answers;
  const DirectoryEntry& entry = segment_->entry(self_, pid, parity);
  ChainReader chain(segment_->arena(self_), entry.gets);
  while (!chain.done()) {
    const auto& get = *reinterpret_cast<const GetRecord*>(chain.record());
    if ((get.slot & kRun) != 0) {
      const auto& run = *reinterpret_cast<const GetRun*>(chain.record());
      WriteRun(run, answers);
      answers += run.count * run.bytes;
      chain.Skip(sizeof run + run.count * sizeof(GetRunEntry), kRecordAlign);
      continue;
    }
    Copy(reinterpret_cast<void*>(get.destination), answers, get.bytes);
    answers += get.bytes;
    chain.Skip(sizeof get + site_bytes_, kRecordAlign);
  }
}

void DrmaDelivery::WriteRun(const GetRun& run, const std::byte* answers) {
  auto* const first = reinterpret_cast<std::byte*>(run.destination);
  const auto* entry = reinterpret_cast<const GetRunEntry*>(&run + 1);
  const GetRunEntry* const end = entry + run.count;
  WithLength(run.bytes, [&](auto bytes) {
    for (; entry != end; ++entry, answers += bytes)
      Copy(first + entry->destination, answers, bytes);
  });
}

void DrmaDelivery::WritePuts(unsigned parity) {
  for (std::uint32_t q = 0; q < p_; ++q) {
    const DirectoryEntry& entry = segment_->entry(Pid{q}, self_, parity);
    if (entry.puts != 0) WritePuts(Pid{q}, entry);
  }
}

void DrmaDelivery::WriteEarly(unsigned parity) {
  EarlyPuts& early = segment_->cell(self_).early[parity];
  std::uint32_t taken = early.taken.load(std::memory_order_relaxed);
  const std::uint32_t offered = early.offered.load(std::memory_order_acquire);
  while (taken != offered) {
    const EarlyPuts::Place& place = early.places[taken % kEarlyMax];
    const Pid source{place.pid};
    const std::byte* record = segment_->arena(source) + place.offset + kChunkHeaderBytes;
    const auto& put = *reinterpret_cast<const PutRecord*>(record);
    std::byte* target = Target("bsp_hpput", source, put);
    if (put.bytes >= kPieceBytesMin) {
      CopyStreaming(target, record + sizeof(PutRecord), put.bytes);
    } else {
      Copy(target, record + sizeof(PutRecord), put.bytes);
    }
    early.taken.store(++taken, std::memory_order_release);
  }
}

std::byte* DrmaDelivery::DirectTarget(Pid source, const PutRecord& range) const {
  return Target("bsp_hpput", source, range);
}

std::byte* DrmaDelivery::PutTarget(Pid source, const PutRecord& range) const {
  return Target("bsp_put", source, range);
}

void DrmaDelivery::WriteRun(Pid source, const PutRun& run) const {
  const std::uint32_t slot = run.slot & ~kRun;
  const RegisteredArea area = registrations_->Area(SlotId{slot});
  const auto* at = reinterpret_cast<const std::byte*>(&run + 1);
  const std::byte* const end = at + run.count * (sizeof(RunOffset) + run.bytes);
  WithLength(run.bytes, [&](auto bytes) {
    for (; at != end; at += sizeof(RunOffset) + bytes) {
      RunOffset offset;
      std::memcpy(&offset, at, sizeof offset);
      Copy(InArea(area, "bsp_put", source, {slot, bytes, offset}), at + sizeof offset, bytes);
    }
  });
}

void DrmaDelivery::WritePuts(Pid source, const DirectoryEntry& entry) {
  const bool pieces = entry.bytes_to >= kPiecesBytesMin && !segment_->IsHere(source);
  ChainReader chain(segment_->arena(source), entry.puts);
  while (!chain.done()) {
    const auto& put = *reinterpret_cast<const PutRecord*>(chain.record());
    if ((put.slot & kRun) != 0) {
      const auto& run = *reinterpret_cast<const PutRun*>(chain.record());
      WriteRun(source, run);
      chain.Skip(sizeof run + run.count * (sizeof(RunOffset) + run.bytes), kRecordAlign);
      continue;
    }
    const std::byte* payload = chain.record() + sizeof(PutRecord) + site_bytes_;
    std::byte* target = Target("bsp_put", source, put);
    if (pieces && put.bytes >= kPieceBytesMin) {
      CopyStreaming(target, payload, put.bytes);
    } else {
      Copy(target, payload, put.bytes);
    }
    chain.Skip(sizeof put + site_bytes_ + put.bytes, kRecordAlign);
  }
}

}  // namespace bspnow::runtime
