// Adds the supersteps to the profile of this process (runtime/link/superstep_profile.h), by the
// calls of bsp_sync that ended them: some at a time, out of the ring in which they were measured.
// The profile belongs to the process: an image of it holds a copy, and a process that comes back
// goes on with that. So of supersteps that are repeated after a loss the profile has those that
// counted, and nobody has to cut anything back.
#ifndef RUNTIME_PROFILE_WRITER_H_
#define RUNTIME_PROFILE_WRITER_H_

#include <cstdint>

#include "base/ids.h"
#include "base/mapped_region.h"
#include "runtime/link/link_segment.h"

namespace bspnow::runtime {

class ProfileWriter {
 public:
  /// Of a group but for the root group nothing is recorded.
  void Attach(const Segment& segment, Pid self) {
    segment_ = &segment;
    self_ = self;
    part_ = segment.profile(self);
    p_ = segment.layout().nprocs;
  }

  /// For Measurement::site. A program has few such places, and mostly comes to the last one.
  std::uint16_t SiteOf(std::uint64_t call_site) {
    return __builtin_expect(call_sites_[last_site_] == call_site, 1) ? last_site_
                                                                     : FindSite(call_site);
  }
  /// After the first `supersteps` of this epoch have been recorded. The reader folds what has not
  /// been folded when the process ends, in whatever way.
  void FoldIfDue(std::uint64_t supersteps) const {
    const bool due = (supersteps + Value(self_)) % kFolded == 0;  // Not all at one barrier.
    if (due && part_.valid()) Fold(supersteps);
  }
  /// The process was held for an image after the first `supersteps`; their measurements do not
  /// show it.
  void AddImage(std::uint64_t supersteps, std::uint64_t pause_ns);
  /// Began anew after the last superstep, in another process.
  void AddReturn(std::uint64_t exchange_ns);

  // ---- Images

  /// For an image. Without memory for it the process that comes back has no profile of what was.
  void KeepCopy(std::uint64_t supersteps);
  void DropCopy() { copy_.Reset(); }
  /// After Attach, in a process that has been restored. Superstep 0 of its epoch is none of the
  /// program's: AddReturn says what it took.
  void UseCopy();

 private:
  static constexpr std::uint64_t kFolded = 32;  ///< At a time.
  static_assert(kFolded < kRingSupersteps);

  void Fold(std::uint64_t supersteps) const;
  std::uint16_t FindSite(std::uint64_t call_site);

  const Segment* segment_ = nullptr;
  Pid self_{};
  ProfilePart part_;
  std::uint32_t p_ = 0;
  /// Return addresses here, by their places in ProfileHead::sites.
  std::uint64_t call_sites_[kProfileSitesMax] = {};
  std::uint16_t last_site_ = 0;
  MappedRegion copy_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_PROFILE_WRITER_H_
