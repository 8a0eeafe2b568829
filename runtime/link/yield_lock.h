// A lock for short stretches, whose word lies in memory that processes or threads share. Who dies
// with it ends the epoch, and so needs nobody to open it again.
#ifndef RUNTIME_LINK_YIELD_LOCK_H_
#define RUNTIME_LINK_YIELD_LOCK_H_

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace bspnow::runtime {

/// Holds it while it lives. Of a word that is 0 at first.
class YieldLock {
 public:
  explicit YieldLock(std::atomic<std::uint32_t>& word) : word_(word) {
    while (word_.exchange(1, std::memory_order_acquire) != 0) sched_yield();
  }
  ~YieldLock() { word_.store(0, std::memory_order_release); }
  YieldLock(const YieldLock&) = delete;
  YieldLock& operator=(const YieldLock&) = delete;

 private:
  std::atomic<std::uint32_t>& word_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_LINK_YIELD_LOCK_H_
