#include "runtime/process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/link/report.h"

namespace bspnow::runtime {

// ---- Life -------------------------------------------------------------------------------------

void Process::EnsureAttached() {
  if (attached_) return;
  attachment_ = AttachToWorker();
  self_ = attachment_.pid;
  attached_ = true;
  Introduce();
}

// To the others, in a segment that is new.
void Process::Introduce() {
  segment_ = &attachment_.segment;
  NodeHeader& header = segment_->header();
  doorbell_ = header.nodes > 1 ? Doorbell(header.bell, attachment_.doorbell) : Doorbell();
  segment_->cell(self_).os_pid = static_cast<std::uint32_t>(getpid());
  segment_->cell(self_).state.store(ProcessState::kAttached);
  turn_ = segment_->turn(self_);
  group_figures_.Attach(segment_->profile(self_));
  SetSpeaker({.segment = segment_,
              .pid = Value(self_),
              .os_pid = getpid(),
              .superstep = &root_.superstep_word()});
  if (turn_.taken()) turn_.Await();
}

void Process::Init(void (*spmd)()) {
  EnsureAttached();
  if (begun_) ReportMisuse("bsp_init", "call it first in main, before bsp_begin");
  if (spmd == nullptr) ReportMisuse("bsp_init", "the SPMD procedure is NULL");
  if (self_ == Pid{0}) return;
  spmd();
  exit(EXIT_SUCCESS);
}

// The value on pid 0 counts: after bsp_init only pid 0 can have computed it (BSPlib 1997,
// "Simulating dynamic processes").
std::uint32_t Process::AgreeOnProcesses(std::int64_t maxprocs) {
  SharedCounter& participants = segment_->header().participants;
  if (self_ == Pid{0}) {
    if (maxprocs < 1) {
      ReportMisuse("bsp_begin", "maxprocs is %lld; ask for at least 1 process",
                   static_cast<long long>(maxprocs));
    }
    const std::uint32_t started = segment_->layout().nprocs;
    participants.Publish(
        static_cast<std::uint32_t>(std::min(maxprocs, static_cast<std::int64_t>(started))));
    if (segment_->header().nodes > 1) doorbell_.Begun();
  } else {
    PollWait wait(1, 1);
    wait.TakeTurns(turn_);
    wait.Until(participants, 1);
  }
  return participants.value.load(std::memory_order_acquire);
}

void Process::Begin(std::int64_t maxprocs) {
  if (sectioned_ || procedure_ != nullptr) return BeginSection("bsp_begin", maxprocs);
  EnsureAttached();
  RequireNoChild("bsp_begin");
  if (begun_) ReportMisuse("bsp_begin", "a program has one bsp_begin and one bsp_end only");
  JoinJob(maxprocs);
  running_ = true;
}

void Process::JoinJob(std::int64_t maxprocs) {
  begun_ = true;
  NoteBegin(attachment_.link);
  able_ = p_ = AgreeOnProcesses(maxprocs);
  ProcessCell& cell = segment_->cell(self_);
  if (Value(self_) >= p_) {
    cell.state.store(ProcessState::kUnneeded);
    _exit(EXIT_SUCCESS);
  }
  root_.Attach(SeatInJob());
  cell.state.store(ProcessState::kRunning);
  begin_ns_ = root_.Begin();
}

GroupSeat Process::SeatInJob() {
  return {.segment = segment_,
          .self = self_,
          .p = p_,
          .doorbell = doorbell_,
          .mailbox = attachment_.mailbox,
          .processors = attachment_.processors,
          .turn = turn_,
          .barriers = 0,
          .figures = &group_figures_};
}

void Process::RequireGroupsLeft(Call call, std::uint32_t before) const {
  const std::uint32_t open = open_groups();
  if (open <= before) return;  // One of an outer section may be left in an inner one.
  const std::uint32_t more = open - before;
  ReportMisuse(call, "pid %u is in %u groups still; leave them first", Value(self_), more);
}

void Process::End(std::uint64_t call_site) {
  if (sectioned_) return EndSection(call_site);
  RequireGroupsLeft({"bsp_end", call_site}, 0);
  root_.End(call_site);
  running_ = false;
  segment_->cell(self_).state.store(ProcessState::kEnded);
}

// See "A superstep, step by step" in docs/design.md.
BarrierFlags Process::Finish(Group& group, std::uint64_t call_site, SuperstepOf whose) {
  const bool hold_off = whose == SuperstepOf::kCollective && HasAreas();
  const BarrierFlags all = group.FinishSuperstep(call_site, !group.IsRoot() ? OtherGroups::kNone
                                                            : hold_off      ? OtherGroups::kOpen
                                                                            : others());
  // Of the root group only. Before others may write into this process's memory.
  if (__builtin_expect(all.save != 0, 0) && !HasAreas()) TakeImage();
  return all;
}

std::uint32_t Process::nprocs() {
  EnsureAttached();
  if (!begun_) RequireNoChild("bsp_nprocs");
  if (running_) return group_->p();
  return begun_ ? able_ : segment_->layout().nprocs;
}

void Process::RequireNoChild(Call call) const {
  if (!is_child_) return;
  ReportMisuse(call, "call it in the process that the job has started");
}

// Who has not joined the job yet joins it now: all may make the same mistake, and one is heard.
void Process::ReportNotRunning(Call call) {
  const void* const within = operator_.load(std::memory_order_relaxed);
  if (running_ && within != __builtin_thread_pointer())
    return;  // Another thread's, of another group.
  RequireNoChild(call);
  EnsureAttached();
  if (within != nullptr) {
    ReportMisuse(call, "it is called within an operation of a collective call, which is under way");
  }
  const auto& [begin, end] = ProgramBounds();
  if (begun_ && strcmp(call.name, end) == 0) {
    ReportMisuse(call, "there is no %s that it would end; call %s once for each %s", begin, end,
                 begin);
  }
  if (begun_) ReportMisuse(call, "call it before %s, between %s and %s", end, begin, end);
  ReportMisuse(call, "call %s first", begin);
}

}  // namespace bspnow::runtime
