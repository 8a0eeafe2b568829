// The control groups that this process is in, and what there is for it by their limits. A machine
// has one tree of groups (cgroup v2), or one for each kind of limit (v1), or both.
#ifndef BASE_CGROUP_H_
#define BASE_CGROUP_H_

#include <cstdint>
#include <string>

namespace bspnow {

/// The directory of the group that a process is in, from its /proc/PID/cgroup and
/// /proc/PID/mountinfo: that of `controller` in v1 ("memory", "pids", "cpu"), or for "" that of
/// v2. Empty: there is none, or it cannot be seen from here.
std::string CgroupOf(const std::string& cgroup, const std::string& mountinfo,
                     const std::string& controller);

/// That of this process.
std::string OwnCgroup(const std::string& controller);

/// What a group may have of memory. What is beyond makes the kernel kill a process of the group.
struct MemoryLimit {
  std::string group;  ///< Its directory; empty: there is no limit.
  std::uint64_t bytes = ~std::uint64_t{0};
};

/// The least one of a group, given by its directory, and of those above it.
MemoryLimit CgroupMemoryLimit(const std::string& group);

/// That of this process.
MemoryLimit OwnMemoryLimit();

/// Then the kernel may write out what a group has too much, and kills nobody.
bool MachineHasSwap();

/// In the same way, the processors whose time the group may use up; 0: all. Parts count as one.
std::uint32_t CgroupProcessors(const std::string& group);

/// That processes here may have: the machine's, or less if their control group has a limit.
std::uint64_t MemoryBytes();

}  // namespace bspnow

#endif  // BASE_CGROUP_H_
