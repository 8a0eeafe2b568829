#include "runtime/profile_writer.h"

#include "runtime/link/call_site.h"

namespace bspnow::runtime {

void ProfileWriter::Add(const Measurement& measured) {
  if (!part_.valid()) return;
  part_.Add({.compute_ns = measured.compute_ns,
             .wait_ns = measured.waiting_ns,
             .release_ns = measured.release_ns,
             .exchange_ns = measured.exchange_ns,
             .bytes_out = measured.bytes_out,
             .bytes_in = measured.bytes_in,
             .messages_out = measured.messages_out,
             .messages_in = measured.messages_in},
            SiteOf(measured.call_site));
}

void ProfileWriter::AddImage(std::uint64_t pause_ns) {
  if (part_.valid()) part_.AddToLast({.exchange_ns = pause_ns}, kImageTaken);
}

void ProfileWriter::AddReturn(std::uint64_t exchange_ns) {
  if (part_.valid()) part_.AddToLast({.exchange_ns = exchange_ns}, kCameBack);
}

void ProfileWriter::KeepCopy() {
  if (!part_.valid()) return;
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
}

// A program has few such places, and mostly comes to one of the last two.
std::uint16_t ProfileWriter::SiteOf(std::uint64_t call_site) {
  if (__builtin_expect(call_sites_[last_site_] == call_site, 1)) return last_site_;
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
