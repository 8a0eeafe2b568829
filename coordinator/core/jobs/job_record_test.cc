#include "coordinator/core/jobs/job_record.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bspnow::coordinator {
namespace {

TEST(JobRecordTest, AJobThatDoesNotSayIsRestartedThreeTimes) {
  proto::JobSpec spec;
  EXPECT_EQ(RestartsMaxOf(spec), 3);
  spec.set_restarts_max(-1);
  EXPECT_EQ(RestartsMaxOf(spec), -1);
  spec.set_restarts_max(7);
  EXPECT_EQ(RestartsMaxOf(spec), 7);
}

TEST(JobRecordTest, ClaimsWhatTheSpecAsksFor) {
  proto::JobSpec spec;
  spec.set_nprocs(4);
  spec.set_nodes(2);
  spec.set_per_node(3);
  spec.set_memory_bytes(5);
  spec.add_constraints("gpu");
  spec.set_oversubscribe(true);
  const SlotClaim claim = SlotClaimOf(spec);
  EXPECT_EQ(claim.nprocs, 4u);
  EXPECT_EQ(claim.nodes, 2u);
  EXPECT_EQ(claim.per_node, 3u);
  EXPECT_EQ(claim.memory_bytes, 5u);
  EXPECT_EQ(claim.constraints, std::vector<std::string>{"gpu"});
  EXPECT_TRUE(claim.oversubscribe);
}

TEST(JobRecordTest, EveryStateHasAText) {
  EXPECT_EQ(StateText(proto::WAITING), "waiting");
  EXPECT_EQ(StateText(proto::RECOVERING), "recovering");
  EXPECT_EQ(StateText(proto::SUSPENDED), "suspended");
}

}  // namespace
}  // namespace bspnow::coordinator
