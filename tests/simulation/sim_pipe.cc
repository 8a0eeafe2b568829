#include "tests/simulation/sim_pipe.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace bspnow {
namespace {

SimLink::End Other(SimLink::End end) {
  return end == SimLink::kCaller ? SimLink::kCalled : SimLink::kCaller;
}

}  // namespace

SimPipe::SimPipe(SimLoop& loop, SimLink::Ends ends)
    : loop_(loop), link_(SimLink::Make(loop, std::move(ends))) {}

std::shared_ptr<SimPipe> SimPipe::Make(SimLoop& loop, SimLink::Ends ends) {
  auto pipe = std::make_shared<SimPipe>(loop, std::move(ends));
  for (const End end : {SimLink::kCaller, SimLink::kCalled})
    pipe->link_->OnBroken(end, [weak = std::weak_ptr(pipe), end](const auto&) {
      if (const auto self = weak.lock()) self->Tell(end);
    });
  return pipe;
}

void SimPipe::Tell(End end) {
  if (news_[end]) news_[end]();
}

SimPipe::Moved SimPipe::Write(End from, std::span<const std::byte> bytes) {
  if (over(from)) return {.bytes = 0, .over = true};
  const std::size_t most = std::min(bytes.size(), kBufferBytes - under_way_[from]);
  const std::size_t n = loop_.Chance(50) || most == 0 ? most : 1 + loop_.Below(most);
  if (n == 0) return {.bytes = 0, .over = false};
  under_way_[from] += n;
  std::vector<std::byte> sent(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
  Befall(from, sent);
  link_->Send(from, [self = shared_from_this(), to = Other(from), sent = std::move(sent)] {
    self->arrived_[to].insert(self->arrived_[to].end(), sent.begin(), sent.end());
    self->Tell(to);
  });
  return {.bytes = n, .over = false};
}

void SimPipe::Befall(End from, std::span<std::byte> sent) {
  auto& [fault, after_bytes] = disturbances_[from];
  if (after_bytes >= sent.size()) {
    after_bytes -= sent.size();
    return;
  }
  switch (std::exchange(fault, Fault::kNone)) {
    case Fault::kNone:
      return;
    case Fault::kBreak:
      return link_->Break();
    case Fault::kSwallow:
      return link_->Swallow(from);
    case Fault::kDamage:
      sent[after_bytes] ^= std::byte{16};
      return;
    case Fault::kStall:
      const std::uint64_t most_ns = loop_.Chance(50) ? 5 * kSecond : 20 * kMillisecond;
      return link_->Stall(from, loop_.now_ns() + loop_.Below(most_ns));
  }
}

SimPipe::Moved SimPipe::Read(End at, std::span<std::byte> to) {
  std::deque<std::byte>& arrived = arrived_[at];
  if (arrived.empty()) return {.bytes = 0, .over = over(at)};
  const std::size_t most = std::min(arrived.size(), to.size());
  const std::size_t n = loop_.Chance(50) ? most : 1 + loop_.Below(most);
  const auto end = arrived.begin() + static_cast<std::ptrdiff_t>(n);
  std::copy(arrived.begin(), end, to.begin());
  arrived.erase(arrived.begin(), end);
  under_way_[Other(at)] -= n;
  Tell(Other(at));
  return {.bytes = n, .over = false};
}

void SimPipe::ShutDown(End end) {
  arrived_[end].clear();
  link_->Close(end);
}

}  // namespace bspnow
