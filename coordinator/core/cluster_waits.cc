// Cluster, as far as nodes say for whom processes wait.
#include <algorithm>
#include <utility>

#include "base/stuck_process.h"
#include "base/units.h"
#include "coordinator/core/cluster.h"

namespace bspnow::coordinator {

// Null if it is not of an epoch that runs.
RunningEpoch* Cluster::RunningOf(const proto::WorkerEvent& event) {
  LiveJob* job = FindLive(JobId{event.job()});
  const bool runs = job != nullptr && job->running && job->running->epoch == Epoch{event.epoch()};
  return runs ? &*job->running : nullptr;
}

std::uint64_t Cluster::SinceNs(std::uint64_t for_ms) const {
  return NowNs() - std::min(for_ms, NowNs() / kNsPerMs) * kNsPerMs;
}

// Only to be shown: nothing is decided by it.
void Cluster::OnBarrierWait(const Node& node, const proto::WorkerEvent& event) {
  RunningEpoch* running = RunningOf(event);
  if (running == nullptr) return;
  const proto::BarrierWait& wait = event.barrier_wait();
  if (wait.arrived() == 0 && wait.late_count() == 0) {
    running->waits.erase(node.name);
  } else {
    running->waits[node.name] = {.said = wait, .since_ns = SinceNs(wait.for_ms())};
  }
}

// The same.
void Cluster::OnGroupsOpen(const Node& node, const proto::WorkerEvent& event) {
  RunningEpoch* running = RunningOf(event);
  if (running == nullptr) return;
  const proto::GroupsOpen& open = event.groups_open();
  if (open.processes() == 0 && !open.in_calls()) {
    running->groups.erase(node.name);
  } else {
    running->groups[node.name] = {.processes = open.processes(),
                                  .since_ns = SinceNs(open.for_ms()),
                                  .in_calls = open.in_calls()};
  }
}

// Who is asked answers with another such event.
JobOrders Cluster::OnStandStill(const Node& node, const proto::WorkerEvent& event) {
  RunningEpoch* running = RunningOf(event);
  if (running == nullptr) return {};
  const Standstills::Orders orders = running->standstills.OnWord(node.name, event.stand_still());
  for (const std::string& name : orders.ask) {
    Node* const asked = nodes_.FindUp(name);
    if (asked == nullptr) continue;
    proto::Order order;
    order.mutable_look_again()->set_job(event.job());
    order.mutable_look_again()->set_epoch(event.epoch());
    order.mutable_look_again()->set_look(orders.look);
    asked->Order(std::move(order));
  }
  if (orders.stuck.empty()) return {};
  return table_.OnFailed(JobId{event.job()}, running->epoch, DeadlockText(orders.stuck), Now());
}

}  // namespace bspnow::coordinator
