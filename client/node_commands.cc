// nodes, drain, undrain, forget.
#include <unistd.h>

#include <iostream>
#include <memory>

#include "client/commands.h"
#include "client/view/job_json.h"
#include "client/view/job_view.h"
#include "client/view/node_remarks.h"

namespace bspnow::client {
namespace {

struct NodeQuery {
  std::string name;
  bool json = false;
};

enum class Drain { kDo, kUndo };

absl::StatusOr<int> PrintNodes(JobsStub& jobs, const NodeQuery& query) {
  const absl::StatusOr<proto::ListNodesReply> reply = jobs.ListNodes();
  if (!reply.ok()) return reply.status();
  std::cout << (query.json
                    ? JsonText(NodesJson(*reply))
                    : NodeTable(*reply).Text(ColoursFor(STDOUT_FILENO)) + NodeRemarks(*reply));
  return 0;
}

absl::StatusOr<int> DrainNode(JobsStub& jobs, const NodeQuery& query, Drain drain) {
  proto::DrainNodeRequest request;
  request.set_name(query.name);
  request.set_undo(drain == Drain::kUndo);
  const absl::StatusOr<proto::Node> node = jobs.Drain(request);
  if (!node.ok()) return node.status();
  if (query.json) std::cout << JsonText(NodeJson(*node));
  return 0;
}

absl::StatusOr<int> ForgetNode(JobsStub& jobs, const NodeQuery& query) {
  proto::ForgetNodeRequest request;
  request.set_name(query.name);
  const absl::StatusOr<proto::Node> node = jobs.Forget(request);
  if (!node.ok()) return node.status();
  if (query.json) std::cout << JsonText(NodeJson(*node));
  return 0;
}

}  // namespace

void AddNodeCommands(CommandLine& line) {
  const auto query = std::make_shared<NodeQuery>();
  const auto add = [&line, query](const std::string& name, const std::string& description) {
    CLI::App* command = AddCommand(line, name, description);
    command->add_flag("--json", query->json, kJsonText);
    return command;
  };
  CLI::App* nodes = add("nodes", "List the nodes");
  SetConnectedAction(line, nodes, [query](JobsStub& jobs) { return PrintNodes(jobs, *query); });
  const auto add_of_node = [&](const std::string& name, const std::string& text) {
    CLI::App* command = add(name, text);
    command->add_option("NODE", query->name, "The node's name")->required();
    return command;
  };
  const auto add_drain = [&](const std::string& name, const std::string& text, Drain drain) {
    SetConnectedAction(line, add_of_node(name, text),
                       [query, drain](JobsStub& jobs) { return DrainNode(jobs, *query, drain); });
  };
  add_drain("drain", "Place no more jobs on a node; those that run there move to others",
            Drain::kDo);
  add_drain("undrain", "Place jobs on a node again", Drain::kUndo);
  SetConnectedAction(line, add_of_node("forget", "List a node that is gone no longer"),
                     [query](JobsStub& jobs) { return ForgetNode(jobs, *query); });
}

}  // namespace bspnow::client
