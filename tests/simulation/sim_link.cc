#include "tests/simulation/sim_link.h"

#include <algorithm>
#include <utility>

namespace bspnow {

std::shared_ptr<SimLink> SimLink::Make(SimLoop& loop) { return std::make_shared<SimLink>(loop); }

void SimLink::Send(End from, SimLoop::Event deliver) {
  if (gone_) return;
  std::uint64_t& busy_until_ns = busy_until_ns_[from];
  busy_until_ns = std::max(busy_until_ns, loop_.now_ns() + loop_.Delay());
  loop_.After(busy_until_ns - loop_.now_ns(),
              [self = shared_from_this(), deliver = std::move(deliver)] {
                if (!self->gone_) deliver();
              });
}

void SimLink::Break() {
  if (std::exchange(gone_, true)) return;
  Tell(kCaller);
  Tell(kCalled);
}

void SimLink::Close(End end) {
  if (std::exchange(gone_, true)) return;
  broken_[end] = nullptr;
  Tell(end == kCaller ? kCalled : kCaller);
}

void SimLink::Tell(End end) {
  loop_.After(loop_.Delay(), [self = shared_from_this(), end] {
    const SimLoop::Event broken = std::exchange(self->broken_[end], nullptr);
    if (broken) broken();
  });
}

}  // namespace bspnow
