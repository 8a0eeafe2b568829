#include "runtime/link/node_barrier.h"

#include "runtime/link/link_segment.h"

namespace bspnow::runtime {
namespace {

void Add(std::atomic<std::uint32_t>& counter, std::uint32_t value) {
  if (value != 0) counter.fetch_add(value, std::memory_order_relaxed);
}

}  // namespace

bool BarrierMember::Arrive(const BarrierFlags& mine) {
  BarrierPhase& phase = barrier_->phases[index_ & 1];
  Add(phase.with_data, mine.data);
  Add(phase.with_gets, mine.gets);
  Add(phase.with_votes, mine.votes);
  Add(phase.ending, mine.ending);
  Add(phase.with_groups, mine.groups);
  Add(phase.by_count, mine.by_count);
  Add(phase.after_count, mine.after_count);
  // Releases what this process wrote, acquires what all before it wrote.
  if (phase.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != here_) return false;
  // All others wait, and read it with the counts: no line more than without it.
  if (phase.called_ns.load(std::memory_order_relaxed) < mine.called_ns)
    phase.called_ns.store(mine.called_ns, std::memory_order_relaxed);
  return true;
}

void BarrierMember::NoteCall(std::uint64_t called_ns) {
  std::atomic<std::uint64_t>& last_ns = barrier_->phases[index_ & 1].called_ns;
  std::uint64_t before_ns = last_ns.load(std::memory_order_relaxed);
  while (before_ns < called_ns &&
         !last_ns.compare_exchange_weak(before_ns, called_ns, std::memory_order_relaxed)) {
  }
}

void BarrierMember::NoteGroups(const GroupTable& groups) {
  if (__builtin_expect(groups.open.load(std::memory_order_relaxed) == 0, 1)) return;
  std::atomic<std::uint32_t>& with_groups = barrier_->phases[index_ & 1].with_groups;
  if (with_groups.load(std::memory_order_relaxed) == 0)
    with_groups.store(1, std::memory_order_relaxed);
}

void BarrierMember::TakeOrder(NodeHeader& header) {
  ImageOrder& order = header.image;
  const std::uint64_t wanted = order.wanted.load(std::memory_order_acquire);
  if (__builtin_expect(wanted <= order.taken.load(std::memory_order_relaxed), 1)) return;
  order.ends_at.store(0);  // All are here, in one superstep; if none is taken another is named.
  NoteGroups(header.groups);
  BarrierPhase& phase = barrier_->phases[index_ & 1];
  if (phase.with_groups.load(std::memory_order_relaxed) != 0) return;  // At a later barrier.
  phase.save.store(1, std::memory_order_relaxed);
  order.taken.store(wanted, std::memory_order_relaxed);
}

void BarrierMember::Release() { ReleaseBarrier(*barrier_, index_); }

BarrierFlags BarrierMember::Leave() {
  const BarrierPhase& phase = barrier_->phases[index_ & 1];
  index_ += 1;
  return BarrierFlags{.data = phase.with_data.load(std::memory_order_relaxed),
                      .gets = phase.with_gets.load(std::memory_order_relaxed),
                      .votes = phase.with_votes.load(std::memory_order_relaxed),
                      .ending = phase.ending.load(std::memory_order_relaxed),
                      .groups = phase.with_groups.load(std::memory_order_relaxed),
                      .by_count = phase.by_count.load(std::memory_order_relaxed),
                      .save = phase.save.load(std::memory_order_relaxed),
                      .called_ns = phase.called_ns.load(std::memory_order_relaxed)};
}

bool BarrierMember::CountAnswered() {
  BarrierPhase& left = barrier_->phases[(index_ - 1) & 1];
  return left.answered.fetch_add(1, std::memory_order_acq_rel) + 1 == here_;
}

}  // namespace bspnow::runtime
