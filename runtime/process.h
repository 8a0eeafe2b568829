// One BSP process: its life, its place in the job, and the groups of which it is a member. What
// BSPlib's calls do between bsp_begin and bsp_end is in group.h.
#ifndef RUNTIME_PROCESS_H_
#define RUNTIME_PROCESS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/grow_array.h"
#include "base/ids.h"
#include "runtime/collectives/collective_state.h"
#include "runtime/group.h"
#include "runtime/group_figures.h"
#include "runtime/image/checkpoint_areas.h"
#include "runtime/image/process_image.h"
#include "runtime/link/doorbell.h"
#include "runtime/link/link_client.h"
#include "runtime/link/report.h"
#include "runtime/spare_regions.h"

namespace bspnow::runtime {

/// What pid 0 of a team says to the others when it begins an SPMD section.
struct SectionOrder {
  std::uint32_t p;          ///< Processes of the section, the first ones; 0: none begins any more.
  std::uint64_t procedure;  ///< To be called, from the start of the program; kNoProcedure: none.
};

/// An SPMD section that runs, as one of its processes sees it.
struct Section {
  Group* team;     ///< Its processes, and those that it did not need; null: this process alone.
  Group* group;    ///< Its processes, on which BSPlib's calls act; may be the team.
  Group* helpers;  ///< This process and those that its own sections may have; null: there are none.
  void (*procedure)();            ///< Outside it: Process::procedure_,
  std::uint64_t scratch_bytes;    ///< and that of the collectives.
  std::uint32_t open_groups = 0;  ///< When it began.
};

/// Who ends a superstep: the program, or a collective call that takes several.
enum class SuperstepOf : std::uint8_t { kProgram, kCollective };

class Process {
 public:
  // ---- Life

  /// bsp_init: pids above 0 run `spmd` and leave the program.
  void Init(void (*spmd)());
  void Begin(std::int64_t maxprocs);
  void End(std::uint64_t call_site);

  // ---- The same of MulticoreBSP, whose programs have several sections; see process_sections.cc

  void InitSection(void (*spmd)());
  void BeginSection(Call call, std::int64_t maxprocs);

  // ---- Enquiry

  /// p, or before bsp_begin the number of processes of the job.
  std::uint32_t nprocs();
  std::uint32_t pid() const { return Value(group_->self()); }
  std::uint64_t begin_ns() const { return begin_ns_; }
  /// SPMD sections in which this process is; and a number that barriers of the innermost raise.
  std::uint32_t sections() const {
    return sectioned_ ? static_cast<std::uint32_t>(sections_.size()) : running_ ? 1 : 0;
  }
  std::uint64_t superstep() const {
    if (!running_) return 0;
    return group_->superstep() + (group_->IsRoot() ? segment_->header().first_superstep : 0);
  }
  std::uint64_t processor_ns() const;  ///< That it used, here and before it was restored.

  /// Ends the job unless this process is between bsp_begin and bsp_end, and not within an
  /// operation.
  void RequireRunning(Call call) {
    if (__builtin_expect(!running_ || operator_.load(std::memory_order_relaxed) != nullptr, 0))
      ReportNotRunning(call);
  }
  /// The same, but for what an operation may call.
  void RequireBegun(Call call) {
    if (__builtin_expect(!running_, 0)) ReportNotRunning(call);
  }
  /// In a child that the program has made by fork: it is in no superstep, and its calls are errors.
  void BecomeChild() {
    if (running_) able_ = group_->p();  // For bsp_nprocs, which it may ask.
    running_ = false;
    is_child_ = attached_;
  }
  void RequireNoChild(Call call) const;
  /// Returns if it runs, and another thread is within an operation.
  __attribute__((cold)) void ReportNotRunning(Call call);

  // ---- Communication, all between bsp_begin and bsp_end

  void Sync(std::uint64_t call_site) { Sync(*group_, call_site); }
  /// The same of any group of this process.
  void Sync(Group& group, std::uint64_t call_site) {
    Sync(group, call_site, [] {});
  }
  /// `complete` does what is left to be done for the superstep that is over, before others may
  /// touch the memory of this process.
  template <typename Complete>
  void Sync(Group& group, std::uint64_t call_site, const Complete& complete) {
    const bool save_areas = Finish(group, call_site, SuperstepOf::kProgram).save != 0 && HasAreas();
    complete();
    if (__builtin_expect(save_areas, 0)) TakeImage();
    group.BeginNextSuperstep();
  }
  /// Group::FinishByCount and so on; or a barrier, where that must end the superstep.
  void SyncCounted(Group& group, Call call, std::uint64_t messages) {
    SyncCounted(group, call, messages, [] {});
  }
  template <typename Complete>
  void SyncCounted(Group& group, Call call, std::uint64_t messages, const Complete& complete) {
    if (group.EndsByCount()) {
      group.FinishByCount(call, messages);
      complete();
      return group.BeginByCount(call);
    }
    const bool save_areas = FinishCounted(group, call, messages).save != 0 && HasAreas();
    complete();
    if (__builtin_expect(save_areas, 0)) TakeImage();
    group.BeginAfterCounted();
  }
  /// A superstep's end but for its last step, Group::BeginNextSuperstep: before that nobody else
  /// touches the memory of this process. Areas are not saved here, and not at the end of a
  /// collective call's superstep: there they may be between two states of the program's.
  BarrierFlags Finish(Group& group, std::uint64_t call_site, SuperstepOf whose);
  void Push(Call call, std::uint64_t address, std::uint64_t bytes) {
    group_->Push(call, address, bytes);
  }
  void Pop(Call call, std::uint64_t address) { group_->Pop(call, address); }
  void Move(const Transfer& transfer) { group_->Move(transfer); }
  void MoveNow(const Transfer& transfer) { group_->MoveNow(transfer); }
  // As in Group; false also if this process is not running.
  bool PutMore(const NextTransfer& put) { return running_ && group_->PutMore(put); }
  bool GetMore(const NextTransfer& get) { return running_ && group_->GetMore(get); }
  bool SendMore(std::int64_t pid, const void* tag, const void* payload, std::uint64_t bytes) {
    return running_ && group_->SendMore(pid, tag, payload, bytes);
  }
  std::uint64_t SetTagBytes(std::uint64_t bytes) { return group_->SetTagBytes(bytes); }
  void Send(Call call, std::int64_t pid, const void* tag, const void* payload,
            std::uint64_t bytes) {
    group_->Send(call, pid, tag, payload, bytes);
  }
  BsmpInbox& inbox() { return group_->inbox(); }
  bool running() const { return running_; }

  /// Calls an operation of the program's within a collective call: it may not call the library. Of
  /// several threads that do so at once one is watched.
  template <typename Operate>
  void CallOperation(const Operate& operate) {
    void* nobody = nullptr;
    const bool watched = operator_.compare_exchange_strong(nobody, __builtin_thread_pointer(),
                                                           std::memory_order_relaxed);
    operate();
    if (watched) operator_.store(nullptr, std::memory_order_relaxed);
  }

  // ---- Groups; see process_groups.cc. What is made of different groups, and done in them, may be
  // made and done by different threads.

  Group& root() { return root_; }
  Group& group() { return *group_; }                                 ///< That of BSPlib's calls.
  std::uint32_t open_groups() const { return open_groups_.load(); }  ///< But for the root group.
  CollectiveState& collectives() { return collectives_; }            ///< Of group().

  /// The processes of `parent` whose part is that of this one become a group, in the order of their
  /// pids in `parent`. All processes of `parent` call this with the same `parts`, one entry a
  /// process, as often as each other and as Duplicate. No communication: it costs a process O(p).
  Group& Partition(Group& parent, const std::uint32_t* parts);
  /// All processes of `parent` once more: its supersteps are not those of `parent`.
  Group& Duplicate(Group& parent);
  /// This process is done with a group, which must not be the root group. What was sent in its
  /// superstep that runs is lost. Without communication.
  void Leave(Group& group);
  /// For what lies on top of groups.
  SpareRegions& spare_regions() { return spare_regions_; }
  NamedMemory& named_memory() { return named_memory_; }

  // ---- Checkpoints of the program's own; see process_checkpoint.cc

  void RegisterForCheckpoints(void* data, std::uint64_t bytes);

  /// The superstep that the areas are from, or 0.
  std::uint64_t ResumeFromCheckpoint();

 private:
  void EnsureAttached();
  void Introduce();
  GroupSeat SeatInJob();
  std::uint32_t AgreeOnProcesses(std::int64_t maxprocs);
  void JoinJob(std::int64_t maxprocs);
  OtherGroups others() const {
    return open_groups() == 0 ? OtherGroups::kNone : OtherGroups::kOpen;
  }
  bool HasAreas() const { return areas_.any(); }
  void RequireSectionOfAll(const char* call) const;
  BarrierFlags FinishCounted(Group& group, Call call, std::uint64_t messages);
  Group& Open(Group& parent, std::uint64_t child, const std::uint32_t* parts, std::uint32_t part);
  void BecomeSectioned(std::int64_t maxprocs);
  std::uint32_t ProcessesFor(const Group& team, std::int64_t maxprocs) const;
  void Tell(Group& team, const SectionOrder& order);
  SectionOrder AwaitOrder(Group& team);
  void Enter(Group& team, std::uint32_t p);
  void EnterAlone();
  void PushSection(const Section& section);
  Group* OpenHelpers(Group& team, std::uint32_t p);
  void Help(Group& team, std::uint32_t p);
  void Serve(Group& team);
  void EndSection(std::uint64_t call_site);
  /// Before its bsp_end: this process is in no more groups than when the section began.
  void RequireGroupsLeft(Call call, std::uint32_t before) const;
  void EndProgram();
  __attribute__((cold)) void TakeImage();
  ImageOutcome Save(const ImageOrder& order, const Clocks& clocks, const PlaceOfImages& place);
  void ComeBack();

  Attachment attachment_;
  Segment* segment_ = nullptr;
  Turn turn_;  ///< Of use if the job is simulated.
  Pid self_{};
  std::uint32_t p_ = 0;
  bool attached_ = false;
  bool running_ = false;
  bool is_child_ = false;  ///< Of one that was attached, made by fork: without the segment.
  std::atomic<void*> operator_ = nullptr;  ///< The thread that is watched within an operation.
  bool begun_ = false;
  bool sectioned_ = false;         ///< Begun as MulticoreBSP has it.
  bool dismissed_ = false;         ///< Pid 0 has said that no section begins any more.
  bool ordered_ = false;           ///< Called a section's procedure, and bsp_begin is to enter it.
  void (*procedure_)() = nullptr;  ///< Of InitSection, for sections that begin now.
  std::uint32_t able_ = 0;         ///< Processes that a section without a procedure may have.
  std::uint64_t alone_ = 0;        ///< Sections so far that this process alone was in.
  std::uint64_t begin_ns_ = 0;
  std::uint64_t processor_ns_before_ = 0;  ///< Used before this process was restored.
  Doorbell doorbell_;                      ///< Only rung if the job has several nodes.
  GroupFigures group_figures_;
  Group root_;
  Group* group_ = &root_;
  GrowArray<Section> sections_;  ///< That run, the innermost one last.
  CollectiveState collectives_;
  std::atomic<std::uint32_t> open_groups_{0};  ///< But for the root group.
  SpareRegions spare_regions_;
  NamedMemory named_memory_;
  ProcessImage image_;
  CheckpointAreas areas_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_PROCESS_H_
