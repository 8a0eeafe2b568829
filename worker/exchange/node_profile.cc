#include "worker/exchange/node_profile.h"

#include <algorithm>
#include <cstddef>

#include "runtime/link/superstep_profile.h"

namespace bspnow::worker {
namespace {

void AddRecord(const ProfileRecord& record, proto::ProcessProfile& to) {
  to.add_compute_ns(record.compute_ns);
  to.add_wait_ns(record.wait_ns);
  to.add_release_ns(record.release_ns);
  to.add_exchange_ns(record.exchange_ns);
  to.add_bytes_out(record.bytes_out);
  to.add_bytes_in(record.bytes_in);
  to.add_messages_out(record.messages_out);
  to.add_messages_in(record.messages_in);
}

void AddSite(const ProfiledSite& site, proto::ProcessProfile& to) {
  proto::ProfileSite& added = *to.add_sites();
  added.set_address(site.site);
  added.set_supersteps(site.supersteps);
  added.set_compute_ns(site.sums.compute_ns);
  added.set_wait_ns(site.sums.wait_ns);
  added.set_release_ns(site.sums.release_ns);
  added.set_exchange_ns(site.sums.exchange_ns);
  added.set_bytes_out(site.sums.bytes_out);
  added.set_bytes_in(site.sums.bytes_in);
  added.set_messages_out(site.sums.messages_out);
  added.set_messages_in(site.sums.messages_in);
}

// All places that were given away, and that of all others if it was needed.
std::uint32_t SitesIn(const ProfileHead& head) {
  if (head.sites[kProfileSitesMax - 1].supersteps != 0) return kProfileSitesMax;
  return std::min(head.sites_used, kProfileSitesMax - 1);
}

proto::ProcessProfile MessageOf(Pid pid, const ProfilePart& part) {
  proto::ProcessProfile message;
  const ProfileHead& head = part.head();
  const std::uint32_t sites = SitesIn(head);
  message.set_pid(Value(pid));
  message.set_supersteps(part.supersteps());
  message.set_supersteps_of_record(part.supersteps_of_record());
  for (std::uint32_t i = 0; i < part.used(); ++i) {
    AddRecord(part.records()[i], message);
    const std::uint16_t site = part.record_sites()[i];
    const std::uint32_t place = site & kSiteMask;
    message.add_site(place < sites ? place + 1 : 0);
    if ((site & kImageTaken) != 0) message.add_images(i);
    if ((site & kCameBack) != 0) message.add_returns(i);
  }
  for (std::uint32_t i = 0; i < sites; ++i) AddSite(head.sites[i], message);
  return message;
}

}  // namespace

proto::Profile ProfileOf(const NodeSegment& segment, const std::vector<Pid>& pids) {
  proto::Profile profile;
  profile.set_processes(segment.participants());
  const std::uint32_t nprocs = segment.segment().layout().nprocs;
  std::vector<std::byte> copy(ProfileBytesOf(nprocs));
  for (const Pid pid : pids) {
    if (Value(pid) >= profile.processes()) continue;
    const ProfilePart part(copy.data(), nprocs);
    CopyProfile(segment.segment().profile(pid), part);
    *profile.add_of() = MessageOf(pid, part);
  }
  return profile;
}

}  // namespace bspnow::worker
