// No signal handler of the program runs while this lives; nor in a child that is cloned meanwhile.
#ifndef RUNTIME_IMAGE_PROC_BLOCKED_SIGNALS_H_
#define RUNTIME_IMAGE_PROC_BLOCKED_SIGNALS_H_

#include <signal.h>

#include <cstddef>
#include <cstdint>

#include "base/freestanding/raw_call.h"

namespace bspnow::runtime {

class BlockedSignals {
 public:
  BlockedSignals() : before_(Exchange(~std::uint64_t{0})) {}
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { Exchange(before_); }

  /// The mask of before, as the kernel has it.
  std::uint64_t before() const { return before_; }

 private:
  static std::uint64_t Exchange(std::uint64_t mask) {
    constexpr std::size_t kMaskBytes = 8;
    std::uint64_t before = 0;
    RawCall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, kMaskBytes);
    return before;
  }

  std::uint64_t before_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_PROC_BLOCKED_SIGNALS_H_
