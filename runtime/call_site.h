// Return addresses as text for error messages.
#ifndef RUNTIME_CALL_SITE_H_
#define RUNTIME_CALL_SITE_H_

#include <cstddef>
#include <cstdint>

namespace bspnow {

inline constexpr std::size_t kCallSiteTextBytes = 512;

/// Writes "file.c:12" for a return address in process `os_pid`, which runs on this node; needs
/// debug information in the program and addr2line, else writes "program+0x1234". For a process that
/// is about to end with a message: it runs a command.
void DescribeCallSite(std::uint32_t os_pid, std::uint64_t address, char* text);

}  // namespace bspnow

#endif  // RUNTIME_CALL_SITE_H_
