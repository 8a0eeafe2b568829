// The profile of a job: what each process measured in each superstep, from the first to the last,
// in a part of the segment that never grows. A process has room for kProfileRecordsMax records at
// most; when they are full, each two neighbours become one, and from then on a record stands for
// twice as many supersteps. So nothing is dropped, all records are of equally many supersteps, and
// those of all processes begin and end with the same ones, though nobody agrees on anything: which
// supersteps a record has follows from the number of the superstep alone.
//
// Beside them are sums by the bsp_sync that ended the superstep, which merging does not blur.
//
// A process measures each superstep in its ring (Measurement), and folds some at a time into its
// part: see FoldProfile, by which a reader also adds those that a process had not come to fold.
//
// The part of a process has one writer, the process. Who reads it meanwhile copies it, and tries
// again if `changes` was odd or has changed; see CopyProfile. Not so the sums of groups: several
// threads of the process may add to these (runtime/group_figures.h), each number for itself.
#ifndef RUNTIME_LINK_SUPERSTEP_PROFILE_H_
#define RUNTIME_LINK_SUPERSTEP_PROFILE_H_

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace bspnow {

inline constexpr std::uint32_t kProfileRecordsMax = 4096;
inline constexpr std::uint32_t kProfileRecordsMin = 256;
inline constexpr std::uint32_t kProfileRecordsOfNode = 1
                                                       << 18;  // If all p have more than the least.
inline constexpr std::uint32_t kProfileSitesMax = 128;
inline constexpr std::uint32_t kProfileGroupSitesMax = 64;

/// Of a record: which call of bsp_sync ended its supersteps, and what happened in them.
inline constexpr std::uint16_t kSeveralSites = 0x3fff;
inline constexpr std::uint16_t kSiteMask = 0x3fff;
inline constexpr std::uint16_t kImageTaken = 0x4000;  ///< The process was saved at the end of one.
inline constexpr std::uint16_t kCameBack = 0x8000;    ///< It was restored at the end of one.
/// Of Measurement::site alone: it ended supersteps of groups meanwhile, and its GroupSums say what.
/// Else nobody looks at these, and they take no memory.
inline constexpr std::uint64_t kWithGroups = std::uint64_t{1} << 63;

/// One superstep of one process, or some neighbouring ones together: see "Measurement" in
/// docs/design.md. Its four parts follow one another without a gap, and the next superstep's follow
/// them. Bytes to itself are no communication and do not count; what it issues to itself does.
struct ProfileRecord {
  std::uint64_t compute_ns = 0;   ///< From the end of the last bsp_sync to the call of this one.
  std::uint64_t waiting_ns = 0;   ///< Until the last process of this node called it, too.
  std::uint64_t release_ns = 0;   ///< From then to the release.
  std::uint64_t exchange_ns = 0;  ///< The rest of bsp_sync: delivery, and what an image takes.
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_in = 0;
  /// Puts, gets and messages issued, and those of others that concern this process. Of one
  /// superstep these may overflow; sums stay at the largest value.
  std::uint32_t messages_out = 0;
  std::uint32_t messages_in = 0;
};
static_assert(sizeof(ProfileRecord) + sizeof(std::uint16_t) < 64, "of a process and superstep");

inline std::uint32_t SumOfCounts(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t sum = a + b;
  return sum < a ? ~std::uint32_t{0} : sum;
}

inline void AddTo(ProfileRecord& sum, const ProfileRecord& more) {
  sum.compute_ns += more.compute_ns;
  sum.waiting_ns += more.waiting_ns;
  sum.release_ns += more.release_ns;
  sum.exchange_ns += more.exchange_ns;
  sum.bytes_out += more.bytes_out;
  sum.bytes_in += more.bytes_in;
  sum.messages_out = SumOfCounts(sum.messages_out, more.messages_out);
  sum.messages_in = SumOfCounts(sum.messages_in, more.messages_in);
}

inline constexpr std::uint64_t kMergedBitsMax =
    40;  ///< Of more supersteps no program comes to the end.

/// All supersteps that one call of bsp_sync ended.
struct ProfiledSite {
  std::uint64_t site;  ///< RecordedCallSite of call_site.h. Of the last place: any other.
  std::uint64_t supersteps;
  ProfileRecord sums;  ///< But for messages, of which there may be more than a record counts:
  std::uint64_t messages_out;
  std::uint64_t messages_in;
};

inline void AddTo(ProfiledSite& site, const ProfileRecord& more) {
  AddTo(site.sums, more);
  site.messages_out += more.messages_out;
  site.messages_in += more.messages_in;
}

/// The beginning of a process's part; after it, by record, std::uint16_t sites and ProfileRecords.
struct ProfileHead {
  std::atomic<std::uint32_t> changes;
  std::uint32_t sites_used;
  std::uint32_t last_site;  ///< Of the superstep that was added last.
  std::uint32_t group_sites_used;
  std::uint64_t supersteps;   ///< In the records.
  std::uint64_t merged_bits;  ///< A record has 2^merged_bits supersteps; the last may have fewer.
  std::uint64_t folded;  ///< Of the epoch's supersteps, as the ring counts them, these are here.
  ProfiledSite sites[kProfileSitesMax];
  /// By the calls that ended supersteps of groups other than the root group: their records are not
  /// kept. Computing is not theirs: a process may be in several groups meanwhile.
  ProfiledSite group_sites[kProfileGroupSitesMax];
};

/// Records for each of p processes.
constexpr std::uint32_t ProfileRecordsOf(std::uint32_t p) {
  return std::clamp(std::bit_floor(kProfileRecordsOfNode / p), kProfileRecordsMin,
                    kProfileRecordsMax);
}

constexpr std::uint64_t ProfileBytesOf(std::uint32_t p) {
  const std::uint64_t bytes =
      sizeof(ProfileHead) + ProfileRecordsOf(p) * (sizeof(std::uint16_t) + sizeof(ProfileRecord));
  constexpr std::uint64_t kUnit = 4096;  // A process writes to no other's pages.
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

/// The profile of one process of p, wherever it lies.
class ProfilePart {
 public:
  ProfilePart() = default;
  ProfilePart(std::byte* data, std::uint32_t p)
      : head_(reinterpret_cast<ProfileHead*>(data)), capacity_(ProfileRecordsOf(p)) {}

  bool valid() const { return head_ != nullptr; }
  std::uint32_t capacity() const { return capacity_; }
  ProfileHead& head() const { return *head_; }
  std::uint16_t* record_sites() const {
    return reinterpret_cast<std::uint16_t*>(reinterpret_cast<std::byte*>(head_) +
                                            sizeof(ProfileHead));
  }
  ProfileRecord* records() const {
    return reinterpret_cast<ProfileRecord*>(record_sites() + capacity_);
  }
  // Within bounds, whatever the head says.
  std::uint64_t supersteps() const;
  std::uint64_t supersteps_of_record() const;
  /// Records that are in use.
  std::uint32_t used() const;

  /// False: a program has written over the head. Then nothing may be added.
  bool CanAdd() const {
    return head_->merged_bits <= kMergedBitsMax && head_->supersteps <= std::uint64_t{capacity_}
                                                                            << head_->merged_bits;
  }
  /// Supersteps that Add takes at once: they are of one record.
  std::uint64_t room() const {
    const std::uint64_t of_record = std::uint64_t{1} << head_->merged_bits;
    return of_record - (head_->supersteps & (of_record - 1));
  }
  /// The next supersteps, ended by sites[site], and their sum. Now and then it merges all records.
  void Add(const ProfileRecord& sum, std::uint64_t supersteps, std::uint16_t site) const;

  /// To the superstep that was added last, if there is one.
  void AddToLast(const ProfileRecord& more, std::uint16_t mark) const;

  /// What `other`, of as many processes, has. Afterwards both have the same.
  void CopyFrom(const ProfilePart& other) const;

 private:
  class Change;
  void Halve() const;

  ProfileHead* head_ = nullptr;
  std::uint32_t capacity_ = 0;
};

/// Of a process that may run, and may have written anything. The copy is whole, but for the last
/// superstep of a process that was killed while it added that.
void CopyProfile(const ProfilePart& from, const ProfilePart& to);

}  // namespace bspnow

#endif  // RUNTIME_LINK_SUPERSTEP_PROFILE_H_
