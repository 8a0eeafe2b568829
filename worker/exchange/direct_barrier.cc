#include "worker/exchange/direct_barrier.h"

#include <algorithm>

#include "net/frame_body.h"

namespace bspnow::worker {

bool DirectBarrier::OnArrival(std::uint32_t host, std::span<const std::byte> data,
                              std::uint32_t taking_part) {
  const std::optional<PeerArrival> body = BodyAtStart<PeerArrival>(data);
  if (!body || host >= hosts_.size() || taking_part == 0) return false;
  Host& from = hosts_[host];
  const std::span<const std::byte> bitmap = data.subspan(sizeof *body);
  const bool mixed = body->ending != 0 && body->ending != taking_part;
  if (body->barrier < std::max(from.next, barrier_) || body->barrier > barrier_ + 1 ||
      body->processes != taking_part || bitmap.empty() == mixed ||
      std::max({body->with_data, body->with_gets, body->with_votes, body->ending, body->with_groups,
                std::uint32_t{body->by_count}}) > taking_part)
    return false;
  from.next = body->barrier + 1;
  from.arrivals[body->barrier & 1] = {.body = *body, .ending = {bitmap.begin(), bitmap.end()}};
  return true;
}

std::optional<DirectBarrier::Outcome> DirectBarrier::Finish(
    std::span<const std::uint32_t> taking_part) {
  const auto missing = [this](const Host& host, std::uint32_t processes) {
    return processes != 0 && host.arrivals[barrier_ & 1].body.barrier != barrier_;
  };
  for (std::size_t i = 0; i < hosts_.size(); ++i)
    if (missing(hosts_[i], taking_part[i])) return std::nullopt;
  const unsigned parity = barrier_ & 1;
  const PeerArrival& own = hosts_[self_].arrivals[parity].body;
  Outcome outcome{.counts = {},
                  .frames = std::vector<std::uint64_t>(hosts_.size()),
                  .checkpoint = own.checkpoint,
                  .lanes_ready = true,
                  .sums = std::nullopt};
  if (own.has_sums != 0) outcome.sums.emplace().superstep = own.sums.superstep;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    if (taking_part[i] == 0) {
      outcome.lanes_ready = false;
      continue;
    }
    const PeerArrival& body = hosts_[i].arrivals[parity].body;
    outcome.counts.data += body.with_data;
    outcome.counts.gets += body.with_gets;
    outcome.counts.votes += body.with_votes;
    outcome.counts.ending += body.ending;
    outcome.counts.groups += body.with_groups;
    outcome.counts.by_count += body.by_count;
    if (i != self_) outcome.frames[i] = body.frames;
    if (body.checkpoint != own.checkpoint) outcome.checkpoint = 0;
    outcome.lanes_ready &= body.lanes_ready != 0;
    if (outcome.sums) AddNode(body.sums, *outcome.sums);
  }
  // What processes have in other groups is not in an image: they name the order again.
  if (outcome.checkpoint <= taken_ || outcome.counts.ending != 0 || outcome.counts.groups != 0)
    outcome.checkpoint = 0;
  taken_ = std::max(taken_, outcome.checkpoint);
  barrier_ += 1;
  return outcome;
}

bool DirectBarrier::InEnd(std::uint32_t host, Pid pid) const {
  const Arrival& arrival = hosts_[host].arrivals[(barrier_ - 1) & 1];
  if (arrival.ending.empty()) return arrival.body.ending != 0;
  const std::size_t byte = Value(pid) / 8;
  return byte < arrival.ending.size() &&
         (arrival.ending[byte] >> Value(pid) % 8 & std::byte{1}) != std::byte{0};
}

}  // namespace bspnow::worker
