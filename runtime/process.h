// One BSP process: its life, its place in the job, and the groups of which it is a member. What
// BSPlib's calls do between bsp_begin and bsp_end is in group.h.
#ifndef RUNTIME_PROCESS_H_
#define RUNTIME_PROCESS_H_

#include <cstddef>
#include <cstdint>

#include "base/grow_array.h"
#include "base/ids.h"
#include "runtime/collectives/collective_state.h"
#include "runtime/group.h"
#include "runtime/image/checkpoint_areas.h"
#include "runtime/image/process_image.h"
#include "runtime/link/doorbell.h"
#include "runtime/link/link_client.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {

/// A group that this process has left, perhaps before others here.
struct LeftGroup {
  const GroupSlot* slot;
  std::uint64_t key;

  bool IsOpen() const { return slot->state.load() != GroupSlot::kFree && slot->key == key; }
};

class Process {
 public:
  // ---- Life

  /// bsp_init: pids above 0 run `spmd` and leave the program.
  void Init(void (*spmd)());
  void Begin(std::int64_t maxprocs);
  void End(std::uint64_t call_site);

  // ---- Enquiry

  /// p, or before bsp_begin the number of processes of the job.
  std::uint32_t nprocs();
  std::uint32_t pid() const { return Value(self_); }
  std::uint64_t begin_ns() const { return begin_ns_; }
  std::uint64_t processor_ns() const;  ///< That it used, here and before it was restored.

  /// Ends the job unless this process is between bsp_begin and bsp_end.
  void RequireRunning(const Call& call) {
    if (__builtin_expect(!running_, 0)) ReportNotRunning(call);
  }
  [[noreturn]] __attribute__((cold)) void ReportNotRunning(const Call& call);

  // ---- Communication, all between bsp_begin and bsp_end

  void Sync(std::uint64_t call_site);
  /// The same of any group of this process.
  void Sync(Group& group, std::uint64_t call_site);
  /// Group::SyncCounted; or a barrier, where that must end the superstep.
  void SyncCounted(Group& group, const Call& call, std::uint64_t messages);
  void Push(std::uint64_t address, std::uint64_t bytes) { root_.Push(address, bytes); }
  void Pop(std::uint64_t address) { root_.Pop(address); }
  void Move(const Transfer& transfer) { root_.Move(transfer); }
  void MoveNow(const Transfer& transfer) { root_.MoveNow(transfer); }
  std::uint64_t SetTagBytes(std::uint64_t bytes) { return root_.SetTagBytes(bytes); }
  void Send(const Call& call, std::int64_t pid, const void* tag, const void* payload,
            std::uint64_t bytes) {
    root_.Send(call, pid, tag, payload, bytes);
  }
  BsmpInbox& inbox() { return root_.inbox(); }

  // ---- Groups; see process_groups.cc

  Group& root() { return root_; }
  std::uint32_t open_groups() const { return open_groups_; }  ///< But for the root group.
  CollectiveState& collectives() { return collectives_; }     ///< Of the root group.

  /// The processes of `parent` whose part is that of this one become a group, in the order of their
  /// pids in `parent`. All processes of `parent` call this with the same `parts`, one entry a
  /// process, as often as each other and as Duplicate. No communication: it costs a process O(p).
  Group& Partition(Group& parent, const std::uint32_t* parts);
  /// All processes of `parent` once more: its supersteps are not those of `parent`.
  Group& Duplicate(Group& parent);
  /// This process is done with a group, which must not be the root group. What was sent in its
  /// superstep that runs is lost. Without communication.
  void Leave(Group& group);

  // ---- Checkpoints of the program's own; see process_checkpoint.cc

  void RegisterForCheckpoints(void* data, std::uint64_t bytes) { areas_.Register(data, bytes); }

  /// The superstep that the areas are from, or 0.
  std::uint64_t ResumeFromCheckpoint();

 private:
  void EnsureAttached();
  void Introduce();
  GroupSeat SeatInJob();
  std::uint32_t AgreeOnProcesses(std::int64_t maxprocs);
  Group& Open(Group& parent, const std::uint32_t* parts, std::uint32_t part);
  void AwaitThoseBehind();
  __attribute__((cold)) void TakeImage();
  ImageOutcome Save(const ImageOrder& order, const UniqueFd& directory);
  void ComeBack();

  Attachment attachment_;
  Segment* segment_ = nullptr;
  Pid self_{};
  std::uint32_t p_ = 0;
  bool attached_ = false;
  bool running_ = false;
  bool begun_ = false;
  std::uint64_t begin_ns_ = 0;
  std::uint64_t processor_ns_before_ = 0;  ///< Used before this process was restored.
  Doorbell doorbell_;                      ///< Only rung if the job has several nodes.
  Group root_;
  CollectiveState collectives_;
  std::uint32_t open_groups_ = 0;  ///< But for the root group.
  GrowArray<LeftGroup> left_groups_;
  ProcessImage image_;
  CheckpointAreas areas_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_PROCESS_H_
