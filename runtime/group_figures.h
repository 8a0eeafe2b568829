// What this process does in the supersteps of its groups, but for the root group, whose figures
// have nothing of it: see "Groups" in docs/design.md. Each superstep of a group is added when it
// ends, and the next superstep of the root group that ends takes the sums into its measurement. The
// profile has them by the calls that ended them.
//
// Groups may be those of different threads, so the sums have a lock. The root group looks at one
// word, which stays 0 in a program without groups.
//
// What was taken is added up here, too, from the job's start. It lies in the process's own memory,
// and so in its image: a process that comes back says all of it again (Group::ComeBack), and what
// the coordinator knew of groups before the image does not count (SuperstepStats).
#ifndef RUNTIME_GROUP_FIGURES_H_
#define RUNTIME_GROUP_FIGURES_H_

#include <atomic>
#include <cstdint>

#include "base/superstep_sums.h"
#include "runtime/link/superstep_profile.h"
#include "runtime/link/yield_lock.h"

namespace bspnow::runtime {

class GroupFigures {
 public:
  /// `part`: the profile of this process.
  void Attach(const ProfilePart& part) { part_ = part; }

  /// A superstep of a group, which `call_site` ended.
  void Add(const ProfileRecord& superstep, std::uint64_t call_site) {
    const GroupSums more{
        .supersteps = 1,
        .sync_ns = superstep.waiting_ns + superstep.release_ns + superstep.exchange_ns,
        .bytes_out = superstep.bytes_out,
        .bytes_in = superstep.bytes_in,
        .messages_out = superstep.messages_out,
        .messages_in = superstep.messages_in};
    const YieldLock lock(lock_);
    AddTo(sums_, more);
    if (part_.valid()) AddToSite(superstep, call_site);
    any_.store(1, std::memory_order_relaxed);
  }

  /// Since Take.
  bool any() const { return any_.load(std::memory_order_relaxed) != 0; }
  GroupSums Take() {
    const YieldLock lock(lock_);
    const GroupSums taken = sums_;
    sums_ = {};
    any_.store(0, std::memory_order_relaxed);
    AddTo(taken_, taken);
    return taken;
  }
  /// All that Take has returned, in this process and in those that it was restored from.
  const GroupSums& taken() const { return taken_; }

 private:
  void AddToSite(const ProfileRecord& superstep, std::uint64_t call_site);

  std::atomic<std::uint32_t> lock_{0};
  std::atomic<std::uint32_t> any_{0};
  GroupSums sums_{};
  GroupSums taken_{};
  ProfilePart part_;
  /// Return addresses here, by their places in ProfileHead::group_sites.
  std::uint64_t call_sites_[kProfileGroupSitesMax] = {};
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_GROUP_FIGURES_H_
