#include "runtime/link/group_slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/clock.h"
#include "base/units.h"
#include "runtime/link/testing/lane_node.h"

namespace bspnow::runtime {
namespace {

/// Frees groups that all members here have left, all that it finds at once, as a worker does.
class Worker {
 public:
  explicit Worker(const Segment& job) : job_(job), thread_([this] { Run(); }) {}
  ~Worker() {
    stop_ = true;
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

 private:
  void Run() {
    while (!stop_) {
      const std::uint32_t used = job_.header().groups.used.load();
      for (std::uint32_t i = 0; i < used; ++i) {
        GroupSlot& slot = job_.group_slot(i);
        if (slot.state.load(std::memory_order_acquire) == GroupSlot::kLeft)
          job_.GiveUpPart(slot, slot.offset, slot.members, Segment::UseOf(slot));
      }
      std::this_thread::yield();
    }
  }

  const Segment& job_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// Who has left several groups waits till the worker has freed some of them, which it may do while
// the process looks whether there is any.
TEST(GroupSlotsTest, WhoIsAheadOfTheWorkerWaitsForIt) {
  const Segment job = SegmentOfTwoNodes(0);
  Doorbell doorbell(job.header().bell, {});
  const Worker worker(job);
  const std::uint32_t members[] = {0, 1};
  const std::uint64_t end_ns = NowNs() + 20 * kNsPerS;
  for (std::uint64_t key = 1; key <= 300'000 && NowNs() < end_ns; ++key) {
    GroupSlot& slot = OpenGroup(
        job, {.key = key, .parent = 0, .child = 1, .members = members, .count = 2, .self = 0},
        doorbell);
    const Segment part = job.Part(slot.offset, LayOutGroup(job.layout(), 2));
    LeaveGroup(job, slot, part.cell(Pid{0}), {Segment::PartUse::kLittle, 0}, doorbell);
  }
}

}  // namespace
}  // namespace bspnow::runtime
