#include "client/view/node_remarks.h"

#include <gtest/gtest.h>

namespace bspnow::client {
namespace {

TEST(NodeRemarksTest, NameJobsThatTheJournalHasLost) {
  proto::ListNodesReply nodes;
  nodes.add_nodes()->mutable_spec()->set_name("w1");
  EXPECT_EQ(NodeRemarks(nodes), "");
  nodes.mutable_nodes(0)->add_unknown_jobs(7);
  nodes.mutable_nodes(0)->add_unknown_jobs(9);
  EXPECT_NE(NodeRemarks(nodes).find("w1 keeps checkpoints of jobs that the journal has lost: 7, 9"),
            std::string::npos);
  *nodes.add_nodes() = nodes.nodes(0);
  nodes.mutable_nodes(1)->mutable_spec()->set_name("w2");
  nodes.add_nodes()->mutable_spec()->set_name("w3");
  const std::string remarks = NodeRemarks(nodes);
  EXPECT_TRUE(
      remarks.starts_with("w1, w2 keep checkpoints of jobs that the journal has lost: 7, 9 (see"))
      << remarks;
  EXPECT_EQ(remarks.find('\n'), remarks.size() - 1);
}

TEST(NodeRemarksTest, NameNodesWhereJobsAreNotKeptApart) {
  proto::ListNodesReply nodes;
  const auto add = [&nodes](const char* name, const char* accounts, const char* limits) {
    proto::NodeSpec& spec = *nodes.add_nodes()->mutable_spec();
    spec.set_name(name);
    spec.set_accounts(accounts);
    spec.set_limits(limits);
  };
  add("w1", "pool:a,b", "memory, processes, processors");
  add("w2", "own", "processes");
  EXPECT_EQ(NodeRemarks(nodes), "");
  add("w3", "own:everybody", "none");
  add("w4", "own:everybody", "memory");
  add("w5", "fixed:nobody", "memory");
  const std::string remarks = NodeRemarks(nodes);
  for (const char* begin :
       {"own:everybody on w3, w4: the", "fixed:nobody on w5: the", "no limits on w3: no"})
    EXPECT_NE(remarks.find(begin), std::string::npos) << remarks;
  nodes.mutable_nodes()->DeleteSubrange(0, 2);
  for (proto::Node& node : *nodes.mutable_nodes()) node.mutable_spec()->set_limits("none");
  EXPECT_NE(NodeRemarks(nodes).find("no limits on all nodes: no"), std::string::npos);
}

}  // namespace
}  // namespace bspnow::client
