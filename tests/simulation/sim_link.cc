#include "tests/simulation/sim_link.h"

#include <algorithm>
#include <utility>

namespace bspnow {

std::shared_ptr<SimLink> SimLink::Make(SimLoop& loop, Ends ends) {
  return std::make_shared<SimLink>(loop, std::move(ends));
}

SimLink::End SimLink::Other(End end) { return end == kCaller ? kCalled : kCaller; }

void SimLink::Send(End from, SimLoop::Event deliver) {
  if (broken(from) || swallows_[from]) return;
  Transmit(from, [self = shared_from_this(), to = Other(from), deliver = std::move(deliver)] {
    if (!self->broken(to)) deliver();
  });
}

void SimLink::Transmit(End from, SimLoop::Event arrives) {
  std::uint64_t& busy_until_ns = busy_until_ns_[from];
  busy_until_ns = std::max(busy_until_ns, loop_.now_ns() + loop_.Delay());
  loop_.On(ends_[Other(from)], busy_until_ns - loop_.now_ns(), std::move(arrives));
}

void SimLink::Stall(End from, std::uint64_t until_ns) {
  busy_until_ns_[from] = std::max(busy_until_ns_[from], until_ns);
}

void SimLink::Break() {
  if (std::exchange(gone_, true)) return;
  Tell(kCaller);
  Tell(kCalled);
}

void SimLink::LoseAll(std::uint64_t ns) {
  swallows_ = {true, true};
  loop_.After(ns, [self = shared_from_this()] { self->Break(); });
}

void SimLink::Close(End end) {
  if (broken(end)) return;
  closed_[end] = true;
  Transmit(end, [self = shared_from_this(), to = Other(end)] {
    if (!self->broken(to)) self->Hear(to);
  });
}

void SimLink::Tell(End end) {
  loop_.On(ends_[end], loop_.Delay(), [self = shared_from_this(), end] {
    if (!self->closed_[end]) self->Hear(end);
  });
}

void SimLink::Hear(End end) {
  gone_ = true;
  const Broken broken = std::exchange(broken_[end], nullptr);
  if (broken) broken(shared_from_this());
}

}  // namespace bspnow
