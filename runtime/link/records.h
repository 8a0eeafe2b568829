// What lies in the heaps of a segment (link.h): chunks, and in them the records of puts, gets and
// messages.
#ifndef RUNTIME_LINK_RECORDS_H_
#define RUNTIME_LINK_RECORDS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace bspnow {

/// Records follow, from kChunkHeaderBytes to used_bytes.
struct Chunk {
  std::uint64_t next;        ///< Offset, 0 for the last.
  std::uint64_t used_bytes;  ///< Of the chunk, this header included.
};
inline constexpr std::size_t kChunkHeaderBytes = sizeof(Chunk);

/// Then the payload, and padding to 8. With check_full an 8-byte call site precedes the payload.
struct PutRecord {
  std::uint32_t slot;
  std::uint32_t bytes;
  std::uint64_t offset;
};
inline constexpr std::uint64_t kRecordBytesMax = std::uint64_t{1} << 30;  // Longer ones are split.

/// Short puts of equal length to one area, in turn, none of which goes on where the one before
/// ends: `count` times an offset, 32 bits, and the payload, then padding to 8. Half as long as that
/// many PutRecords, and read in a loop without a question. There is none with check_full.
struct PutRun {
  std::uint32_t slot;   ///< With kRun, which tells it from a PutRecord.
  std::uint32_t bytes;  ///< Of each, at most kRunBytesMax.
  std::uint64_t count;
};
static_assert(sizeof(PutRun) == sizeof(PutRecord));
inline constexpr std::uint32_t kRun = 1u << 31;
inline constexpr std::uint32_t kRunBytesMax = 64;
using RunOffset = std::uint32_t;

/// With check_full followed by an 8-byte call site.
struct GetRecord {
  std::uint32_t slot;
  std::uint32_t bytes;
  std::uint64_t offset;
  std::uint64_t destination;  ///< Address in the process that asks.
};

/// As PutRun: `count` GetRunEntries follow.
struct GetRun {
  std::uint32_t slot;   ///< With kRun.
  std::uint32_t bytes;  ///< Of each, at most kRunBytesMax.
  std::uint64_t count;
  std::uint64_t destination;  ///< As in GetRecord; each entry counts from here.
};
static_assert(sizeof(GetRun) == sizeof(GetRecord));
struct GetRunEntry {
  RunOffset offset;
  std::int32_t destination;
};

/// A chunk of puts or messages for another node, which the worker may send while the process
/// computes. It is out of its chain; those of one superstep and destination are sent in the order
/// of the ring, before the chain. The n-th of a superstep, whatever its destination, takes place
/// n % kHandedMax, once what was there has been acknowledged; the chunk that was there is filled
/// anew, in the same superstep. Rings are by parity: one is used again when its superstep is over
/// everywhere, and all that was in it is kDelivered.
struct HandedChunk {
  enum State : std::uint32_t { kEmpty = 0, kHanded = 1, kDelivered = 2 };
  std::atomic<std::uint32_t> state;  ///< kHanded is set by the process, kDelivered by the worker.
  std::uint32_t kind;                ///< 0: puts, 2: messages, 4: one unbuffered put, in a chunk of
                                     ///< its own (BatchContent in net/frame.h).
  std::uint32_t pid;                 ///< For whom.
  std::uint32_t reserved;
  std::uint64_t offset;       ///< Of the chunk; its used_bytes is final.
  std::uint64_t chunk_bytes;  ///< That it may hold, its header included.
};

/// Aligned to 8. A tag of up to 8 bytes lies in `tag`, a longer one after the record, padded to
/// 16; then the payload, and padding to 8. Directly after the record comes padding to 16 if a type
/// might need it, because bsp_hpmove's pointers suit every type that fits: see AlignsContent. The
/// records of a chunk are a multiple of 16 long in all, so that they may lie after another's.
struct MessageRecord {
  static constexpr std::uint64_t kPadded = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kRun = std::uint64_t{1} << 62;
  static constexpr std::uint64_t kShared = std::uint64_t{1} << 61;     ///< With a SharedPayload,
  static constexpr std::uint64_t kElsewhere = std::uint64_t{1} << 60;  ///< and nothing after it.
  static constexpr std::uint64_t kFlags = kPadded | kRun | kShared | kElsewhere;
  std::byte tag[8];
  std::uint64_t payload_and_padding;  ///< Bytes; with kPadded 8 more bytes of padding follow.

  std::uint64_t payload_bytes() const { return payload_and_padding & ~kFlags; }
  bool is_run() const { return (payload_and_padding & kRun) != 0; }  ///< A MessageRun.
  bool is_shared() const { return (payload_and_padding & kShared) != 0; }
  bool is_elsewhere() const { return (payload_and_padding & kElsewhere) != 0; }
  /// Of the payload, and of a SharedPayload, in this record.
  std::uint64_t content_bytes() const;
};
inline constexpr std::size_t kMessageAlign = 16;
inline constexpr std::size_t kRecordAlign = 8;
static_assert(sizeof(MessageRecord) == kMessageAlign);
static_assert(kChunkHeaderBytes % kMessageAlign == 0);

/// Of a long message that several processes of a node are sent: in the chain of the first of them
/// its payload follows, in those of the others nothing. Each of them takes a copy of its own when
/// its program, which may change what it gets, asks for the data; the last one takes the payload
/// itself. Tags are short.
struct alignas(kMessageAlign) SharedPayload {
  std::uint32_t holder;               ///< The first of them,
  std::uint32_t number;               ///< and how many messages there are before it in that chain.
  std::uint64_t offset;               ///< Of the holder's SharedPayload in the source's arena; on
                                      ///< the source's node.
  std::atomic<std::uint32_t> takers;  ///< The holder's: readers here that may take a copy yet.
  std::uint32_t reserved;
  // The rest is the reader's: addresses in its process.
  SharedPayload* found;  ///< The holder's.
  std::byte* taken;      ///< What belongs to this reader alone; null: nothing yet.
  void* group;           ///< By which a copy finds room; of a message that PUB has listed.

  std::byte* payload() { return reinterpret_cast<std::byte*>(this + 1); }
};

/// Messages in turn with short tags and equally long, short payloads: `count` times a tag, of 8
/// bytes, and the payload, padded to 8. A third shorter than that many MessageRecords, and where a
/// message lies is known without a look at the one before. There is none where messages are named
/// by their records (pub/), nor with call sites.
struct MessageRun {
  std::uint64_t count;
  std::uint64_t payload_and_padding;  ///< Of each, with kRun; kPadded as in a MessageRecord.

  std::uint64_t payload_bytes() const { return payload_and_padding & ~MessageRecord::kFlags; }
};
static_assert(sizeof(MessageRun) == sizeof(MessageRecord));

/// From one message of a run to the next.
constexpr std::uint64_t StrideInRun(std::uint64_t payload_bytes) {
  return sizeof(MessageRecord::tag) +
         (payload_bytes + kRecordAlign - 1) / kRecordAlign * kRecordAlign;
}

inline std::uint64_t BytesOfRun(const MessageRun& run) {
  const std::uint64_t padding =
      (run.payload_and_padding & MessageRecord::kPadded) == 0 ? 0 : kRecordAlign;
  return sizeof run + run.count * StrideInRun(run.payload_bytes()) + padding;
}

/// The bytes of a tag after its record.
constexpr std::size_t LongTagBytes(std::size_t tag_bytes) {
  if (tag_bytes <= sizeof(MessageRecord::tag)) return 0;
  return (tag_bytes + kMessageAlign - 1) / kMessageAlign * kMessageAlign;
}

/// Whether what follows the record of a message begins at a multiple of 16.
constexpr bool AlignsContent(std::size_t long_tag_bytes, std::uint64_t payload_bytes) {
  return long_tag_bytes != 0 || payload_bytes >= kMessageAlign;
}

/// What follows the record: a long tag, and the payload.
inline const std::byte* ContentOf(const MessageRecord& record, std::size_t long_tag_bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(&record + 1);
  if (!AlignsContent(long_tag_bytes, record.payload_bytes()))
    return reinterpret_cast<const std::byte*>(at);
  return reinterpret_cast<const std::byte*>((at + kMessageAlign - 1) / kMessageAlign *
                                            kMessageAlign);
}

inline std::uint64_t MessageRecord::content_bytes() const {
  return (is_shared() ? sizeof(SharedPayload) : 0) + (is_elsewhere() ? 0 : payload_bytes());
}

/// Each is written by the process that reads the message.
inline SharedPayload& SharedPayloadOf(const MessageRecord& shared) {
  return *reinterpret_cast<SharedPayload*>(const_cast<std::byte*>(ContentOf(shared, 0)));
}

/// From the record to the next one, but for padding to kRecordAlign.
inline std::uint64_t BytesOfMessage(const MessageRecord& record, std::size_t long_tag_bytes) {
  const std::uint64_t padding =
      (record.payload_and_padding & MessageRecord::kPadded) == 0 ? 0 : kRecordAlign;
  const auto content = static_cast<std::uint64_t>(ContentOf(record, long_tag_bytes) -
                                                  reinterpret_cast<const std::byte*>(&record));
  return content + long_tag_bytes + record.content_bytes() + padding;
}

}  // namespace bspnow

#endif  // RUNTIME_LINK_RECORDS_H_
