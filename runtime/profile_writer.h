// Adds each superstep to the profile of this process (runtime/link/superstep_profile.h), by the
// call of bsp_sync that ended it. The profile belongs to the process: an image of it holds a copy,
// and a process that comes back goes on with that. So of supersteps that are repeated after a loss
// the profile has those that counted, and nobody has to cut anything back.
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
    part_ = segment.profile(self);
    p_ = segment.layout().nprocs;
  }

  void Add(const Measurement& measured);
  /// The process was held for an image after the last superstep.
  void AddImage(std::uint64_t pause_ns);
  /// Began anew after the last superstep, in another process.
  void AddReturn(std::uint64_t exchange_ns);

  // ---- Images

  /// For an image. Without memory for it the process that comes back has no profile of what was.
  void KeepCopy();
  void DropCopy() { copy_.Reset(); }
  /// After Attach, in a process that has been restored.
  void UseCopy();

 private:
  std::uint16_t SiteOf(std::uint64_t call_site);

  ProfilePart part_;
  std::uint32_t p_ = 0;
  /// Return addresses here, by their places in ProfileHead::sites.
  std::uint64_t call_sites_[kProfileSitesMax] = {};
  std::uint16_t last_site_ = 0;
  MappedRegion copy_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_PROFILE_WRITER_H_
