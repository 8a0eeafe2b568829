#include "runtime/transfers/registration_table.h"

#include <utility>

namespace bspnow::runtime {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio: spreads addresses.
constexpr std::uint64_t kPushMark = 1;
constexpr std::uint64_t kPopMark = 2;

}  // namespace

void RegistrationTable::Attach(const SlotAreas& areas, std::uint64_t* pops_even,
                               std::uint64_t* pops_odd) {
  areas_ = areas;
  pops_[0] = pops_even;
  pops_[1] = pops_odd;
  parity_ = 0;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) areas_[slot] = slots_[slot].area;
}

void RegistrationTable::PushAgain() {
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].popped_now) continue;  // Free since.
    pushed_.push_back(slot);
    pushes_ += 1;
    Mix(kPushMark + slots_[slot].number);
  }
}

void RegistrationTable::Clear() {
  most_ = std::max(most_, slots_.size());
  slots_.clear();
  free_.clear();
  buckets_.clear();
  addresses_ = 0;
  last_address_ = 0;
  last_slot_ = kNoSlot;
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
  Bucket& bucket = Entry(address);
  slots_[slot] = Slot{.area = {address, bytes},
                      .number = ++last_number_,
                      .older = bucket.newest,
                      .skip = kNone,
                      .pushed_now = true,
                      .popped_now = false};
  areas_[slot] = slots_[slot].area;
  bucket.newest = slot;
  pushed_.push_back(slot);
  pushes_ += 1;
  Mix(kPushMark);
  return true;
}

bool RegistrationTable::Pop(std::uint64_t address) {
  const std::uint32_t slot = NewestUnpopped(address);
  if (slot == kNone) return false;
  slots_[slot].popped_now = true;
  slots_[slot].skip = slots_[slot].older;
  pops_[parity_][pops_count_ % kSlotsMax] = slots_[slot].number;
  popped_.push_back(slot);
  pops_count_ += 1;
  Mix(kPopMark + slots_[slot].number);
  return true;
}

// What is walked is shortened, so that many pops of one address do not walk over each other.
std::uint32_t RegistrationTable::NewestUnpopped(std::uint64_t address) {
  const Bucket* bucket = Known(address);
  if (bucket == nullptr) return kNone;
  std::uint32_t found = bucket->newest;
  while (found != kNone && slots_[found].popped_now) found = slots_[found].skip;
  for (std::uint32_t at = bucket->newest; at != found;) at = std::exchange(slots_[at].skip, found);
  return found;
}

SlotId RegistrationTable::FindSlowly(std::uint64_t address) {
  if (address == 0) return kNoSlot;
  const Bucket* bucket = Known(address);
  if (bucket == nullptr || bucket->usable == kNone) return kNoSlot;
  last_address_ = address;
  last_slot_ = SlotId{bucket->usable};
  return last_slot_;
}

bool RegistrationTable::PushedNow(std::uint64_t address) const {
  const Bucket* bucket = Known(address);
  return bucket != nullptr && bucket->newest != kNone && slots_[bucket->newest].pushed_now;
}

void RegistrationTable::ListPushes(std::uint64_t* slots) const {
  for (std::size_t k = 0; k < pushed_.size(); ++k) slots[k] = pushed_[k];
}

void RegistrationTable::CommitChanges() {
  for (const std::uint32_t slot : popped_)
    if (slots_[slot].older != kUnlinked) UnlinkPopped(areas_[slot].address);
  for (const std::uint32_t slot : pushed_) slots_[slot].pushed_now = false;
  for (const GrowArray<std::uint32_t>* changed : {&pushed_, &popped_}) {
    for (const std::uint32_t slot : *changed) {
      Bucket& bucket = Entry(areas_[slot].address);
      bucket.usable = bucket.newest;
    }
  }
  for (const std::uint32_t slot : popped_) {
    slots_[slot].area.bytes = 0;
    areas_[slot].bytes = 0;
    free_.push_back(slot);
  }
  pushed_.clear();
  popped_.clear();
  digest_ = 0;
  pushes_ = 0;
  pops_count_ = 0;
  last_address_ = 0;
  last_slot_ = kNoSlot;
}

// A slot from before this superstep that was not popped ends the search: pops take the newest.
void RegistrationTable::UnlinkPopped(std::uint64_t address) {
  std::uint32_t* link = &Entry(address).newest;
  while (*link != kNone && (slots_[*link].popped_now || slots_[*link].pushed_now)) {
    Slot& slot = slots_[*link];
    if (slot.popped_now) {
      *link = std::exchange(slot.older, kUnlinked);
    } else {
      link = &slot.older;
    }
  }
}

void RegistrationTable::Mix(std::uint64_t value) {
  digest_ = (digest_ ^ value) * kGolden;
  digest_ ^= digest_ >> 29;
}

// ---- The hash table: linear probing, at most half full.

std::size_t RegistrationTable::Place(std::uint64_t address) const {
  const std::size_t mask = buckets_.size() - 1;
  std::size_t at = (address * kGolden >> 20) & mask;
  while (buckets_[at].newest != kEmpty && buckets_[at].address != address) at = (at + 1) & mask;
  return at;
}

const RegistrationTable::Bucket* RegistrationTable::Known(std::uint64_t address) const {
  if (buckets_.empty()) return nullptr;
  const Bucket& bucket = buckets_[Place(address)];
  return bucket.newest == kEmpty ? nullptr : &bucket;
}

RegistrationTable::Bucket& RegistrationTable::Entry(std::uint64_t address) {
  if (2 * (addresses_ + 1) > buckets_.size()) Rehash();
  Bucket& bucket = buckets_[Place(address)];
  if (bucket.newest == kEmpty) {
    addresses_ += 1;
    bucket = Bucket{.address = address, .newest = kNone, .usable = kNone};
  }
  return bucket;
}

// Drops the addresses that have no slot any more.
void RegistrationTable::Rehash() {
  GrowArray<Bucket> kept;
  for (const Bucket& bucket : buckets_) {
    const bool idle = bucket.newest == kNone && bucket.usable == kNone;
    if (bucket.newest != kEmpty && !idle) kept.push_back(bucket);
  }
  std::size_t wanted = 64;
  while (wanted < 4 * (kept.size() + 1)) wanted *= 2;
  buckets_.clear();
  buckets_.Resize(wanted);
  for (Bucket& bucket : buckets_) bucket.newest = kEmpty;
  for (const Bucket& bucket : kept) buckets_[Place(bucket.address)] = bucket;
  addresses_ = kept.size();
}

}  // namespace bspnow::runtime
