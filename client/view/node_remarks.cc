#include "client/view/node_remarks.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <cstddef>
#include <map>
#include <vector>

#include "client/view/harmless.h"

namespace bspnow::client {
namespace {

using Names = std::vector<std::string>;

std::string NamesText(const Names& some, const proto::ListNodesReply& nodes) {
  const bool is_all = some.size() > 1 && some.size() == std::size_t(nodes.nodes_size());
  return is_all ? "all nodes" : absl::StrJoin(some, ", ");
}

/// --accounts by which jobs of different users reach each other.
bool IsShared(const std::string& accounts) {
  return accounts == "own:everybody" || accounts.starts_with("fixed:");
}

/// Where less keeps jobs apart than could.
std::string IsolationRemarks(const proto::ListNodesReply& nodes) {
  std::map<std::string, Names> shared;  // By --accounts.
  Names unlimited;
  for (const proto::Node& node : nodes.nodes()) {
    const proto::NodeSpec& spec = node.spec();
    if (IsShared(spec.accounts())) shared[Harmless(spec.accounts())].push_back(spec.name());
    if (spec.limits() == "none") unlimited.push_back(spec.name());
  }
  std::string remarks;
  for (const auto& [accounts, where] : shared)
    absl::StrAppend(&remarks, accounts, " on ", NamesText(where, nodes), ": the programs of all ",
                    "users run there as one account, and can reach each other's files and ",
                    "processes\n");
  if (!unlimited.empty())
    absl::StrAppend(&remarks, "no limits on ", NamesText(unlimited, nodes), ": no control group ",
                    "limits what jobs take there of memory, processes and processors\n");
  return remarks;
}

}  // namespace

std::string NodeRemarks(const proto::ListNodesReply& nodes) {
  std::string remarks = IsolationRemarks(nodes);
  std::map<std::string, Names> keep;  // By the jobs: each node may have copies of the same ones.
  for (const proto::Node& node : nodes.nodes())
    if (!node.unknown_jobs().empty())
      keep[absl::StrJoin(node.unknown_jobs(), ", ")].push_back(node.spec().name());
  for (const auto& [jobs, where] : keep)
    absl::StrAppend(&remarks, NamesText(where, nodes), where.size() == 1 ? " keeps" : " keep",
                    " checkpoints of jobs that the journal has lost: ", jobs,
                    " (see \"The state of the coordinator\" in docs/network.md)\n");
  return remarks;
}

}  // namespace bspnow::client
