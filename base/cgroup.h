// The control group (cgroup v2) that this process is in, and the memory that there is for it.
#ifndef BASE_CGROUP_H_
#define BASE_CGROUP_H_

#include <cstdint>
#include <string>

namespace bspnow {

/// The directory of the group that a process is in, from its /proc/PID/cgroup and
/// /proc/PID/mountinfo; empty: cgroup v2 does not show it.
std::string CgroupOf(const std::string& cgroup, const std::string& mountinfo);

/// That of this process.
std::string OwnCgroup();

/// The least limit of a group, given by its directory, and of those above it; all ones: there is
/// none. What is beyond makes the kernel kill a process of the group.
std::uint64_t CgroupMemoryMax(const std::string& group);

/// That processes here may have: the machine's, or less if their control group has a limit.
std::uint64_t MemoryBytes();

}  // namespace bspnow

#endif  // BASE_CGROUP_H_
