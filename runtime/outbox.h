// What this process owes the others in the superstep that it computes: puts, get requests and
// messages, appended to chains of chunks per destination, one chain a kind. The copy made here is
// the "buffered on source" of BSPlib 1997, "Direct Remote Memory Access".
//
// Two outboxes by parity of the superstep: the one of superstep s is used again in s + 2, when all
// have passed barrier s + 1 and so are done with it.
#ifndef RUNTIME_OUTBOX_H_
#define RUNTIME_OUTBOX_H_

#include <cstddef>
#include <cstdint>

#include "base/copy.h"
#include "base/grow_array.h"
#include "base/ids.h"
#include "runtime/link_segment.h"

namespace bspnow {

/// Where a transfer goes, and what of it. `offset` and `bytes` in bytes.
struct RemoteRange {
  Pid pid;
  SlotId slot;
  std::uint64_t offset;
  std::uint64_t bytes;
};

class Outbox {
 public:
  /// For process `self` of `p`. `site_bytes` is 8 if records carry call sites, else 0.
  void Attach(const Segment& segment, Pid self, std::uint32_t p, std::size_t site_bytes);

  void AppendPut(const RemoteRange& to, const void* source, std::uint64_t call_site);
  void AppendGet(const RemoteRange& from, void* destination, std::uint64_t call_site);
  void AppendMessage(Pid to, const void* tag, std::size_t tag_bytes, const void* payload,
                     std::size_t payload_bytes);

  /// Counts an unbuffered transfer, which leaves no record, in the h-relation.
  void CountDirectPut(Pid to, std::uint64_t bytes) { Touch(to).bytes_to += bytes; }
  void CountDirectGet(Pid from, std::uint64_t bytes) { Touch(from).bytes_from += bytes; }

  bool empty() const { return touched_[parity_].empty(); }
  std::uint64_t gets() const { return gets_; }
  std::uint64_t records() const { return records_; }

  /// Makes the chunks readable for the others; before the barrier.
  void Seal();

  /// Empties the outbox of two supersteps ago and makes it the current one; after the barrier.
  void NextSuperstep();

  unsigned parity() const { return parity_; }

 private:
  /// The open chunk of one chain.
  struct Writer {
    std::byte* tail;         ///< End of what is written, payload not padded.
    std::byte* end;          ///< Of the chunk.
    std::byte* last_record;  ///< That a put may be merged into.
    Chunk* chunk;
    std::uint64_t next_bytes;  ///< Of the next chunk; grows geometrically.
  };
  enum Kind { kPuts, kGets, kMessages, kKinds };

  Writer& writer(Pid pid, Kind kind) { return writers_[Value(pid) * kKinds + kind]; }
  DirectoryEntry& Touch(Pid pid);
  std::byte* Room(Pid pid, Kind kind, std::size_t align, std::size_t bytes);
  std::byte* OpenChunk(Pid pid, Kind kind, std::size_t bytes);
  bool Merge(Writer& writer, const RemoteRange& to, const void* source);

  const Segment* segment_ = nullptr;
  Pid self_{};
  std::size_t site_bytes_ = 0;
  unsigned parity_ = 0;
  DirectoryEntry* directory_ = nullptr;  ///< Of the current parity.
  std::byte* arena_ = nullptr;
  std::uint64_t heap_used_ = 0;          ///< Of the current parity's heap.
  std::uint64_t heap_peak_[2] = {0, 0};  ///< Bytes of each heap that hold memory.
  std::uint64_t gets_ = 0;
  std::uint64_t records_ = 0;
  GrowArray<Writer> writers_;
  GrowArray<std::uint32_t> touched_[2];  ///< Destinations, by parity.
  GrowArray<std::uint8_t> is_touched_;   ///< By pid, of the current parity.
};

}  // namespace bspnow

#endif  // RUNTIME_OUTBOX_H_
