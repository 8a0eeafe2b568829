// A write of many bytes, which the kernel may take in pieces.
#ifndef BASE_WRITE_ALL_H_
#define BASE_WRITE_ALL_H_

#include <absl/status/status.h>

#include <string_view>

namespace bspnow {

/// Writes all of `bytes`, in as many calls as that takes; waits for a reader that is slow, be the
/// file non-blocking or not. Errors say that it was `what`.
absl::Status WriteAll(int file, std::string_view bytes, std::string_view what);

}  // namespace bspnow

#endif  // BASE_WRITE_ALL_H_
