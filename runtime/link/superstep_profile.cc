#include "runtime/link/superstep_profile.h"

#include <string.h>

namespace bspnow {
namespace {

constexpr int kCopiesMax = 1'000;

std::uint16_t Joined(std::uint16_t a, std::uint16_t b) {
  const auto marks = static_cast<std::uint16_t>((a | b) & ~kSiteMask);
  const auto site = static_cast<std::uint16_t>((a & kSiteMask) == (b & kSiteMask) ? a & kSiteMask
                                                                                  : kSeveralSites);
  return marks | site;
}

}  // namespace

/// `changes` is odd as long as it lives. One writer: no locked instruction is needed.
class ProfilePart::Change {
 public:
  explicit Change(ProfileHead& head) : head_(head), before_(head.changes.load()) {
    head_.changes.store(before_ + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }
  ~Change() { head_.changes.store(before_ + 2, std::memory_order_release); }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  ProfileHead& head_;
  const std::uint32_t before_;
};

std::uint64_t ProfilePart::supersteps_of_record() const {
  const std::uint64_t bits = __atomic_load_n(&head_->merged_bits, __ATOMIC_RELAXED);
  return std::uint64_t{1} << std::min(bits, kMergedBitsMax);
}

std::uint64_t ProfilePart::supersteps() const {
  return std::min(head_->supersteps, capacity_ * supersteps_of_record());
}

// Each word is read once: it may change meanwhile.
std::uint32_t ProfilePart::used() const {
  const std::uint64_t of_record = supersteps_of_record();
  const std::uint64_t supersteps = __atomic_load_n(&head_->supersteps, __ATOMIC_RELAXED);
  const std::uint64_t records = (supersteps + of_record - 1) / of_record;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(records, capacity_));
}

void ProfilePart::Add(const ProfileRecord& sum, std::uint64_t supersteps,
                      std::uint16_t site) const {
  const Change change(*head_);
  if (head_->supersteps >> head_->merged_bits >= capacity_) Halve();
  const std::uint64_t at = head_->supersteps >> head_->merged_bits;
  const std::uint64_t in_record = (std::uint64_t{1} << head_->merged_bits) - 1;
  if ((head_->supersteps & in_record) == 0) {
    records()[at] = sum;
    record_sites()[at] = site;
  } else {
    AddTo(records()[at], sum);
    record_sites()[at] = Joined(record_sites()[at], site);
  }
  head_->supersteps += supersteps;
  head_->folded += supersteps;
  head_->last_site = site;
  ProfiledSite& of_site = head_->sites[site];
  of_site.supersteps += supersteps;
  AddTo(of_site, sum);
}

void ProfilePart::AddToLast(const ProfileRecord& more, std::uint16_t mark) const {
  if (head_->supersteps == 0) return;
  const Change change(*head_);
  const std::uint64_t at = (head_->supersteps - 1) >> head_->merged_bits;
  AddTo(records()[at], more);
  record_sites()[at] |= mark;
  AddTo(head_->sites[head_->last_site], more);
}

void ProfilePart::Halve() const {
  for (std::uint32_t i = 0; i < capacity_ / 2; ++i) {
    records()[i] = records()[2 * i];
    AddTo(records()[i], records()[2 * i + 1]);
    record_sites()[i] = Joined(record_sites()[2 * i], record_sites()[2 * i + 1]);
  }
  head_->merged_bits += 1;
}

void ProfilePart::CopyFrom(const ProfilePart& other) const {
  const Change change(*head_);
  const std::uint32_t used = other.used();
  head_->sites_used = other.head_->sites_used;
  head_->last_site = other.head_->last_site;
  head_->supersteps = other.head_->supersteps;
  head_->merged_bits = other.head_->merged_bits;
  head_->folded = other.head_->folded;
  memcpy(head_->sites, other.head_->sites, sizeof head_->sites);
  const std::uint32_t group_sites = std::min(
      __atomic_load_n(&other.head_->group_sites_used, __ATOMIC_RELAXED), kProfileGroupSitesMax);
  head_->group_sites_used = group_sites;
  memcpy(head_->group_sites, other.head_->group_sites, group_sites * sizeof(ProfiledSite));
  memcpy(record_sites(), other.record_sites(), used * sizeof(std::uint16_t));
  memcpy(records(), other.records(), used * sizeof(ProfileRecord));
}

void CopyProfile(const ProfilePart& from, const ProfilePart& to) {
  for (int copies = 0; copies < kCopiesMax; ++copies) {
    const std::uint32_t before = from.head().changes.load(std::memory_order_acquire);
    to.CopyFrom(from);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && from.head().changes.load(std::memory_order_relaxed) == before) return;
  }
}

}  // namespace bspnow
