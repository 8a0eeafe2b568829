#include "runtime/process.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "runtime/agreement.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {
namespace {

// One letter of difference matters in the messages: dst for a put, src for a get.
const char* AreaName(Direction direction) { return direction == Direction::kPut ? "dst" : "src"; }

unsigned long long Printable(std::uint64_t value) { return value; }

DirectTransfer MakeDirect(const Transfer& transfer, const RemoteRange& remote) {
  return DirectTransfer{.remote = remote,
                        .local = transfer.local,
                        .direction = transfer.direction,
                        .call_site = transfer.call_site};
}

}  // namespace

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
  several_nodes_ = header.nodes > 1;
  doorbell_ = several_nodes_ ? Doorbell(header.bell, attachment_.doorbell) : Doorbell();
  segment_->cell(self_).os_pid = static_cast<std::uint32_t>(getpid());
  segment_->cell(self_).state.store(ProcessState::kAttached);
  SetSpeaker(
      {.segment = segment_, .pid = Value(self_), .os_pid = getpid(), .superstep = &superstep_});
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
    if (several_nodes_) doorbell_.Begun();
  } else {
    wait_.Until(participants, 1);
  }
  return participants.value.load(std::memory_order_acquire);
}

void Process::Begin(std::int64_t maxprocs) {
  EnsureAttached();
  if (begun_) ReportMisuse("bsp_begin", "a program has one bsp_begin and one bsp_end only");
  begun_ = true;
  NoteBegin(attachment_.link);
  p_ = AgreeOnProcesses(maxprocs);
  ProcessCell& cell = segment_->cell(self_);
  if (Value(self_) >= p_) {
    cell.state.store(ProcessState::kUnneeded);
    _exit(EXIT_SUCCESS);
  }
  AttachParts();
  cell.state.store(ProcessState::kRunning);
  running_ = true;
  PassBarrier(BarrierKind::kOther, {});
  begin_ns_ = WithinLease(NowNs());
  recorder_.Start(begin_ns_);
  cell.started.Publish(1);
}

// Before the first barrier.
void Process::AttachParts() {
  std::uint32_t here = 0;
  for (std::uint32_t i = 0; i < p_; ++i) here += segment_->IsHere(Pid{i}) ? 1 : 0;
  const std::size_t site_bytes = segment_->layout().check_full ? sizeof(std::uint64_t) : 0;
  // The network takes longer than spinning is worth.
  wait_ = PollWait(here, several_nodes_ ? 0 : attachment_.processors);
  barrier_ = BarrierMember(segment_->header().barrier, here);
  registrations_.Attach(segment_->slots(self_), segment_->pops(self_, 0), segment_->pops(self_, 1));
  outbox_.Attach(*segment_, self_, p_, site_bytes);
  if (several_nodes_ && site_bytes == 0) outbox_.HandOverBy(doorbell_);
  delivery_.Attach(*segment_, registrations_, self_, p_, site_bytes);
  direct_.Attach(*segment_, outbox_, delivery_, wait_, self_, p_);
  recorder_.Attach(*segment_, self_, p_);
  full_check_.Attach(*segment_, registrations_, direct_.peers(), self_, p_);
}

void Process::End(std::uint64_t call_site) {
  SyncTimes times{
      .superstep = superstep_, .start_ns = WithinLease(NowNs()), .call_site = call_site};
  ProcessCell& cell = segment_->cell(self_);
  cell.in_end = 1;
  const BarrierFlags all = PassBarrier(BarrierKind::kOther, {.ending = 1});
  if (all.ending != p_) ReportDifferentEnds(*segment_, self_, p_);
  times.released_ns = WithinLease(NowNs());
  recorder_.Record(times, outbox_);
  inbox_.Clear();
  running_ = false;
  cell.state.store(ProcessState::kEnded);
}

std::uint32_t Process::nprocs() {
  EnsureAttached();
  return begun_ ? p_ : segment_->layout().nprocs;
}

// Who has not joined the job yet joins it now: all may make the same mistake, and one is heard.
void Process::ReportNotRunning(const Call& call) {
  EnsureAttached();
  if (begun_) ReportMisuse(call, "call it before bsp_end, between bsp_begin and bsp_end");
  ReportMisuse(call, "call bsp_begin first");
}

// ---- Checks: one for all calls --------------------------------------------------------------

void Process::ReportPid(const Call& call, std::int64_t pid) const {
  ReportMisuse(call, "pid %lld is outside 0..%u; p is %u", static_cast<long long>(pid), p_ - 1, p_);
}

void Process::ReportRange(const Transfer& transfer, SlotId slot, std::uint64_t there) const {
  const char* area = AreaName(transfer.direction);
  const auto address = reinterpret_cast<std::uintptr_t>(transfer.area);
  const auto pid = static_cast<long long>(transfer.pid);
  if (transfer.local == nullptr) {
    ReportMisuse(
        transfer.caller(), "%s is NULL with nbytes = %llu; give the address of the data",
        AreaName(transfer.direction == Direction::kPut ? Direction::kGet : Direction::kPut),
        Printable(transfer.bytes));
  }
  if (slot == kNoSlot && address == 0) {
    ReportMisuse(transfer.caller(),
                 "%s is NULL, which is not registered; register an area with"
                 " bsp_push_reg",
                 area);
  }
  if (slot == kNoSlot && registrations_.PushedNow(address)) {
    ReportMisuse(transfer.caller(),
                 "%s 0x%llx is not registered yet: it was registered in this"
                 " superstep; use it after the next bsp_sync",
                 area, Printable(address));
  }
  if (slot == kNoSlot) {
    ReportMisuse(transfer.caller(),
                 "%s 0x%llx is not registered; call bsp_push_reg and bsp_sync on all"
                 " processes first, and name the start of the area",
                 area, Printable(address));
  }
  const Pid remote{static_cast<std::uint32_t>(transfer.pid)};
  if (segment_->slots(remote)[Value(slot)].address == 0) {
    ReportMisuse(transfer.caller(),
                 "%s 0x%llx is not registered on pid %lld, which registered NULL for it; register"
                 " an area there",
                 area, Printable(address), pid);
  }
  ReportMisuse(transfer.caller(),
               "offset %llu + %llu bytes is beyond the %llu bytes registered by pid"
               " %lld for %s 0x%llx; register a larger area there, or transfer less",
               Printable(transfer.offset), Printable(transfer.bytes), Printable(there), pid, area,
               Printable(address));
}

// ---- Communication ----------------------------------------------------------------------------

void Process::Push(std::uint64_t address, std::uint64_t bytes) {
  if (address == 0 && bytes != 0 && full_check_.on()) {
    ReportMisuse("bsp_push_reg",
                 "ident is NULL, and size is %llu; NULL stands for no area: give the address, or"
                 " size 0",
                 Printable(bytes));
  }
  if (!registrations_.Push(address, address == 0 ? 0 : bytes)) {
    ReportMisuse("bsp_push_reg", "more than %llu areas are registered; pop what is not needed",
                 Printable(kSlotsMax));
  }
}

void Process::Pop(std::uint64_t address) {
  if (registrations_.Pop(address)) return;
  ReportMisuse("bsp_pop_reg", "ident 0x%llx is not registered; pop what was pushed, once",
               Printable(address));
}

void Process::MoveUnbuffered(const Transfer& transfer, const RemoteRange& remote) {
  if (transfer.bytes < kDirectBytesMin && !full_check_.on()) {
    MoveBuffered(transfer, remote);
    return;
  }
  const DirectTransfer direct = MakeDirect(transfer, remote);
  direct_.Append(direct);
  if (full_check_.on()) {
    direct_.AwaitStart(remote.pid, superstep_);
    full_check_.Watch(direct);
  }
}

void Process::MoveNow(const Transfer& transfer) {
  direct_.GetNow(transfer.call, MakeDirect(transfer, Check(transfer)), superstep_);
}

void Process::ReportUnsendable(const Call& call, const char* name, std::uint64_t bytes) const {
  ReportMisuse(
      call,
      "%s is %llu, and memory or address space allow %llu bytes a superstep; send less at a"
      " time",
      name, Printable(bytes), Printable(segment_->layout().heap_bytes));
}

std::uint64_t Process::SetTagBytes(std::uint64_t bytes) {
  RequireSendable("bsp_set_tagsize", "tag_nbytes", bytes);
  const std::uint64_t before = next_tag_bytes_;
  next_tag_bytes_ = bytes;
  vote_due_ = true;
  tag_size_set_ = true;
  return before;
}

void Process::Send(const Call& call, std::int64_t pid, const void* tag, const void* payload,
                   std::uint64_t bytes) {
  CheckPid(call, pid);
  RequireSendable(call, "payload_nbytes", bytes);
  if (tag == nullptr && tag_bytes_ != 0) {
    ReportMisuse(call, "tag is NULL, and the tag size is %llu; give the address of the tag",
                 Printable(tag_bytes_));
  }
  if (payload == nullptr && bytes != 0) {
    ReportMisuse(call,
                 "payload is NULL, and payload_nbytes is %llu; give the address of the payload",
                 Printable(bytes));
  }
  outbox_.AppendMessage(Pid{static_cast<std::uint32_t>(pid)}, tag, tag_bytes_, payload, bytes);
}

// ---- The superstep's end ----------------------------------------------------------------------

// See "A superstep, step by step" in docs/design.md. The order of the steps is the meaning of
// BSPlib: see drma_delivery.h.
void Process::Sync(std::uint64_t call_site) {
  // The last to arrive lets the others go.
  SyncTimes times{
      .superstep = superstep_, .start_ns = WithinLease(NowNs()), .call_site = call_site};
  if (full_check_.on()) {
    // So that all computing is over when what was watched is compared.
    const BarrierFlags computed = PassBarrier(BarrierKind::kOther, {});
    if (computed.ending != 0) ReportDifferentEnds(*segment_, self_, p_);
    full_check_.CompareWatched();
    direct_.BufferAll();  // So that FindOverlaps sees them, too.
  }
  if (!direct_.empty()) direct_.PerformAll(superstep_);
  const BarrierFlags mine{.data = outbox_.empty() ? 0u : 1u,
                          .gets = outbox_.gets() == 0 ? 0u : 1u,
                          .votes = Voting() ? 1u : 0u};
  if (mine.data) outbox_.Seal();
  if (mine.votes) Vote();
  const BarrierFlags all = PassBarrier(BarrierKind::kEndsSuperstep, mine);
  times.released_ns = WithinLease(NowNs());
  if (all.ending != 0) ReportDifferentEnds(*segment_, self_, p_);
  const unsigned parity = outbox_.parity();
  if (all.votes != 0) CompareVotes(*segment_, p_, superstep_, parity, tag_bytes_);
  delivery_.AnswersWereRead();
  if (all.gets != 0) ExchangeGets(parity);
  if (all.data != 0) {
    if (full_check_.on()) full_check_.FindOverlaps(parity);
    delivery_.WritePuts(parity);
    inbox_.Fill(*segment_, self_, p_, parity, tag_bytes_);
  } else {
    inbox_.Clear();
  }
  registrations_.Commit();
  tag_bytes_ = next_tag_bytes_;
  vote_due_ = false;
  resume_called_ = false;
  tag_size_set_ = false;
  times.communicated = all.data != 0;
  recorder_.Record(times, outbox_);
  outbox_.NextSuperstep();
  superstep_ += 1;
  // Before others may write into this process's memory.
  if (__builtin_expect(all.save != 0, 0)) TakeImage();
  segment_->cell(self_).started.Publish(static_cast<std::uint32_t>(superstep_ + 1));
}

BarrierFlags Process::PassBarrier(BarrierKind kind, const BarrierFlags& mine) {
  // For whoever asks who is late; in a line that this process alone writes.
  segment_->cell(self_).arrived.store(barrier_.index() + 1, std::memory_order_relaxed);
  const bool last = barrier_.Arrive(mine);
  if (last && !several_nodes_) {
    recorder_.FoldIfDue(superstep_);
    if (kind == BarrierKind::kEndsSuperstep) barrier_.TakeOrder(segment_->header().image);
    barrier_.Release();
  } else {
    if (last) doorbell_.AllArrived(barrier_.index());
    if (several_nodes_) {
      AwaitRelease();
    } else {
      barrier_.Wait(wait_);
    }
  }
  return barrier_.Leave();
}

// Meanwhile unbuffered puts come.
void Process::AwaitRelease() {
  const unsigned parity = outbox_.parity();
  bool released = false;
  while (!released) {
    released = barrier_.WaitForNews(wait_, delivery_.EarlyNews(parity));
    delivery_.WriteEarly(parity);
  }
}

void Process::Vote() {
  RegistrationVote vote = registrations_.Vote();
  vote.superstep = superstep_;
  vote.tag_bytes = next_tag_bytes_;
  if (resume_called_) vote.digest ^= kResumeMark;
  if (tag_size_set_ && full_check_.on()) vote.digest ^= kTagSizeMark;
  segment_->cell(self_).votes[outbox_.parity()] = vote;
  if (several_nodes_) registrations_.ListPushes(segment_->pushes(self_, outbox_.parity()));
}

void Process::ExchangeGets(unsigned parity) {
  delivery_.AnswerGets(parity);
  const auto answered = static_cast<std::uint32_t>(superstep_ + 1);
  segment_->cell(self_).answered.Publish(answered);
  if (several_nodes_ && barrier_.CountAnswered()) doorbell_.AllAnswered(superstep_);
  for (std::uint32_t i = 0; i < p_; ++i) {
    if (!delivery_.Awaits(Pid{i}, parity)) continue;
    wait_.Until(segment_->cell(Pid{i}).answered, answered);
    delivery_.WriteGets(Pid{i}, parity);
  }
}

}  // namespace bspnow::runtime
