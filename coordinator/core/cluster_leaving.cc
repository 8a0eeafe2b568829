// Workers that have been told to end: their jobs move, then they may go. What nobody needs of them
// any more is forgotten. See "Leaving" in docs/design.md.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "coordinator/core/cluster.h"

namespace bspnow::coordinator {

// A directory that is shared outlives the workers that use it.
LiveNodes Cluster::StayingNodes() const {
  LiveNodes staying = image_nodes_;
  for (const auto& [worker, node] : nodes_.up())
    if (node->leaving && node->registration.images_share().empty()) staying.erase(node->name);
  return staying;
}

JobOrders Cluster::OnLeaving(Node& node) {
  if (std::exchange(node.leaving, true)) return {};
  spdlog::info("event=worker_leaves worker={} jobs={}", node.name,
               table_.JobsOn(node.worker).size());
  const LiveNodes staying = StayingNodes();
  for (const auto& [id, job] : LiveJobs()) job->CountCopies(staying);
  MoveJobsFrom({node.worker});
  return table_.OnNodesChanged(Now());
}

// Images that no staying node has are needed until their job runs elsewhere and has newer ones;
// unless nobody stays who could take them.
bool Cluster::MayLeave(const Node& node) const {
  if (!table_.JobsOn(node.worker).empty()) return false;
  const LiveNodes staying = StayingNodes();
  if (staying.empty()) return true;
  for (const auto& [id, entry] : table_.jobs()) {
    const proto::JobState state = entry.record.job().state();
    if (state != proto::RUNNING && state != proto::RECOVERING) continue;
    const JobCheckpoints& checkpoints = entry.live->checkpoints;
    if (checkpoints.last() != nullptr && checkpoints.IsHolder(node.name) &&
        checkpoints.Best(staying) == nullptr)
      return false;
  }
  return true;
}

void Cluster::LetLeave() {
  for (const auto& [worker, node] : nodes_.up()) {
    if (!node->leaving || node->may_leave || !MayLeave(*node)) continue;
    node->may_leave = true;
    proto::Order order;
    order.mutable_leave();
    node->Order(std::move(order));
  }
}

void Cluster::OnStreamBroken(WorkerId worker, const OrderSink* sink) {
  nodes_.Detach(worker, sink, NowNs());
  const Node* node = nodes_.Find(worker);
  if (node != nullptr && node->may_leave && !node->sink) Lose(worker, "it has left");
}

// A container's name does not come again: of those that have not said that they leave the last ones
// are shown. What holds images may come back, and is waited for.
void Cluster::ForgetLeftNodes() {
  std::vector<std::string> left;
  std::vector<std::pair<std::uint64_t, std::string>> lost;
  for (const auto& [name, node] : nodes_.all()) {
    if (node.up() || node.drained) continue;
    if (node.left) {
      left.push_back(name);
    } else {
      lost.emplace_back(node.loss, name);
    }
  }
  std::sort(lost.begin(), lost.end());
  for (std::size_t i = 0; i + kLostNodesMax < lost.size(); ++i) left.push_back(lost[i].second);
  const auto& jobs = table_.jobs();
  for (const std::string& name : left) {
    const bool needed = std::any_of(jobs.begin(), jobs.end(), [&name = name](const auto& entry) {
      return entry.second.live != nullptr && entry.second.live->checkpoints.IsHolder(name);
    });
    if (!needed) nodes_.Forget(name);
  }
}

}  // namespace bspnow::coordinator
