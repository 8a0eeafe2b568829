// How libbsp speaks before it ends the job: one line, once per process, on standard error.
#ifndef RUNTIME_LINK_REPORT_H_
#define RUNTIME_LINK_REPORT_H_

#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include "runtime/link/link_segment.h"

namespace bspnow::runtime {

/// Who speaks. With an invalid segment (before bsp_begin) only the call is named.
struct Speaker {
  const Segment* segment = nullptr;
  std::uint32_t pid = 0;
  int os_pid = 0;
  const std::uint64_t* superstep = nullptr;  ///< Of the epoch; see NodeHeader::first_superstep.
};

/// A call of the program.
struct Call {
  const char* name;
  std::uint64_t site = 0;  ///< The address to which it returns; 0: not known.

  constexpr Call(const char* call, std::uint64_t return_address = 0)
      : name(call), site(return_address) {}
};

/// The calls between which a program's supersteps lie, as its texts name them.
struct Bounds {
  const char* begin = "bsp_begin";
  const char* end = "bsp_end";
};
/// Of all later reports of this process.
void NameBounds(const Bounds& bounds);
const Bounds& ProgramBounds();

/// For programs in a language whose calls all come from one module: writes the FILE:LINE of the
/// call that is being made, or nothing where the program is in none. Of all later reports of this
/// process.
using SiteNamer = void (*)(char* text, std::size_t bytes);
void NameSitesBy(SiteNamer namer);

/// Sets the speaker of all later reports of this process.
void SetSpeaker(const Speaker& speaker);

/// A child that the program made by fork: it has neither the segment nor a place in the job.
bool IsForkedChild();

/// For %llu, which takes an argument of just this type.
inline unsigned long long Printable(std::uint64_t value) { return value; }

/// The user broke BSPlib's contract in `call`: prints "bspnow: CALL on pid I, superstep S: ...,
/// at FILE:LINE" and ends the job. Of several that find something at once the first is heard.
[[noreturn]] void ReportMisuse(Call call, const char* format, ...)
    __attribute__((cold, format(printf, 2, 3)));

/// The same, with the arguments as a va_list.
[[noreturn]] __attribute__((cold)) void ReportMisuse(Call call, const char* format,
                                                     std::va_list args);

/// The world failed: prints "bspnow: ..." and ends the job.
[[noreturn]] void ReportFailure(const char* format, ...)
    __attribute__((cold, format(printf, 1, 2)));

/// bsp_abort: prints the user's text as it is, with a newline, and ends the job.
[[noreturn]] void AbortWithText(const char* format, std::va_list args);

/// The job is ending, and another process prints the reason: waits to be killed.
[[noreturn]] void AwaitTheEnd();

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_REPORT_H_
