// What befalls a simulated worker.
#include <algorithm>
#include <iterator>

#include "base/keepalive.h"
#include "tests/simulation/sim_worker.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kKeepaliveNs =
    (kWorkerKeepalive.time_ms + kWorkerKeepalive.timeout_ms) * kMillisecond;
constexpr std::uint64_t kSilentNs = 2 * kSecond;  // As CoordinatorStream has it.
// As bsp-worker has them after SIGTERM.
constexpr std::uint64_t kEndTimeoutNs = 5 * kSecond;
constexpr std::uint64_t kLastWordsNs = kSecond;

}  // namespace

// bsp-host sees at once that its daemon is gone, unless it has no time to look.
void SimWorker::Die() { Disappear(loop_.Below(loop_.Chance(20) ? 3 * kSecond : 5 * kMillisecond)); }

void SimWorker::LosePower() { Disappear(0); }

void SimWorker::Disappear(std::uint64_t processes_for_ns) {
  streams_.Die();
  disk_.Die();
  for (const auto& [key, node] : nodes_) node->OnDaemonDead(processes_for_ns);
  for (const Link& link : {registering_, control_, frames_}) {
    if (link) link->Close(SimLink::kCaller);
  }
}

void SimWorker::End() {
  const auto die = [this] {
    if (!dead()) Die();
  };
  loop_.On(daemon_, kEndTimeoutNs, die);
  loop_.On(daemon_, 0, [this, die] {
    if (dead()) return;
    ends_ = true;
    jobs_.EndAll("the worker was shut down", [this, die] {
      loop_.On(daemon_, session_.all_acknowledged() ? 0 : loop_.Below(kLastWordsNs), die);
    });
  });
}

void SimWorker::Leave(std::uint64_t drain_ns) {
  if (std::exchange(leaves_, true)) return;
  loop_.On(daemon_, 0, [this] {
    if (!dead()) SayThatItLeaves();
  });
  loop_.On(daemon_, drain_ns, [this] {
    if (!dead()) End();
  });
}

void SimWorker::SayThatItLeaves() {
  proto::WorkerEvent event;
  event.mutable_leaving();
  Report(std::move(event));
}

void SimWorker::PauseMachine(std::uint64_t ns) {
  loop_.Pause(daemon_, ns);
  loop_.Pause(processes_, ns);
}

void SimWorker::CutOff(std::uint64_t until_ns) {
  cut_off_until_ns_ = until_ns;
  for (const Link& link : {registering_, control_, frames_}) {
    if (link) link->Break();
  }
}

void SimWorker::StallOneWay(SimLink::End from, std::uint64_t ns) {
  stalled_until_ns_[from] = loop_.now_ns() + ns;
  for (const Link& link : {registering_, control_, frames_}) {
    if (link) link->Stall(from, stalled_until_ns_[from]);
  }
}

// Whichever direction it is: no ping, and no heartbeat, has its answer.
void SimWorker::HalveAStream() {
  struct Half {
    const char* what;
    const Link& link;
    SimLink::End from;
    std::uint64_t missed_ns;
  };
  const std::uint64_t silent_ns = kSilentNs + heartbeat_ns_;
  const Half halves[] = {
      {"control streams that lose events", control_, SimLink::kCaller, kKeepaliveNs},
      {"control streams that lose orders", control_, SimLink::kCalled, kKeepaliveNs},
      {"frame streams that lose heartbeats", frames_, SimLink::kCaller, silent_ns},
      {"frame streams that lose leases", frames_, SimLink::kCalled, silent_ns}};
  const Half& half = halves[loop_.Below(std::size(halves))];
  if (!half.link || half.link->broken(SimLink::kCaller)) return;
  oracle_.Count(half.what);
  half.link->Swallow(half.from);
  loop_.After(loop_.Below(half.missed_ns), [link = half.link] { link->Break(); });
}

void SimWorker::Move() {
  oracle_.Count("workers that move");
  moves_ += 1;
  streams_.SetOwnAddress(identity_.name + ":" + std::to_string(1 + moves_));
  for (const Link& link : {registering_, control_, frames_}) {
    if (link) link->LoseAll(loop_.Below(kKeepaliveNs));
  }
  for (const auto& [key, node] : nodes_) node->OnMoved();
}

SimNode* SimWorker::AnyNode() const {
  if (nodes_.empty()) return nullptr;
  return std::next(nodes_.begin(), static_cast<std::ptrdiff_t>(loop_.Below(nodes_.size())))->second;
}

bool SimWorker::KillOneProcess() {
  SimNode* const node = AnyNode();
  return node != nullptr && node->KillOne();
}

bool SimWorker::KillOneHost() {
  SimNode* const node = AnyNode();
  return node != nullptr && node->KillHost();
}

}  // namespace bspnow
