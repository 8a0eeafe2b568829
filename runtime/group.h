// One group of processes that synchronise together, as one of its members sees it: the superstep
// engine below bsp.h. The whole job is the root group, on which BSPlib's calls act; others are made
// from it (process_groups.cc). A group owns the parts of the engine and gives them their order;
// what each does is in its own file. Sizes arrive here positive; ranges are checked here.
//
// Each group numbers its processes by pids of its own, from 0.
#ifndef RUNTIME_GROUP_H_
#define RUNTIME_GROUP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/grow_array.h"
#include "base/ids.h"
#include "base/mapped_region.h"
#include "base/poll_wait.h"
#include "runtime/group_figures.h"
#include "runtime/link/doorbell.h"
#include "runtime/link/group_slots.h"
#include "runtime/link/known_descriptor.h"
#include "runtime/link/lane_driver.h"
#include "runtime/link/link_segment.h"
#include "runtime/link/node_barrier.h"
#include "runtime/link/report.h"
#include "runtime/profile_writer.h"
#include "runtime/recorder.h"
#include "runtime/transfer.h"
#include "runtime/transfers/bsmp_inbox.h"
#include "runtime/transfers/bulk_lanes.h"
#include "runtime/transfers/direct_queue.h"
#include "runtime/transfers/drma_delivery.h"
#include "runtime/transfers/full_check.h"
#include "runtime/transfers/outbox.h"
#include "runtime/transfers/registration_table.h"

namespace bspnow::runtime {

/// Where a member finds its group.
struct GroupSeat {
  const Segment* segment;  ///< Of the job, or the group's part of it. The caller's; it stays.
  Pid self;
  std::uint32_t p;
  Doorbell doorbell;         ///< Of the node's worker; of use if the group has several nodes.
  KnownDescriptor mailbox;   ///< Where lanes come; of the root group.
  std::uint32_t processors;  ///< Of this node.
  Turn turn;
  std::uint32_t barriers;  ///< That count as passed when it begins.
  GroupFigures* figures;   ///< Of the process: the root group takes what the others add.
};

/// Where a group lies that is not the root group; see process_groups.cc.
struct GroupHome {
  MappedRegion memory;        ///< Of the Group itself.
  Segment part;               ///< Of the job's segment.
  GroupSlot* slot = nullptr;  ///< There.
  std::uint64_t key = 0;
};

/// But for the root group; while a process has any open no image is taken of it.
enum class OtherGroups { kNone, kOpen };

class Group {
 public:
  Group() = default;
  explicit Group(GroupHome home) : home_(static_cast<GroupHome&&>(home)) {}
  GroupHome& home() { return home_; }
  bool IsRoot() const { return home_.slot == nullptr; }
  /// The pid in the job of a member.
  std::uint32_t member(std::uint32_t pid) const {
    return IsRoot() ? pid : segment_->cell(Pid{pid}).member;
  }
  /// Whose memory may be lent, before Attach, and taken back after Leave.
  template <typename Use>
  void ForEachArray(const Use& use) {
    outbox_.ForEachArray(use);
    inbox_.ForEachArray(use);
  }
  /// Groups made from it so far, this one included.
  std::uint64_t CountChild() { return ++children_; }
  /// Room for the members of one that is being made.
  GrowArray<std::uint32_t>& child_members() { return child_members_; }

  /// Before the first barrier.
  void Attach(const GroupSeat& seat);

  std::uint32_t p() const { return p_; }
  Pid self() const { return self_; }
  bool several_nodes() const { return several_nodes_; }
  bool simulated() const { return simulated_; }  ///< Its processes run one at a time.
  std::uint64_t tag_bytes() const { return tag_bytes_; }
  const Segment& segment() const { return *segment_; }
  std::uint64_t superstep() const { return superstep_; }
  const std::uint64_t& superstep_word() const { return superstep_; }

  // ---- Communication

  void CheckPid(Call call, std::int64_t pid) const {
    if (!IsPid(pid)) ReportPid(call, pid);
  }
  // So that no sum of sizes overflows later.
  void RequireSendable(Call call, const char* name, std::uint64_t bytes) const {
    if (__builtin_expect(bytes > segment_->layout().heap_bytes, 0))
      ReportUnsendable(call, name, bytes);
  }
  void Push(Call call, std::uint64_t address, std::uint64_t bytes);
  void Pop(Call call, std::uint64_t address);
  void Move(const Transfer& transfer) {
    const RemoteRange remote = Check(transfer);
    if (transfer.buffering == Buffering::kUnbuffered) {
      MoveUnbuffered(transfer, remote);
    } else {
      MoveBuffered(transfer, remote);
    }
  }
  void MoveNow(const Transfer& transfer);  ///< bsp_direct_get

  // A buffered put or get of a word, or a message of one, that is like the last one to or from that
  // process: little is left to be checked and written, without a call of a function. False: nothing
  // was done; Move or Send does it, or says what is wrong with it.
  bool PutMore(const NextTransfer& put) {
    return IsWord(put.bytes) && IsPid(put.pid) && put.local != nullptr &&
           outbox_.PutMore(RangeOf(put), put.local);
  }
  bool GetMore(const NextTransfer& get) {
    return IsPid(get.pid) && get.local != nullptr && outbox_.GetMore(RangeOf(get), get.local);
  }
  bool SendMore(std::int64_t pid, const void* tag, const void* payload, std::uint64_t bytes) {
    return IsWord(bytes) && IsWord(tag_bytes_) && IsPid(pid) && tag != nullptr &&
           payload != nullptr &&
           outbox_.SendMore(Pid{static_cast<std::uint32_t>(pid)}, tag, tag_bytes_, payload, bytes);
  }

  /// Returns the value set by the call before.
  std::uint64_t SetTagBytes(std::uint64_t bytes);
  /// Before anything is sent, by all processes of the group: holds at once, so no barrier is due.
  /// Each message will have a record of its own.
  void StartWithTagBytes(std::uint64_t bytes) {
    tag_bytes_ = next_tag_bytes_ = bytes;
    outbox_.KeepMessagesApart();
  }
  void Send(Call call, std::int64_t pid, const void* tag, const void* payload, std::uint64_t bytes);
  BsmpInbox& inbox() { return inbox_; }
  Outbox& outbox() { return outbox_; }
  DrmaDelivery& delivery() { return delivery_; }

  // ---- Barriers

  /// The first one of the root group: bsp_begin's. Superstep 0 begins. Returns when.
  std::uint64_t Begin();
  /// Another group has no such barrier.
  std::uint64_t Start();
  /// The last one of the root group.
  void End(std::uint64_t call_site);

  /// bsp_sync, but for its last step: what the processes do before others may write into their
  /// memory, whatever `save` of the result asks for. `others`: of this process.
  BarrierFlags FinishSuperstep(std::uint64_t call_site, OtherGroups others);
  void BeginSuperstep() {
    segment_->cell(self_).started.Publish(static_cast<std::uint32_t>(superstep_ + 1));
  }
  /// After a bsp_sync: the last step, when nothing is left to be done for this process.
  void BeginNextSuperstep() {
    BeginSuperstep();
    if (__builtin_expect(simulated_, 0)) StartInOrder();
  }

  /// Whether FinishByCount is to end this superstep; asked once. Not if areas were registered: all
  /// processes do so alike, and whoever uses one later must find what the others have registered.
  /// Nor if an image is to be taken.
  bool EndsByCount() { return !several_nodes_ && !Voting() && !EndsForImage(); }

  /// bsp_oblsync of PUB (Bonorden et al. 2003, section 2.5): ends the superstep once as many
  /// messages are here as were sent to this process in it, whoever else has come to its end. All
  /// processes of the group end the superstep in this way, and only send messages in it. A process
  /// can be any number of supersteps ahead of others, but one of those that it sends something
  /// to.
  void FinishByCount(Call call, std::uint64_t messages);
  void BeginByCount(Call call);  ///< Its last step, as BeginNextSuperstep.

  /// The same of the root group on a few nodes, by lanes: this process may be a superstep ahead of
  /// nodes that send it nothing. As FinishSuperstep.
  bool EndsByLanes() const { return lanes_.attached() && !Voting(); }
  BarrierFlags FinishCounted(Call call, std::uint64_t messages, OtherGroups others);
  /// After that. Whoever sees that a process has arrived sees whether it waits for messages.
  void BeginAfterCounted() {
    BeginNextSuperstep();
    segment_->cell(self_).counted_wait.superstep.store(0, std::memory_order_release);
  }

  /// The same of any other: before FinishSuperstep, which ends it by a barrier.
  void EndByBarrier(Call call, std::uint64_t messages) {
    RequireMessagesOnly(call);
    counted_end_ = {.call = call, .messages = messages, .due = true};
  }

  /// Puts or gets were issued in this superstep.
  bool HasTransfers() const { return !direct_.empty() || outbox_.HasTransfers(); }
  /// At the end of this superstep all find that there were votes: BarrierFlags::votes.
  void CallForVotes() { vote_due_ = true; }

  /// What is in here of other processes' memory is not touched any more, and what this process has
  /// of the segment is not its own any more. Returns what use it has made of the group's part.
  UseOfPart Leave();

  // ---- SPMD sections; see process_sections.cc

  /// All processes call bsp_end in this superstep, and go on after it, or that is an error.
  void NoteEndOfSection() { vote_due_ = section_ends_ = true; }
  /// At the start of a superstep, by all processes: nothing is registered, no message is here, and
  /// the tag size is 0.
  void StartAnew() {
    registrations_.Clear();
    inbox_.Clear();
    tag_bytes_ = next_tag_bytes_ = 0;
  }

  // ---- Images of the root group; see process_checkpoint.cc

  /// Unread messages and the profile lie in the segment, which no image holds.
  [[nodiscard]] bool KeepCopies() {
    profile_.KeepCopy(superstep_);
    return inbox_.KeepCopy();
  }
  void DropCopies() {
    profile_.DropCopy();
    inbox_.DropCopy();
  }
  /// Their descriptors, or -1.
  void NameLanes(int (&numbers)[kLanesMax + kBulkLanesMax]) const { lanes_.Name(numbers); }
  void AddPause(std::uint64_t pause_ns) {
    profile_.AddImage(superstep_, pause_ns);
    recorder_.AddPause(superstep_ - 1, pause_ns);
  }
  void AwaitRelease(ImageOrder& order, std::uint64_t checkpoint) {
    order.AwaitRelease(checkpoint, wait_);
  }
  /// In a process that has been restored, in place of Attach and Begin. What it knew of its memory
  /// is forgotten, but for registrations and unread messages.
  void ComeBack(const GroupSeat& seat);
  void NoteResumeCalled() { vote_due_ = resume_called_ = true; }

  // A process whose node has lost touch must not go on: another may have taken its place.
  std::uint64_t WithinLease(std::uint64_t now_ns) {
    const std::atomic<std::uint64_t>& until_ns = segment_->root().lease_until_ns;
    if (__builtin_expect(now_ns < until_ns.load(std::memory_order_relaxed), 1)) return now_ns;
    return AwaitLease();
  }

 private:
  /// Images are taken after barriers that end a superstep of the program.
  enum class BarrierKind { kEndsSuperstep, kOther };

  bool IsPid(std::int64_t pid) const {
    return __builtin_expect(static_cast<std::uint64_t>(pid) < p_, 1);
  }
  [[noreturn]] __attribute__((cold)) void ReportPid(Call call, std::int64_t pid) const;

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

  RemoteRange RangeOf(const NextTransfer& transfer) {
    return {.pid = Pid{static_cast<std::uint32_t>(transfer.pid)},
            .slot = registrations_.FindAgain(reinterpret_cast<std::uintptr_t>(transfer.area)),
            .offset = transfer.offset,
            .bytes = transfer.bytes};
  }

  void MoveBuffered(const Transfer& transfer, const RemoteRange& remote) {
    if (transfer.direction == Direction::kPut) {
      outbox_.AppendPut(remote, transfer.local, transfer.call_site);
    } else {
      outbox_.AppendGet(remote, transfer.local, transfer.call_site);
    }
  }
  void MoveUnbuffered(const Transfer& transfer, const RemoteRange& remote);
  [[noreturn]] __attribute__((cold)) void ReportRange(const Transfer&, SlotId, std::uint64_t) const;
  BarrierFlags PassBarrier(BarrierKind kind, const BarrierFlags& mine);
  void Carry();
  void AwaitRelease();
  [[noreturn]] __attribute__((cold)) void ReportUnsendable(Call, const char*, std::uint64_t) const;
  bool PassCounted(const BarrierFlags& mine);
  void RequireMessagesOnly(Call call);
  __attribute__((cold)) void RequireOneSuperstep() const;
  void RequireCount(Call call, std::uint64_t wanted, std::uint64_t sent) const;
  /// After a barrier at which so many processes ended the superstep by a count.
  void RequireOneEnd(Call mine, std::uint32_t by_count) const {
    if (__builtin_expect(by_count != 0 && by_count != p_, 0)) ReportMixedEnds(mine, by_count);
  }
  [[noreturn]] __attribute__((cold)) void ReportMixedEnds(Call mine, std::uint32_t by_count) const;
  CountedMessages FillFromLanes(std::uint32_t barrier);
  bool EndBarrierBefore();
  void RequireThatNoMoreCame();
  void RequireAlike(const BarrierFlags& all, std::uint64_t superstep, unsigned parity,
                    std::uint64_t call_site) const;
  void AwaitBarriersReaders();
  CountedMessages Announced() const;
  /// Who leaves adds this to ProcessCell::started: it ends no superstep any more.
  static constexpr std::uint32_t kLeftAhead = std::uint32_t{1} << 30;

  struct CountedCall;
  void AwaitMessages(CountedCall& counted, std::uint32_t seen);
  bool EndsForImage() {
    const ImageOrder& order = segment_->header().image;
    return IsRoot() &&
           __builtin_expect(order.ends_at.load() != 0 || order.wanted.load() > order.taken.load(),
                            0) &&
           AgreeOnImage();
  }
  bool AgreeOnImage();
  bool ComeToImage(std::uint64_t now);
  bool SomeoneIsAtBarrier() const;
  void RequireThatSomeCome(const CountedCall& wait) const;
  void RequireThatNoneHasEnded(Call call) const;
  void MakeRoom(Call call);
  bool HasBegun(Pid pid, std::uint64_t superstep) const;
  /// Returns once that process has begun that superstep.
  void AwaitBegin(Call call, Pid pid, std::uint64_t superstep);
  void RequireThatItBegins(const CountedCall& wait) const;
  [[noreturn]] __attribute__((cold)) void ReportOtherEnd(Call call, Pid pid) const;
  bool Voting() const { return registrations_.changed() || vote_due_; }
  void Vote();
  __attribute__((cold)) void StartInOrder();
  __attribute__((cold)) void NoteSite(std::uint64_t call_site);
  void ExchangeGets(unsigned parity);
  void CarryAnswers(unsigned parity);

  /// By the call that ends a superstep: from here on it waits, be it for its lease.
  SyncTimes Called(std::uint64_t call_site);
  void Record(const SyncTimes& times);
  __attribute__((cold)) void KeepCountersUp();
  void ExchangeRegistrationsAgain();
  __attribute__((cold)) std::uint64_t AwaitLease();

  GroupHome home_;
  std::uint64_t children_ = 0;
  GrowArray<std::uint32_t> child_members_;
  const Segment* segment_ = nullptr;
  Pid self_{};
  std::uint32_t p_ = 0;
  bool several_nodes_ = false;  ///< The group has; else no worker takes part in a superstep.
  bool simulated_ = false;
  Turn turn_;
  std::uint64_t superstep_ = 0;
  std::uint64_t tag_bytes_ = 0;       ///< Of messages sent now.
  std::uint64_t next_tag_bytes_ = 0;  ///< From the next superstep on.
  bool vote_due_ = false;             ///< Of what else all have to do alike, something was done.
  bool barrier_before_ = false;       ///< The superstep before this one ended with a barrier.
  bool carried_ = false;              ///< This process was the last one here at that.
  bool ahead_ = false;                ///< And that is not over yet, as far as is known.
  bool resume_called_ = false;        ///< In this superstep,
  bool tag_size_set_ = false;         ///< and this,
  bool section_ends_ = false;         ///< and at its end.
  struct CountedEnd {
    Call call{nullptr};
    std::uint64_t messages = 0;
    bool due = false;
  };
  CountedEnd counted_end_;    ///< Of this superstep, if it is due.
  Call ahead_call_{nullptr};  ///< That ended the one before, if ahead_.
  std::uint64_t site_ = 0;    ///< BSP_CHECK=textual: of the bsp_sync that is under way.
  PollWait wait_{1, 1};
  Doorbell doorbell_;  ///< Only rung if the group has several nodes.
  BarrierMember barrier_;
  LaneDriver lanes_;
  RegistrationTable registrations_;
  Outbox outbox_;
  DrmaDelivery delivery_;
  BsmpInbox inbox_;
  GrowArray<LaneMessages> lane_messages_;  ///< By source, while the inbox is filled.
  BulkLanes bulk_;
  DirectQueue direct_;
  Recorder recorder_;
  GroupFigures* figures_ = nullptr;
  ProfileWriter profile_;
  FullCheck full_check_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_GROUP_H_
