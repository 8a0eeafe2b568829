// The registration sequence as one process knows it (BSPlib 1997, "Registration"): slots, numbered
// alike on all processes because pushes and pops are collective, each with this process's area.
//
// The newest slot of an address is found through a hash table, so that a put costs the same with
// 10^5 live registrations as with one. Pushes and pops take effect at the barrier; until then an
// area pushed can only be popped, and an area popped can still be used.
#ifndef RUNTIME_TRANSFERS_REGISTRATION_TABLE_H_
#define RUNTIME_TRANSFERS_REGISTRATION_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/grow_array.h"
#include "base/ids.h"
#include "runtime/link/link_segment.h"

namespace bspnow::runtime {

class RegistrationTable {
 public:
  /// `areas` and the two `pops`, by parity, have kSlotsMax entries and lie in the process's arena;
  /// other processes read areas for the bounds check, pops for the message of an error. The table
  /// may know slots already, when it comes back in an image; these are written to the new areas.
  void Attach(const SlotAreas& areas, std::uint64_t* pops_even, std::uint64_t* pops_odd);

  /// Appends a slot, usable from the next superstep on. False: more than kSlotsMax slots.
  [[nodiscard]] bool Push(std::uint64_t address, std::uint64_t bytes);

  /// Removes the newest slot that holds `address`, at the barrier. False: there is none.
  [[nodiscard]] bool Pop(std::uint64_t address);

  /// At the start of a superstep: pushes all slots that are valid once more, in the order of slots,
  /// so that other nodes learn them. They stay what they are.
  void PushAgain();

  /// At the start of a superstep: no slot is valid any more. All processes do so alike.
  void Clear();

  /// The slot to which a put or get that names `address` refers now; kNoSlot if none.
  SlotId Find(std::uint64_t address) {
    if (address == last_address_) return last_slot_;
    return FindSlowly(address);
  }

  /// The same if it is the address that was named last; kNoSlot for others.
  SlotId FindAgain(std::uint64_t address) const {
    return address == last_address_ ? last_slot_ : kNoSlot;
  }

  /// Whether `address` was pushed in this superstep, so that Find will know it in the next.
  bool PushedNow(std::uint64_t address) const;

  /// This process's area of a slot that is valid in this superstep; bytes 0 if it is not.
  RegisteredArea Area(SlotId slot) const {
    return Value(slot) < slots_.size() ? areas_[Value(slot)] : RegisteredArea{0, 0};
  }

  /// Whether it has never had more slots than a block has.
  bool FitsABlock() const { return std::max(most_, slots_.size()) <= kSlotsOfBlock; }

  /// Whether anything was pushed or popped in this superstep.
  bool changed() const { return pushes_ + pops_count_ != 0; }

  /// What has to be equal on all processes; superstep and tag size are for the caller to add.
  RegistrationVote Vote() const {
    return {.superstep = 0,
            .digest = digest_,
            .pushes = pushes_,
            .pops = pops_count_,
            .tag_bytes = 0,
            .site = 0};
  }

  /// Writes the slots pushed in this superstep, in order, to `slots`, which has kSlotsMax entries.
  void ListPushes(std::uint64_t* slots) const;

  /// The barrier: pushes and pops become valid.
  void Commit() {
    if (changed()) CommitChanges();
    parity_ ^= 1;
  }

 private:
  struct Slot {
    RegisteredArea area;   ///< As in `areas_`, which no image holds.
    std::uint64_t number;  ///< Counts all pushes, from 1; names the slot in errors.
    std::uint32_t older;   ///< Next older slot of the same address, or kNone.
    std::uint32_t skip;    ///< One that was popped now: older ones down to this were, too.
    bool pushed_now;       ///< In this superstep.
    bool popped_now;
  };

  /// An address and its slots. Once an address has had a slot its bucket stays until Rehash.
  struct Bucket {
    std::uint64_t address;
    std::uint32_t newest;  ///< Pushes and pops of this superstep included; kNone, or kEmpty.
    std::uint32_t usable;  ///< What puts and gets refer to: the newest at the last barrier.
  };
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::uint32_t kEmpty = 0xfffffffe;  ///< The bucket has no address.
  static constexpr std::uint32_t kUnlinked = 0xfffffffd;

  void CommitChanges();
  SlotId FindSlowly(std::uint64_t address);
  std::size_t Place(std::uint64_t address) const;
  const Bucket* Known(std::uint64_t address) const;
  Bucket& Entry(std::uint64_t address);
  void Rehash();
  std::uint32_t NewestUnpopped(std::uint64_t address);
  void UnlinkPopped(std::uint64_t address);
  void Mix(std::uint64_t value);

  SlotAreas areas_;
  std::uint64_t* pops_[2] = {nullptr, nullptr};
  unsigned parity_ = 0;
  GrowArray<Slot> slots_;
  std::size_t most_ = 0;             ///< Slots, before the last Clear.
  GrowArray<std::uint32_t> free_;    ///< Slots to use again, the last freed first.
  GrowArray<std::uint32_t> pushed_;  ///< In this superstep.
  GrowArray<std::uint32_t> popped_;
  GrowArray<Bucket> buckets_;
  std::size_t addresses_ = 0;  ///< Buckets that are not empty.
  std::uint64_t last_number_ = 0;
  std::uint64_t digest_ = 0;
  std::uint64_t pushes_ = 0;
  std::uint64_t pops_count_ = 0;
  std::uint64_t last_address_ = 0;  ///< NULL never is a registered area.
  SlotId last_slot_ = kNoSlot;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_TRANSFERS_REGISTRATION_TABLE_H_
