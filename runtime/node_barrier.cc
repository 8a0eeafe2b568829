#include "runtime/node_barrier.h"

namespace bspnow {
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
  // Releases what this process wrote, acquires what all before it wrote.
  return phase.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == p_;
}

void BarrierMember::Release() {
  // Everybody who arrived here has left the barrier before, whose phase is the other one.
  BarrierPhase& other = barrier_->phases[(index_ + 1) & 1];
  other.arrived.store(0, std::memory_order_relaxed);
  other.with_data.store(0, std::memory_order_relaxed);
  other.with_gets.store(0, std::memory_order_relaxed);
  other.with_votes.store(0, std::memory_order_relaxed);
  other.ending.store(0, std::memory_order_relaxed);
  barrier_->released.Publish(index_ + 1);
}

BarrierFlags BarrierMember::Leave() {
  const BarrierPhase& phase = barrier_->phases[index_ & 1];
  index_ += 1;
  return BarrierFlags{.data = phase.with_data.load(std::memory_order_relaxed),
                      .gets = phase.with_gets.load(std::memory_order_relaxed),
                      .votes = phase.with_votes.load(std::memory_order_relaxed),
                      .ending = phase.ending.load(std::memory_order_relaxed)};
}

}  // namespace bspnow
