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
}

}  // namespace
}  // namespace bspnow::client
