// What one of the two processes of a bulk lane (runtime/link/bulk_plan.h) says there and expects:
// unbuffered puts go from the memory of one straight into that of the other, before the barrier.
// Pure: bytes go out and come in, and checksums are made where they lie.
//
// A process says kHere once it is in bsp_sync, if it has something to put, the other one said so,
// or has put something lately; it gets pieces only after that, and answers the last one by kTaken.
// So what is put is read only by who is in bsp_sync, who puts knows that it is in its place, and
// when he arrives at the barrier nothing is under way. What the other one did not take goes as if
// there were no lane. See "Bulk lanes" in docs/design.md.
//
// Buffered puts go so, too, out of the outbox, and need leave: until the barrier somebody might
// read what they overwrite. Who gives leave is in bulk_leave.h.
#ifndef RUNTIME_TRANSFERS_BULK_END_H_
#define RUNTIME_TRANSFERS_BULK_END_H_

#include <cstddef>
#include <cstdint>

#include "base/grow_array.h"
#include "base/ids.h"

namespace bspnow::runtime {

inline constexpr std::uint32_t kBulkMagic = 0x42505342;  // "BSPB"
/// What a process sends before it takes in again. Its checksum leaves it in the caches for the copy
/// into the socket; but less costs more turns of the two (tests/bench/README.md).
inline constexpr std::uint32_t kBulkPieceBytes = 1 << 20;

struct BulkHeader {
  enum Kind : std::uint16_t {
    kHere = 1,   ///< I am in bsp_sync of `superstep`.
    kPiece = 2,  ///< Of a put; `bytes` bytes follow.
    kTaken = 3,  ///< All that you put in `superstep` is in its place.
    kLeave = 4,  ///< To put what is buffered; with kRefused, that it goes another way.
  };
  enum Flag : std::uint16_t {
    kLast = 1,
    kChecked = 2,
    // Of kHere:
    kPuts = 4,      ///< I have something to put.
    kBuffered = 8,  ///< The same, buffered, in the range of this header: it waits for leave.
    kApart = 16,    ///< But for that I put nothing to you, and get nothing from you.
    kFree = 32,     ///< You have leave, if you are the only one who could put anything here.
    kRefused = 64,  ///< Of kLeave.
  };

  std::uint32_t magic;
  std::uint32_t crc32c;  ///< Of the header's rest.
  std::uint16_t kind;
  std::uint16_t flags;
  std::uint32_t slot;
  std::uint64_t superstep;
  std::uint64_t offset;
  std::uint32_t bytes;
  std::uint32_t payload_crc32c;  ///< If kChecked.
};
static_assert(sizeof(BulkHeader) == 40);

class BulkEnd {
 public:
  enum class Payloads { kChecked, kTrusted };
  /// Whether there is any process besides the two.
  enum class Others { kNone, kSome };

  void Attach(Payloads payloads, Others others) {
    payloads_ = payloads;
    others_ = others;
  }

  // ---- A bsp_sync

  void Enter(std::uint64_t superstep);

  /// Before anything is sent in this bsp_sync: the other one is to get that. `from` stays.
  struct Put {
    SlotId slot;
    std::uint64_t offset;
    const std::byte* from;
    std::uint64_t bytes;
  };
  void Owe(const Put& put);

  // What of buffered transfers counts between the two, before anything is sent:
  struct Range {
    SlotId slot;
    std::uint64_t offset;
    std::uint64_t bytes;
  };
  static constexpr std::uint64_t kRangeBytesMax = ~std::uint32_t{0};
  /// All that is owed is buffered, and within this range.
  void OweBuffered(const Range& range);
  /// But for that, nothing is put to the other one or asked of it.
  void SayApart() { apart_ = true; }
  /// Nothing but its buffered puts writes or reads here.
  void SayFree() { free_ = true; }

  enum class Puts {
    kNone,
    kWait,      ///< For the other one to be here.
    kUnderWay,  ///< Or in its place, but that is not known yet.
    kTaken,
    kFailed,
  };
  Puts puts() const { return broken_ && puts_ != Puts::kNone ? Puts::kFailed : puts_; }
  std::uint64_t owed_bytes() const { return owed_bytes_; }

  /// Of kWait: they go another way. If nothing was sent yet, the other one does not hear of it.
  void TakeBack();

  /// The barrier is over. Nothing comes into the memory of the program from here on: a piece that
  /// is not here breaks the lane.
  void Leave();

  // ---- Leave

  /// The other one is in bsp_sync.
  bool IsHere() const { return heard_ == superstep_; }
  bool IsApart() const { return IsHere() && heard_apart_; }
  /// It waits for leave to put something in this range, or has it.
  bool AsksForLeave() const { return IsHere() && heard_buffered_; }
  const Range& asked() const { return asked_; }
  /// The same, and it got no answer yet.
  bool WaitsForLeave() const {
    return AsksForLeave() && !gave_leave_ && !refused_ && !(free_ && others_ == Others::kNone);
  }
  /// It has to be known here what the other one puts and gets.
  void Ask() { SayHere(); }
  // Only the first answer counts.
  void GiveLeave();
  void RefuseLeave();
  bool HasLeave() const { return gave_leave_; }

  /// The other one waits to put something here, or has begun to; if it has not gone another way.
  bool Expects() const { return !broken_ && superstep_ != kNever && expected_ == superstep_; }

  bool broken() const { return broken_; }
  void Break() { broken_ = true; }

  // ---- Out

  struct Outgoing {
    const std::byte* head;
    std::size_t head_bytes;
    const std::byte* body;
    std::size_t body_bytes;
  };
  /// What is to be sent next; no bytes: nothing now.
  Outgoing NextOut();
  bool HasMore() const;  ///< There is something.
  void Sent(std::size_t bytes);

  // ---- In; only in a bsp_sync

  struct Incoming {
    std::byte* to;
    std::size_t bytes;
  };
  /// Where the next bytes go, and how many at most.
  Incoming NextIn();

  enum class Came { kSome, kPiece, kFault };
  /// kPiece: its header is here; call Place before anything else. kFault: it is broken.
  Came Received(std::size_t bytes);
  const BulkHeader& piece() const { return in_head_; }
  void Place(std::byte* target) { in_to_ = target; }

 private:
  static constexpr std::uint64_t kNever = 0;  // Supersteps here are one more than their numbers.

  bool MayPut() const {
    return (buffered_ ? leave_ : heard_) == superstep_ && next_ != owed_.size();
  }
  bool TakesPiece() const;
  void SayHere();
  void Compose(BulkHeader::Kind kind);
  void ComposeHere();
  void ComposeLeave();
  void ComposePiece();
  void OnHere();
  void OnLeave();
  Came OnHeader();
  Came OnPayload(std::size_t bytes);
  Came Fault();

  Payloads payloads_ = Payloads::kChecked;
  Others others_ = Others::kSome;
  bool broken_ = false;
  std::uint64_t superstep_ = kNever;  ///< Whose bsp_sync this is.
  std::uint64_t heard_ = kNever;      ///< The newest one of which the other one said kHere.
  std::uint64_t expected_ = kNever;   ///< Of which it will put something, when it said so.
  bool said_here_ = false;            ///< Or is about to.
  bool here_due_ = false;
  bool taken_due_ = false;
  bool apart_ = false;
  bool free_ = false;
  bool buffered_ = false;  ///< What is owed, in `owed_range_`;
  Range owed_range_{};
  std::uint64_t leave_ = kNever;  ///< of which it may be put.
  bool heard_apart_ = false;      ///< What the newest kHere said,
  bool heard_buffered_ = false;
  Range asked_{};
  bool gave_leave_ = false;  ///< and what it was answered.
  bool leave_due_ = false;
  bool refused_ = false;
  Puts puts_ = Puts::kNone;
  GrowArray<Put> owed_;
  std::uint64_t owed_bytes_ = 0;
  std::size_t next_ = 0;         ///< Of owed_,
  std::uint64_t next_done_ = 0;  ///< and what of it has become pieces.
  BulkHeader out_head_{};
  std::size_t out_head_left_ = 0;
  const std::byte* out_body_ = nullptr;
  std::size_t out_body_left_ = 0;
  BulkHeader in_head_{};
  std::size_t in_head_bytes_ = 0;
  std::byte* in_to_ = nullptr;
  std::size_t in_left_ = 0;  ///< Of the payload.
  std::uint32_t in_crc_ = 0;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_TRANSFERS_BULK_END_H_
