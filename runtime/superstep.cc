// Group: the calls of a superstep, and its end.
#include "base/clock.h"
#include "runtime/agreement.h"
#include "runtime/group.h"
#include "runtime/link/call_site.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {
namespace {

DirectTransfer MakeDirect(const Transfer& transfer, const RemoteRange& remote) {
  return DirectTransfer{.remote = remote,
                        .local = transfer.local,
                        .direction = transfer.direction,
                        .call_site = transfer.call_site};
}

}  // namespace

// ---- Communication ----------------------------------------------------------------------------

void Group::Push(Call call, std::uint64_t address, std::uint64_t bytes) {
  if (address == 0 && bytes != 0 && full_check_.on()) {
    ReportMisuse(call,
                 "ident is NULL, and size is %llu; NULL stands for no area: give the address, or"
                 " size 0",
                 Printable(bytes));
  }
  if (!registrations_.Push(address, address == 0 ? 0 : bytes)) {
    ReportMisuse(call, "more than %llu areas are registered; pop what is not needed",
                 Printable(kSlotsMax));
  }
}

void Group::Pop(Call call, std::uint64_t address) {
  if (registrations_.Pop(address)) return;
  ReportMisuse(call, "ident 0x%llx is not registered; pop what was pushed, once",
               Printable(address));
}

void Group::MoveUnbuffered(const Transfer& transfer, const RemoteRange& remote) {
  const bool buffers = transfer.bytes < kDirectBytesMin ||
                       (transfer.bytes < kFarDirectBytesMin && !segment_->IsHere(remote.pid));
  if (buffers && !full_check_.on()) return MoveBuffered(transfer, remote);
  const DirectTransfer direct = MakeDirect(transfer, remote);
  direct_.Append(direct);
  if (full_check_.on()) {
    direct_.AwaitStart(remote.pid, superstep_);
    full_check_.Watch(direct);
  }
}

void Group::MoveNow(const Transfer& transfer) {
  direct_.GetNow(transfer.call, MakeDirect(transfer, Check(transfer)), superstep_);
}

void Group::ReportUnsendable(Call call, const char* name, std::uint64_t bytes) const {
  ReportMisuse(
      call,
      "%s is %llu, and memory or address space allow %llu bytes a superstep; send less at a"
      " time",
      name, Printable(bytes), Printable(segment_->layout().heap_bytes));
}

std::uint64_t Group::SetTagBytes(std::uint64_t bytes) {
  RequireSendable("bsp_set_tagsize", "tag_nbytes", bytes);
  const std::uint64_t before = next_tag_bytes_;
  next_tag_bytes_ = bytes;
  vote_due_ = true;
  tag_size_set_ = true;
  return before;
}

void Group::Send(Call call, std::int64_t pid, const void* tag, const void* payload,
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
BarrierFlags Group::FinishSuperstep(std::uint64_t call_site, OtherGroups others) {
  // The last to arrive lets the others go.
  SyncTimes times = Called(call_site);
  const bool was_ahead = EndBarrierBefore();
  // A call of bsp_end that is a function's last one may be a jump, and returns somewhere else.
  if (__builtin_expect(segment_->layout().check_textual, 0) && !counted_end_.due && !section_ends_)
    NoteSite(call_site);
  const bool late = full_check_.on() || !direct_.empty() || outbox_.KeptAny() || was_ahead;
  if (full_check_.on()) {
    // So that all computing is over when what was watched is compared.
    const BarrierFlags computed = PassBarrier(BarrierKind::kOther, {});
    if (computed.ending != 0) ReportDifferentEnds(*segment_, self_, p_, call_site);
    full_check_.CompareWatched();
    direct_.BufferAll();  // So that FindOverlaps sees them, too.
  }
  const bool puts_alone = direct_.empty() && !outbox_.has_gets();
  bulk_.Enter(superstep_, puts_alone ? OwnTransfers::kNone : OwnTransfers::kOther);
  if (!direct_.empty()) {
    outbox_.KeepNoMore();  // For bulk lanes, which did not take it.
    direct_.PerformAll(superstep_);
  }
  const BarrierFlags mine{.data = outbox_.empty() ? 0u : 1u,
                          .gets = outbox_.has_gets() ? 1u : 0u,
                          .votes = Voting() ? 1u : 0u,
                          .groups = others == OtherGroups::kOpen ? 1u : 0u,
                          .by_count = counted_end_.due ? 1u : 0u,
                          .after_count = several_nodes_ || barrier_before_ ? 0u : 1u,
                          .called_ns = times.start_ns};
  if (mine.data) outbox_.Seal();
  if (outbox_.KeptAny() || outbox_.kept_in_vain()) bulk_.SendKept(times.start_ns);
  if (mine.votes) Vote();
  if (late) barrier_.NoteCall(times.start_ns);
  const BarrierFlags all = PassBarrier(BarrierKind::kEndsSuperstep, mine);
  bulk_.Leave();
  if (several_nodes_) outbox_.Treat(bulk_.TreatmentIn(superstep_ + 1));
  times.last_ns = all.called_ns;
  times.released_ns = WithinLease(NowNs());
  if (all.ending != 0) ReportDifferentEnds(*segment_, self_, p_, call_site);
  const unsigned parity = outbox_.parity();
  RequireOneEnd(counted_end_.due ? counted_end_.call : Call{"bsp_sync", call_site}, all.by_count);
  if (all.votes != 0) RequireAlike(all, superstep_, parity, section_ends_ ? 0 : call_site);
  delivery_.AnswersWereRead();
  if (all.gets != 0) ExchangeGets(parity);
  if (all.data != 0) {
    if (full_check_.on()) full_check_.FindOverlaps(parity);
    delivery_.WritePuts(parity);
    inbox_.Fill(*segment_, self_, p_, parity, tag_bytes_);
  } else {
    inbox_.Clear();
  }
  if (__builtin_expect(counted_end_.due, 0)) {
    RequireCount(counted_end_.call, counted_end_.messages, inbox_.count());
    counted_end_.due = false;
  }
  registrations_.Commit();
  tag_bytes_ = next_tag_bytes_;
  vote_due_ = false;
  resume_called_ = false;
  tag_size_set_ = false;
  section_ends_ = false;
  site_ = 0;
  if (all.data != 0) times.traffic = SyncTimes::Traffic::kByAll;
  Record(times);
  outbox_.NextSuperstep();
  superstep_ += 1;
  barrier_before_ = true;
  return all;
}

// Who has received all that it waited for may have done so before others: each superstep begins
// with the first process, so the last one to come here lets that go on.
void Group::StartInOrder() {
  const auto started = static_cast<std::uint32_t>(superstep_ + 1);
  bool waits = false;
  for (std::uint32_t i = 0; i < p_; ++i) {
    SharedCounter& others = segment_->cell(Pid{i}).started;
    waits |= others.value.load(std::memory_order_acquire) < started;
    wait_.Until(others, started);
  }
  if (!waits) wait_.BeginAnew();
}

BarrierFlags Group::PassBarrier(BarrierKind kind, const BarrierFlags& mine) {
  // For whoever asks who is late; in a line that this process alone writes.
  segment_->cell(self_).arrived.store(barrier_.index() + 1, std::memory_order_release);
  const bool last = barrier_.Arrive(mine);
  if (last && !several_nodes_) {
    if (IsRoot()) recorder_.FoldIfDue(superstep_);  // Nobody reads another group's totals.
    if (kind == BarrierKind::kEndsSuperstep) {
      if (__builtin_expect(barrier_.AnyAfterCount(), 0)) RequireOneSuperstep();
      barrier_.TakeOrder(segment_->header());
    }
    barrier_.Release();
    wait_.BeginAnew();
  } else {
    carried_ = last;
    if (last) Carry();
    if (several_nodes_) {
      AwaitRelease();
    } else {
      barrier_.Wait(wait_);
    }
  }
  return barrier_.Leave();
}

// All processes of this node have arrived, and other nodes are to be told.
void Group::Carry() {
  barrier_.NoteGroups(segment_->header().groups);
  if (lanes_.Send(barrier_.index(), LaneDriver::Until::kOver)) {
    lanes_.Drive(barrier_.index(), LaneDriver::Until::kOver);
  } else {
    doorbell_.AllArrived(barrier_.index());
  }
}

// Meanwhile unbuffered puts come.
void Group::AwaitRelease() {
  const unsigned parity = outbox_.parity();
  bool released = false;
  while (!released) {
    const Watched news = delivery_.EarlyNews(parity);
    released = lanes_.attached() ? barrier_.WaitForNews(wait_, news, bulk_.AsSideWork())
                                 : barrier_.WaitForNews(wait_, news);
    delivery_.WriteEarly(parity);
  }
}

void Group::NoteSite(std::uint64_t call_site) {
  site_ = RecordedCallSite(call_site);
  vote_due_ = true;
}

void Group::Vote() {
  RegistrationVote vote = registrations_.Vote();
  vote.superstep = superstep_;
  vote.tag_bytes = next_tag_bytes_;
  vote.site = site_;
  if (resume_called_) vote.digest ^= kResumeMark;
  if (section_ends_) vote.digest ^= kEndMark;
  if (tag_size_set_ && full_check_.on()) vote.digest ^= kTagSizeMark;
  segment_->cell(self_).votes[outbox_.parity()] = vote;
  if (several_nodes_) registrations_.ListPushes(segment_->pushes(self_, outbox_.parity()));
}

void Group::ExchangeGets(unsigned parity) {
  delivery_.AnswerGets(parity);
  const auto answered = static_cast<std::uint32_t>(superstep_ + 1);
  segment_->cell(self_).answered.Publish(answered);
  if (several_nodes_) CarryAnswers(parity);
  for (std::uint32_t i = 0; i < p_; ++i) {
    if (!delivery_.Awaits(Pid{i}, parity)) continue;
    wait_.Until(segment_->cell(Pid{i}).answered, answered);
    delivery_.WriteGets(Pid{i}, parity);
  }
}

// What processes of other nodes asked for, and what these here asked them for.
void Group::CarryAnswers(unsigned parity) {
  const std::uint32_t barrier = barrier_.index() - 1;
  const bool last = barrier_.CountAnswered();
  if (!lanes_.HasGets(barrier)) {
    if (last) doorbell_.AllAnswered(superstep_);
    return;
  }
  if (last) lanes_.SendAnswers(barrier);
  bool drives = last || carried_;
  for (std::uint32_t i = 0; i < p_ && !drives; ++i)
    drives = !segment_->IsHere(Pid{i}) && delivery_.Awaits(Pid{i}, parity);
  if (drives) lanes_.DriveAnswers(barrier);
}

}  // namespace bspnow::runtime
