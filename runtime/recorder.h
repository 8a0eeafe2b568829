// Records what each superstep cost this process, in the ring that its worker reads.
#ifndef RUNTIME_RECORDER_H_
#define RUNTIME_RECORDER_H_

#include <cstdint>

#include "base/clock.h"
#include "base/ids.h"
#include "runtime/link/link_segment.h"
#include "runtime/transfers/outbox.h"

namespace bspnow::runtime {

/// What this process received in a superstep that ended by counting; `bytes` from others only.
struct CountedMessages {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  ///< As in DirectoryEntry::bytes_to.
};

/// The bsp_sync, bsp_oblsync or bsp_end that is under way.
struct SyncTimes {
  std::uint64_t superstep;
  std::uint64_t start_ns;         ///< When it was called.
  std::uint64_t last_ns = 0;      ///< When the last process of this node called it, as known.
  std::uint64_t released_ns = 0;  ///< When the barrier was released.
  std::uint64_t call_site;
  /// kByAll: any process had data, and the directory says what. kCounted: what others sent this
  /// process is `counted`; the directory may say something else by now, or not yet.
  enum class Traffic { kNone, kByAll, kCounted } traffic = Traffic::kNone;
  CountedMessages counted{};
};

/// What counts as computing: the time between supersteps, or, where processes wait for each other's
/// computing, what this one's thread used of a processor.
enum class Computing { kByTheClock, kByTheThread };

class Recorder {
 public:
  void Attach(const Segment& segment, Pid self, std::uint32_t p, Computing computing);

  /// Superstep 0 begins.
  void Start(std::uint64_t now_ns) {
    superstep_start_ns_ = now_ns;
    if (by_thread_) computing_since_ns_ = ThreadNs();
  }

  /// bsp_sync or bsp_end has been called.
  void NoteCall() {
    if (__builtin_expect(by_thread_, 0)) NoteComputed();
  }

  /// The superstep is over, and the next one begins. `outbox` is still that of this one.
  /// `site`: see Measurement.
  void Record(const SyncTimes& times, std::uint64_t site, const Outbox& outbox);

  /// The process was held for an image after `superstep`, which has been recorded.
  void AddPause(std::uint64_t superstep, std::uint64_t pause_ns);

  /// Folds half a ring of finished supersteps into the job's totals: by the last process to arrive
  /// at a barrier, while the others wait. Costs a few nanoseconds a superstep and process.
  void FoldIfDue(std::uint64_t superstep);

  /// To be called before Record where no barrier adds figures up. 0: the ring has room. Else the
  /// number of supersteps that all processes must have ended before MakeRoom is called with that
  /// number or a greater one: their figures are still in the ring.
  std::uint64_t AwaitedBefore(std::uint64_t superstep) const;
  void MakeRoom(std::uint64_t ended) { FoldMeasurements(*segment_, p_, ended); }

 private:
  void NoteComputed();
  void CountTraffic(const SyncTimes& times, unsigned parity, Measurement& m) const;

  const Segment* segment_ = nullptr;
  Pid self_{};
  std::uint32_t p_ = 0;
  std::uint64_t superstep_start_ns_ = 0;
  bool by_thread_ = false;  ///< Computing::kByTheThread; then these count.
  std::uint64_t computing_since_ns_ = 0;
  std::uint64_t computed_ns_ = 0;  ///< In the superstep that ends.
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_RECORDER_H_
