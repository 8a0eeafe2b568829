// Arguments of the C calls that are checked alike everywhere.
#ifndef RUNTIME_CHECKED_ARGUMENT_H_
#define RUNTIME_CHECKED_ARGUMENT_H_

#include <cstdint>
#include <type_traits>

#include "runtime/link/report.h"

namespace bspnow::runtime {

/// Turns a size of the paper's dialect, an int, into one of ours; error if negative.
template <typename Size>
std::uint64_t Checked(Call call, const char* name, Size size) {
  if constexpr (std::is_signed_v<Size>) {
    if (__builtin_expect(size < 0, 0)) {
      ReportMisuse(call, "%s is %lld; it must not be negative", name, static_cast<long long>(size));
    }
  }
  return static_cast<std::uint64_t>(size);
}

}  // namespace bspnow::runtime

#endif  // RUNTIME_CHECKED_ARGUMENT_H_
