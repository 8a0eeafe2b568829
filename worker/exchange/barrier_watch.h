// Whom the processes of a node wait for at a barrier. Looked for now and then, in the job's segment
// and in /proc: a superstep costs nothing by it. See "Who is waited for" in docs/design.md.
#ifndef WORKER_EXCHANGE_BARRIER_WATCH_H_
#define WORKER_EXCHANGE_BARRIER_WATCH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "worker/exchange/node_segment.h"

namespace bspnow::worker {

/// What a process does that has not arrived.
enum class Lateness : std::uint32_t {
  kComputing = 1,
  kAsleep = 2,   ///< Waits, but not in bsp_sync: for input, a lock, a disk.
  kStopped = 3,  ///< By SIGSTOP or a debugger.
  kDead = 4,
  kCounting = 5,  ///< Waits at the end of a superstep for messages: see MessagesAwaited.
};

/// At the end of a superstep that ends by counting (bsp_oblsync). If all wait, a count is wrong.
struct MessagesAwaited {
  std::uint64_t superstep = 0;
  std::uint64_t expected = 0;
  std::uint64_t here = 0;

  bool operator==(const MessagesAwaited&) const = default;
};

struct LateProcess {
  Pid pid;
  std::uint32_t os_pid;  ///< As it said; 0: it has not made a BSP call.
  Lateness lateness;
  bool begun;                  ///< Has passed bsp_begin.
  MessagesAwaited messages{};  ///< If it is kCounting.

  bool operator==(const LateProcess&) const = default;
};

struct BarrierLook {
  /// Barriers, by all, of whatever group, and supersteps, by each process (modulo 2^32).
  std::uint32_t passed = 0;
  std::uint32_t arrived = 0;        ///< Processes here that wait at the next one of some group.
  std::vector<LateProcess> late{};  ///< Those that it lacks, by pid.

  bool operator==(const BarrierLook&) const = default;
};

/// `here`: the pids of this node.
BarrierLook LookAtBarrier(const NodeSegment& segment, const std::vector<Pid>& here);

/// Knows since when a barrier has not moved, and what has been said of that.
class BarrierWatch {
 public:
  explicit BarrierWatch(std::uint64_t now_ns) : since_ns_(now_ns) {}

  /// What is to be said now: the look, once the barrier has not moved for `patience_ns`, and again
  /// when another process is late or does something else; an empty one when the barrier has moved
  /// since that was said.
  std::optional<BarrierLook> OnLook(const BarrierLook& look, std::uint64_t now_ns,
                                    std::uint64_t patience_ns);

  /// A coordinator was started again and has lost what it heard: what still lasts at the next look
  /// is said once more.
  void SayAgain() { again_ = true; }

  /// When the barrier was first seen where it is.
  std::uint64_t since_ns() const { return since_ns_; }

 private:
  std::uint64_t since_ns_;
  std::uint32_t passed_ = 0;
  std::optional<BarrierLook> said_;
  bool again_ = false;
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_BARRIER_WATCH_H_
