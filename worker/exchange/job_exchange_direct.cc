// Barriers of nodes that release themselves: see direct_barrier.h.
#include <string.h>

#include <utility>

#include "net/frame_body.h"
#include "worker/exchange/arrival_figures.h"
#include "worker/exchange/job_exchange.h"

namespace bspnow::worker {

// What an epoch repeats when it resumes is no place for an image, nor is a barrier in the middle of
// a superstep: so those name none.
void JobExchange::ArriveDirectly(const BarrierCounts& counts) {
  const std::uint64_t superstep = exchange_.superstep();
  const std::uint32_t here = shape_.TakingPart(shape_.self);
  const bool saves = exchange_.ends_superstep() && (plan_.participants == 0 || superstep != 0);
  const bool sums = IsRoot() && superstep != 0;
  arrived_order_ = saves ? order_ : ImagePlan{};
  PeerArrival body{.barrier = exchange_.barrier(),
                   .checkpoint = arrived_order_.checkpoint,
                   .frames = 0,
                   .processes = here,
                   .with_data = counts.data,
                   .with_gets = counts.gets,
                   .with_votes = counts.votes,
                   .ending = counts.ending,
                   .with_groups = counts.groups,
                   .has_sums = static_cast<std::uint16_t>(sums ? 1 : 0),
                   .by_count = static_cast<std::uint16_t>(counts.by_count),
                   .lanes_ready = lanes_ && owner_.LanesReady() ? 1u : 0u,
                   .sums = {}};
  if (sums) body.sums = SumsHere(segment_, shape_.participants, superstep - 1);
  const std::span<const std::byte> ending = EndingHere(counts);
  std::vector<std::byte> payload(sizeof body + ending.size());
  if (!ending.empty()) memcpy(&payload[sizeof body], ending.data(), ending.size());
  for (std::uint32_t host = 0; host < shape_.hosts.size(); ++host) {
    if (shape_.TakingPart(host) == 0) continue;
    body.frames = exchange_.arrival().frames[host];
    memcpy(payload.data(), &body, sizeof body);
    if (host != shape_.self) {
      source_.AddArrival(superstep, host, payload, frames_);
    } else if (!direct_->OnArrival(host, payload, here)) {
      return Break(ExchangeFault::kProgram, "a process has damaged the communication memory");
    }
  }
  SendFrames();
  PassDirectly();
}

void JobExchange::PassDirectly() {
  if (broken_ || !Directly() || !exchange_.waiting() || exchange_.release_known()) return;
  if (taking_part_.empty()) {
    for (std::uint32_t host = 0; host < shape_.hosts.size(); ++host)
      taking_part_.push_back(shape_.TakingPart(host));
  }
  const std::optional<DirectBarrier::Outcome> outcome = direct_->Finish(taking_part_);
  if (!outcome) return;
  if (outcome->sums) AddSuperstep(*outcome->sums, totals_);
  if (outcome->counts.ending != 0 && outcome->counts.ending != shape_.participants) {
    for (std::uint32_t pid = 0; pid < shape_.participants; ++pid) {
      if (shape_.IsHere(pid)) continue;
      segment_.cell(Pid{pid}).in_end = direct_->InEnd(shape_.host_of[pid], Pid{pid}) ? 1 : 0;
    }
  }
  lanes_ready_ = outcome->lanes_ready;
  release_ = {};
  if (outcome->checkpoint != 0) {
    release_.checkpoint = arrived_order_.checkpoint;
    release_.base = arrived_order_.base;
    release_.hold = arrived_order_.after == ImagePlan::After::kHold ? 1 : 0;
  }
  Perform(exchange_.OnRelease(exchange_.barrier(), outcome->counts, outcome->frames));
}

ProgressBody JobExchange::Progress() {
  if (!direct_) return ProgressOf(plan_.segment->Progress());
  CatchUp();
  SuperstepTotals totals = totals_;
  if (lanes_) AddTotals(ReadLaneTotals(lanes_->barrier.state()), totals);
  ProgressBody body = ProgressOf({.processes = shape_.participants, .totals = totals});
  body.superstep = exchange_.superstep();
  return body;
}

}  // namespace bspnow::worker
