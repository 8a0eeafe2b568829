#include "worker/exchange/node_profile.h"

#include <algorithm>
#include <cstddef>

#include "runtime/link/superstep_profile.h"

namespace bspnow::worker {
namespace {

/// Calls `to` with each member, and where it goes to: of records a column, of sums by call a field.
template <typename To>
void ForEachMember(const ProfileRecord& of, const To& to) {
  using Columns = proto::ProcessProfile;
  using Site = proto::ProfileSite;
  to(of.compute_ns, &Columns::add_compute_ns, &Site::set_compute_ns);
  to(of.waiting_ns, &Columns::add_wait_ns, &Site::set_wait_ns);
  to(of.release_ns, &Columns::add_release_ns, &Site::set_release_ns);
  to(of.exchange_ns, &Columns::add_exchange_ns, &Site::set_exchange_ns);
  to(of.bytes_out, &Columns::add_bytes_out, &Site::set_bytes_out);
  to(of.bytes_in, &Columns::add_bytes_in, &Site::set_bytes_in);
  to(of.messages_out, &Columns::add_messages_out, &Site::set_messages_out);
  to(of.messages_in, &Columns::add_messages_in, &Site::set_messages_in);
}

void AddRecord(const ProfileRecord& record, proto::ProcessProfile& to) {
  ForEachMember(record, [&to](auto value, auto add, auto) { (to.*add)(value); });
}

void SetSite(const ProfiledSite& site, proto::ProfileSite& added) {
  added.set_address(site.site);
  added.set_supersteps(site.supersteps);
  ForEachMember(site.sums, [&added](auto value, auto, auto set) { (added.*set)(value); });
  added.set_messages_out(site.messages_out);
  added.set_messages_in(site.messages_in);
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
  for (std::uint32_t i = 0; i < sites; ++i) SetSite(head.sites[i], *message.add_sites());
  for (std::uint32_t i = 0; i < std::min(head.group_sites_used, kProfileGroupSitesMax); ++i)
    SetSite(head.group_sites[i], *message.add_group_sites());
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
    // Those that the process had measured, and not folded when it ended.
    FoldProfile(segment.segment(), pid, segment.segment().cell(pid).recorded.load(), part);
    *profile.add_of() = MessageOf(pid, part);
  }
  return profile;
}

}  // namespace bspnow::worker
