// Return addresses as text for error messages, also those of processes on other nodes.
#ifndef RUNTIME_LINK_CALL_SITE_H_
#define RUNTIME_LINK_CALL_SITE_H_

#include <cstddef>
#include <cstdint>

namespace bspnow::runtime {

inline constexpr std::size_t kCallSiteTextBytes = 512;

/// Writes "file.c:12" for a return address in process `os_pid`, which runs on this node; needs
/// debug information in the program and addr2line, else writes "program+0x1234". For a process that
/// is about to end with a message: it runs a command.
void DescribeCallSite(std::uint32_t os_pid, std::uint64_t address, char* text);

/// What a record holds for a return address of this process: the same in all processes of the job,
/// wherever the program and its libraries were loaded. (Libraries of equal names but for their
/// directories count as one.)
std::uint64_t RecordedCallSite(std::uint64_t address);

/// Instead of the number of a process that runs the same program on another node.
inline constexpr std::uint32_t kElsewhere = 0;

/// As DescribeCallSite for a recorded call site of process `os_pid`, or of one elsewhere: a site
/// has a name here, too, if it is in the program or in a library that this process has loaded.
void DescribeRecordedSite(std::uint32_t os_pid, std::uint64_t site, char* text);

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_CALL_SITE_H_
