// One BSP process: the superstep engine below bsp.h. It owns the parts and gives them their order;
// what each does is in its own file. Sizes arrive here positive; ranges are checked here.
#ifndef RUNTIME_PROCESS_H_
#define RUNTIME_PROCESS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/ids.h"
#include "base/poll_wait.h"
#include "runtime/image/checkpoint_areas.h"
#include "runtime/image/process_image.h"
#include "runtime/link/doorbell.h"
#include "runtime/link/link_client.h"
#include "runtime/link/node_barrier.h"
#include "runtime/link/report.h"
#include "runtime/recorder.h"
#include "runtime/transfers/bsmp_inbox.h"
#include "runtime/transfers/direct_queue.h"
#include "runtime/transfers/drma_delivery.h"
#include "runtime/transfers/full_check.h"
#include "runtime/transfers/outbox.h"
#include "runtime/transfers/registration_table.h"

namespace bspnow::runtime {

enum class Buffering { kBuffered, kUnbuffered };

/// A put or get as the user wrote it. `area` is the registered address, `local` the other one.
struct Transfer {
  const char* call;
  Direction direction;
  Buffering buffering;
  std::int64_t pid;
  const void* area;
  std::uint64_t offset;
  void* local;
  std::uint64_t bytes;
  std::uint64_t call_site;

  Call caller() const { return {call, call_site}; }
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
  void Push(std::uint64_t address, std::uint64_t bytes);
  void Pop(std::uint64_t address);
  void Move(const Transfer& transfer) {
    const RemoteRange remote = Check(transfer);
    if (transfer.buffering == Buffering::kUnbuffered) {
      MoveUnbuffered(transfer, remote);
    } else {
      MoveBuffered(transfer, remote);
    }
  }
  void MoveNow(const Transfer& transfer);  ///< bsp_direct_get

  /// Returns the value set by the call before.
  std::uint64_t SetTagBytes(std::uint64_t bytes);
  void Send(const Call& call, std::int64_t pid, const void* tag, const void* payload,
            std::uint64_t bytes);
  BsmpInbox& inbox() { return inbox_; }

  // ---- Checkpoints of the program's own; see process_checkpoint.cc

  void RegisterForCheckpoints(void* data, std::uint64_t bytes) { areas_.Register(data, bytes); }

  /// The superstep that the areas are from, or 0.
  std::uint64_t ResumeFromCheckpoint();

 private:
  /// Images are taken after barriers that end a superstep of the program.
  enum class BarrierKind { kEndsSuperstep, kOther };

  void EnsureAttached();
  void Introduce();
  void AttachParts();
  std::uint32_t AgreeOnProcesses(std::int64_t maxprocs);
  void CheckPid(const Call& call, std::int64_t pid) const {
    if (__builtin_expect(static_cast<std::uint64_t>(pid) >= p_, 0)) ReportPid(call, pid);
  }
  [[noreturn]] __attribute__((cold)) void ReportPid(const Call& call, std::int64_t pid) const;

  // One check for puts and gets of every kind.
  RemoteRange Check(const Transfer& transfer) {
    CheckPid(transfer.caller(), transfer.pid);
    const SlotId slot = registrations_.Find(reinterpret_cast<std::uintptr_t>(transfer.area));
    const Pid pid{static_cast<std::uint32_t>(transfer.pid)};
    const std::uint64_t there = slot == kNoSlot ? 0 : segment_->slots(pid)[Value(slot)].bytes;
    if (__builtin_expect(slot == kNoSlot || transfer.local == nullptr || transfer.offset > there ||
                             transfer.bytes > there - transfer.offset,
                         0)) {
      ReportRange(transfer, slot, there);
    }
    return RemoteRange{
        .pid = pid, .slot = slot, .offset = transfer.offset, .bytes = transfer.bytes};
  }

  void MoveBuffered(const Transfer& transfer, const RemoteRange& remote) {
    if (transfer.direction == Direction::kPut) {
      outbox_.AppendPut(remote, transfer.local, transfer.call_site);
    } else {
      outbox_.AppendGet(remote, transfer.local, transfer.call_site);
    }
  }
  void MoveUnbuffered(const Transfer& transfer, const RemoteRange& remote);
  [[noreturn]] __attribute__((cold)) void ReportRange(const Transfer& transfer, SlotId slot,
                                                      std::uint64_t there) const;
  BarrierFlags PassBarrier(BarrierKind kind, const BarrierFlags& mine);
  void AwaitRelease();
  // So that no sum of sizes overflows later.
  void RequireSendable(const Call& call, const char* name, std::uint64_t bytes) const {
    if (__builtin_expect(bytes > segment_->layout().heap_bytes, 0))
      ReportUnsendable(call, name, bytes);
  }
  [[noreturn]] __attribute__((cold)) void ReportUnsendable(const Call& call, const char* name,
                                                           std::uint64_t bytes) const;
  bool Voting() const { return registrations_.changed() || vote_due_; }
  void Vote();
  void ExchangeGets(unsigned parity);

  // A process whose node has lost touch must not go on: another may have taken its place.
  std::uint64_t WithinLease(std::uint64_t now_ns) {
    const std::atomic<std::uint64_t>& until_ns = segment_->header().lease_until_ns;
    if (__builtin_expect(now_ns < until_ns.load(std::memory_order_relaxed), 1)) return now_ns;
    return AwaitLease();
  }
  __attribute__((cold)) std::uint64_t AwaitLease();
  __attribute__((cold)) void TakeImage();
  ImageOutcome Save(const ImageOrder& order, const UniqueFd& directory);
  void ComeBack();
  void ExchangeRegistrationsAgain();

  Attachment attachment_;
  Segment* segment_ = nullptr;
  Pid self_{};
  std::uint32_t p_ = 0;
  bool several_nodes_ = false;  ///< The job has; else no worker takes part in a superstep.
  bool attached_ = false;
  bool running_ = false;
  bool begun_ = false;
  std::uint64_t superstep_ = 0;
  std::uint64_t begin_ns_ = 0;
  std::uint64_t tag_bytes_ = 0;       ///< Of messages sent now.
  std::uint64_t next_tag_bytes_ = 0;  ///< From the next superstep on.
  bool vote_due_ = false;             ///< Of what else all have to do alike, something was done.
  bool resume_called_ = false;        ///< In this superstep,
  bool tag_size_set_ = false;         ///< and this.
  std::uint64_t processor_ns_before_ = 0;  ///< Used before this process was restored.
  PollWait wait_{1, 1};
  Doorbell doorbell_;  ///< Only rung if the job has several nodes.
  BarrierMember barrier_;
  RegistrationTable registrations_;
  Outbox outbox_;
  DrmaDelivery delivery_;
  BsmpInbox inbox_;
  DirectQueue direct_;
  Recorder recorder_;
  FullCheck full_check_;
  ProcessImage image_;
  CheckpointAreas areas_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_PROCESS_H_
