#include "runtime/registration_table.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio: spreads addresses.
constexpr std::uint64_t kPushMark = 1;
constexpr std::uint64_t kPopMark = 2;

}  // namespace

void RegistrationTable::Attach(RegisteredArea* areas, std::uint64_t* pops_even,
                               std::uint64_t* pops_odd) {
  areas_ = areas;
  pops_[0] = pops_even;
  pops_[1] = pops_odd;
}

bool RegistrationTable::Push(std::uint64_t address, std::uint64_t bytes) {
  std::uint32_t slot;
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
  } else {
    if (slots_.size() == kSlotsMax) return false;
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.push_back(Slot{});
  }
  const std::uint32_t older = Newest(address);
  slots_[slot] = Slot{.number = ++last_number_,
                      .older = older,
                      .live = true,
                      .pushed_now = true,
                      .popped_now = false};
  areas_[slot] = RegisteredArea{address, bytes};
  SetNewest(address, slot);
  pushed_.push_back(slot);
  pushes_ += 1;
  Mix(kPushMark);
  return true;
}

bool RegistrationTable::Pop(std::uint64_t address) {
  std::uint32_t slot = Newest(address);
  while (slot != kNone && slots_[slot].popped_now) slot = slots_[slot].older;
  if (slot == kNone) return false;
  slots_[slot].popped_now = true;
  pops_[parity_][pops_count_ % kSlotsMax] = slots_[slot].number;
  popped_.push_back(slot);
  pops_count_ += 1;
  Mix(kPopMark + slots_[slot].number);
  return true;
}

SlotId RegistrationTable::FindSlowly(std::uint64_t address) {
  if (address == 0) return kNoSlot;
  std::uint32_t slot = Newest(address);
  while (slot != kNone && slots_[slot].pushed_now) slot = slots_[slot].older;
  if (slot == kNone) return kNoSlot;
  last_address_ = address;
  last_slot_ = SlotId{slot};
  return last_slot_;
}

bool RegistrationTable::PushedNow(std::uint64_t address) const {
  const std::uint32_t slot = Newest(address);
  return slot != kNone && slots_[slot].pushed_now;
}

void RegistrationTable::Commit() {
  for (const std::uint32_t slot : pushed_) slots_[slot].pushed_now = false;
  for (const std::uint32_t slot : popped_) {
    Unlink(slot);
    slots_[slot].live = false;
    areas_[slot].bytes = 0;
    free_.push_back(slot);
  }
  pushed_.clear();
  popped_.clear();
  digest_ = 0;
  pushes_ = 0;
  pops_count_ = 0;
  parity_ ^= 1;
  last_address_ = 0;
  last_slot_ = kNoSlot;
}

void RegistrationTable::Unlink(std::uint32_t slot) {
  const std::uint64_t address = areas_[slot].address;
  std::uint32_t at = Newest(address);
  if (at == slot) {
    SetNewest(address, slots_[slot].older);
    return;
  }
  while (slots_[at].older != slot) at = slots_[at].older;
  slots_[at].older = slots_[slot].older;
}

void RegistrationTable::Mix(std::uint64_t value) {
  digest_ = (digest_ ^ value) * kGolden;
  digest_ ^= digest_ >> 29;
}

// ---- The hash table: linear probing. A bucket names the newest slot of its address. When an
// address loses its last slot its bucket keeps naming that slot, which is then not live, so that
// probing still passes over it; Rehash drops such buckets.

std::size_t RegistrationTable::Bucket(std::uint64_t address) const {
  const std::size_t mask = buckets_.size() - 1;
  std::size_t at = (address * kGolden >> 20) & mask;
  while (buckets_[at] != kNone && areas_[buckets_[at]].address != address) at = (at + 1) & mask;
  return at;
}

std::uint32_t RegistrationTable::Newest(std::uint64_t address) const {
  if (buckets_.empty()) return kNone;
  const std::uint32_t slot = buckets_[Bucket(address)];
  return slot != kNone && slots_[slot].live ? slot : kNone;
}

void RegistrationTable::SetNewest(std::uint64_t address, std::uint32_t slot) {
  if (2 * (addresses_ + 1) > buckets_.size()) Rehash();
  const std::size_t at = Bucket(address);
  if (buckets_[at] == kNone) addresses_ += 1;
  if (slot != kNone) buckets_[at] = slot;
}

void RegistrationTable::Rehash() {
  std::size_t live = 0;
  for (const Slot& slot : slots_) live += slot.live ? 1 : 0;
  std::size_t wanted = 64;
  while (wanted < 4 * (live + 1)) wanted *= 2;
  buckets_.clear();
  buckets_.Resize(wanted);
  for (std::uint32_t& bucket : buckets_) bucket = kNone;
  addresses_ = 0;
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (!slots_[slot].live) continue;
    const std::size_t at = Bucket(areas_[slot].address);
    const std::uint32_t other = buckets_[at];
    if (other == kNone) addresses_ += 1;
    if (other == kNone || slots_[other].number < slots_[slot].number) buckets_[at] = slot;
  }
}

}  // namespace bspnow
