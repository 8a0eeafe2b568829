#include "client/view/node_remarks.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

namespace bspnow::client {

std::string NodeRemarks(const proto::ListNodesReply& nodes) {
  std::string remarks;
  for (const proto::Node& node : nodes.nodes())
    if (!node.unknown_jobs().empty())
      absl::StrAppend(&remarks, node.spec().name(), " keeps checkpoints of jobs that the journal ",
                      "has lost: ", absl::StrJoin(node.unknown_jobs(), ", "),
                      " (see \"The state of the coordinator\" in docs/network.md)\n");
  return remarks;
}

}  // namespace bspnow::client
