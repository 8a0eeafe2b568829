#include "runtime/profile_writer.h"

#include "runtime/link/call_site.h"

namespace bspnow::runtime {

void ProfileWriter::AddImage(std::uint64_t supersteps, std::uint64_t pause_ns) {
  if (!part_.valid()) return;
  Fold(supersteps);
  part_.AddToLast({.exchange_ns = pause_ns}, kImageTaken);
}

void ProfileWriter::AddReturn(std::uint64_t exchange_ns) {
  if (part_.valid()) part_.AddToLast({.exchange_ns = exchange_ns}, kCameBack);
}

void ProfileWriter::KeepCopy(std::uint64_t supersteps) {
  if (!part_.valid()) return;
  Fold(supersteps);
  copy_ = MappedRegion::Private(ProfileBytesOf(p_));
  if (copy_.valid()) ProfilePart(copy_.data(), p_).CopyFrom(part_);
}

void ProfileWriter::UseCopy() {
  if (copy_.valid()) {
    part_.CopyFrom(ProfilePart(copy_.data(), p_));
  } else {
    for (std::uint64_t& call_site : call_sites_) call_site = 0;
  }
  copy_.Reset();
  part_.head().folded = 1;
}

void ProfileWriter::Fold(std::uint64_t supersteps) const {
  FoldProfile(*segment_, self_, supersteps, part_);
}

std::uint16_t ProfileWriter::FindSite(std::uint64_t call_site) {
  if (!part_.valid()) return 0;
  ProfileHead& head = part_.head();
  std::uint16_t site = 0;
  while (site < head.sites_used && call_sites_[site] != call_site) ++site;
  if (site == head.sites_used) {
    if (site == kProfileSitesMax - 1) return site;  // All others.
    call_sites_[site] = call_site;
    head.sites[site].site = RecordedCallSite(call_site);
    head.sites_used += 1;
  }
  return last_site_ = site;
}

}  // namespace bspnow::runtime
