// Nodes as users see them, and what they say of each other. The rest of the class is in cluster.cc.
#include <spdlog/spdlog.h>

#include <utility>

#include <absl/strings/str_cat.h>
#include "coordinator/core/cluster.h"
#include "coordinator/core/cluster_view.h"

namespace bspnow::coordinator {

proto::ListNodesReply Cluster::ListNodes() const {
  proto::ListNodesReply reply;
  for (const JobTable::NodeView& view : table_.nodes())
    *reply.add_nodes() = NodeMessage(view, nodes_, NowNs());
  for (const auto& [name, node] : nodes_.all())
    if (!node.up() && node.known()) *reply.add_nodes() = LostNodeMessage(node);
  return reply;
}

// It is so at once, and acknowledged when a restart does not forget it.
void Cluster::SetDrained(const std::string& name, Drain drain,
                         std::function<void(absl::StatusOr<proto::Node>)> answer) {
  const auto known = nodes_.all().find(name);
  if (known == nodes_.all().end() || !known->second.known())
    return answer(
        absl::NotFoundError(absl::StrCat("there is no node ", name, "; `bsp nodes` lists them")));
  const auto written = [this, name, answer = std::move(answer)](const absl::Status& status) {
    if (status.ok()) return answer(NodeNamed(name));
    spdlog::error("event=journal_failed node={} error=\"{}\"", name, status.ToString());
    answer(absl::Status(status.code(),
                        absl::StrCat("done, but a restart of the coordinator will forget it: ",
                                     std::string(status.message()))));
  };
  Node& node = nodes_.Named(name);
  node.drained = drain == Drain::kDrain;
  if (node.drained) {
    ports_.journal.WriteDrained(name, written);
  } else {
    ports_.journal.WriteUndrained(name, written);
  }
  spdlog::info("event={} node={}", node.drained ? "drained" : "undrained", name);
  Perform(table_.OnNodesChanged(Now()));
  if (node.drained && node.up()) MoveJobsFrom({node.worker});
}

absl::Status Cluster::MayForget(const std::string& name) const {
  const auto known = nodes_.all().find(name);
  if (known == nodes_.all().end() || !known->second.known())
    return absl::NotFoundError(absl::StrCat("there is no node ", name, "; `bsp nodes` lists them"));
  if (known->second.up() && !known->second.usable())
    return absl::FailedPreconditionError(
        absl::StrCat("node ", name,
                     " is connecting; if its worker is gone it counts as lost in some seconds, and "
                     "can be forgotten then"));
  if (known->second.up())
    return absl::FailedPreconditionError(
        absl::StrCat("node ", name, " is up; `bsp drain ", name,
                     "` moves its jobs away, and when its worker is stopped it can be forgotten"));
  // After a restart of the coordinator they wait for it to come back.
  for (const auto& [id, job] : table_.jobs())
    for (const proto::Placement& place : job.shown().placement())
      if (place.node() == name && !job.record.hosts().empty() && !HasEnded(job.record))
        return absl::FailedPreconditionError(
            absl::StrCat("job ", Value(id), " runs on node ", name,
                         ", and waits for it to come back; try again in some seconds, or `bsp "
                         "cancel ",
                         Value(id), "`"));
  return absl::OkStatus();
}

void Cluster::ForgetNode(const std::string& name,
                         std::function<void(absl::StatusOr<proto::Node>)> answer) {
  if (absl::Status may = MayForget(name); !may.ok()) return answer(may);
  const proto::Node forgotten = LostNodeMessage(nodes_.all().at(name));
  nodes_.Forget(name);
  spdlog::info("event=forgotten node={}", name);
  // That it is drained is all that the journal knows of a node.
  ports_.journal.WriteUndrained(
      name, [forgotten, answer = std::move(answer)](const absl::Status& status) {
        if (status.ok()) return answer(forgotten);
        answer(absl::Status(
            status.code(),
            absl::StrCat("done, but the journal was not written, and if the node was drained a "
                         "restart of the coordinator will remember that: ",
                         std::string(status.message()))));
      });
}

absl::StatusOr<proto::Node> Cluster::NodeNamed(const std::string& name) const {
  const proto::ListNodesReply listed = ListNodes();
  for (const proto::Node& node : listed.nodes())
    if (node.spec().name() == name) return node;
  // One that has never been up, and is not drained any more.
  const auto found = nodes_.all().find(name);
  if (found != nodes_.all().end()) return LostNodeMessage(found->second);
  return absl::NotFoundError(absl::StrCat("node ", name, " is not connected"));
}

// Those that are gone meanwhile do not count.
void Cluster::OnPeersProbed(Node& node, const proto::PeersProbed& probed) {
  node.unreachable.clear();
  for (const proto::UnreachablePeer& peer : probed.unreachable())
    if (nodes_.Find(WorkerId{peer.worker()}) != nullptr)
      node.unreachable[WorkerId{peer.worker()}] = peer.reason();
  const std::string whom = UnreachableText(node, nodes_);
  spdlog::warn("event=peers_probed worker={} finding=\"{}\"", node.name,
               whom.empty() ? "all can be reached again" : whom);
}

}  // namespace bspnow::coordinator
