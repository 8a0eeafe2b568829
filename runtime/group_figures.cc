#include "runtime/group_figures.h"

#include "runtime/link/call_site.h"

namespace bspnow::runtime {

// The last place is that of all others. A program that writes over the head harms its own figures.
void GroupFigures::AddToSite(const ProfileRecord& superstep, std::uint64_t call_site) {
  ProfileHead& head = part_.head();
  const std::uint32_t used = head.group_sites_used;
  std::uint32_t place = 0;
  while (place < used && place < kProfileGroupSitesMax - 1 && call_sites_[place] != call_site)
    ++place;
  if (place == used && place < kProfileGroupSitesMax - 1) {
    call_sites_[place] = call_site;
    head.group_sites[place].site = RecordedCallSite(call_site);
    head.group_sites_used = used + 1;
  } else if (place == kProfileGroupSitesMax - 1) {
    head.group_sites_used = kProfileGroupSitesMax;
  }
  ProfileRecord in_call = superstep;
  in_call.compute_ns = 0;
  head.group_sites[place].supersteps += 1;
  AddTo(head.group_sites[place], in_call);
}

}  // namespace bspnow::runtime
