// Group: supersteps that end by the number of messages received (oblivious synchronization).
//
// Who sends puts a stamp on its directory entry for each process that it sends something to, and
// says so in the other's cell. Entries and heaps are used again two supersteps later, as ever; but
// who is in superstep s + 2 has not seen all others leave s + 1. So at the end of s + 1 a process
// waits for those that it sent something to in s, who may be reading it until they end s + 1. That
// cannot go round in a circle: a process that is in the earliest superstep of all waits for
// messages only, and whoever owes it some is in that superstep, or has sent them. Who leaves the
// group has ended all supersteps.
#include "base/clock.h"
#include "runtime/group.h"
#include "runtime/link/report.h"

namespace bspnow::runtime {

void Group::SyncCounted(const Call& call, std::uint64_t messages) {
  RequireMessagesOnly(call);
  SyncTimes times{
      .superstep = superstep_, .start_ns = WithinLease(NowNs()), .call_site = call.site};
  if (!outbox_.empty()) outbox_.Seal();
  outbox_.Announce(superstep_);
  SharedCounter& announced = segment_->cell(self_).announced;
  for (;;) {
    const std::uint32_t seen = announced.value.load(std::memory_order_acquire);
    const std::uint64_t here = MessagesAnnounced();
    RequireCount(call, messages, here < messages ? messages : here);
    if (here == messages) break;
    wait_.Until(announced, seen + 1);
  }
  times.last_ns = times.released_ns = WithinLease(NowNs());
  const unsigned parity = outbox_.parity();
  inbox_.Fill(*segment_, self_, p_, parity, tag_bytes_, superstep_ + 1);
  registrations_.Commit();
  Record(times);
  superstep_ += 1;
  BeginSuperstep();
  if (barrier_before_) AwaitBarriersReaders();
  barrier_before_ = false;
  outbox_.AwaitReaders(superstep_ - 1, wait_);
  outbox_.NextSuperstep();
}

// Who passed that barrier looks at all entries, stamps or not, also those of processes that sent it
// nothing.
void Group::AwaitBarriersReaders() {
  for (std::uint32_t i = 0; i < p_; ++i)
    wait_.Until(segment_->cell(Pid{i}).started, static_cast<std::uint32_t>(superstep_));
}

std::uint64_t Group::MessagesAnnounced() const {
  const unsigned parity = outbox_.parity();
  std::uint64_t messages = 0;
  for (std::uint32_t i = 0; i < p_; ++i) {
    if (segment_->stamp(Pid{i}, self_, parity).load(std::memory_order_acquire) == superstep_ + 1)
      messages += segment_->entry(Pid{i}, self_, parity).message_count;
  }
  return messages;
}

void Group::RequireMessagesOnly(const Call& call) {
  if (!direct_.empty() || outbox_.HasTransfers()) {
    ReportMisuse(call, "puts and gets were issued in this superstep; end it by bsp_sync");
  }
}

void Group::RequireCount(const Call& call, std::uint64_t wanted, std::uint64_t sent) const {
  if (wanted == sent) return;
  ReportMisuse(call,
               "%llu messages are expected, and %llu were sent to this process in the superstep;"
               " give the number that all processes together send to it",
               static_cast<unsigned long long>(wanted), static_cast<unsigned long long>(sent));
}

}  // namespace bspnow::runtime
