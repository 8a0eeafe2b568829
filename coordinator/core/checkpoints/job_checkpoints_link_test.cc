// A node takes the images of one link version, so those of a checkpoint are all of one.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/link_feature.h"
#include "coordinator/core/checkpoints/job_checkpoints.h"

namespace bspnow::coordinator {
namespace {

const LiveNodes kBoth = {{"a", ""}, {"b", ""}};

JobCheckpoints::Stored StoredBy(std::uint32_t pid, std::vector<std::string> features) {
  return {.number = 1,
          .superstep = Superstep{800},
          .participants = 2,
          .of_areas = false,
          .images = {{.pid = Pid{pid}, .file_bytes = 1000, .output_bytes = 0, .error_bytes = 0}},
          .cpu_features = std::move(features),
          .cost = {.pause_ns = 100, .background_ns = 10}};
}

CheckpointOrders Take(std::vector<std::string> of_a, std::vector<std::string> of_b) {
  JobCheckpoints job({.copies = 1, .term = 1});
  EXPECT_TRUE(job.Ask({"a", "b"}, Hold::kNo, {}).has_value());
  EXPECT_FALSE(job.OnStored("a", StoredBy(0, std::move(of_a)), kBoth).end.has_value());
  return job.OnStored("b", StoredBy(1, std::move(of_b)), kBoth);
}

TEST(JobCheckpointsLinkTest, ImagesOfTwoLinkVersionsAreGivenUp) {
  const CheckpointOrders orders = Take({"avx2", LinkFeature(21)}, {LinkFeature(22)});
  EXPECT_TRUE(orders.copies.empty());
  ASSERT_TRUE(orders.end.has_value());
  EXPECT_EQ(orders.end->failure,
            "node b has link version 22, others link version 21: no node could go on with the "
            "images of both");
}

TEST(JobCheckpointsLinkTest, OtherFeaturesMayDiffer) {
  const CheckpointOrders orders = Take({"avx2", LinkFeature(22)}, {LinkFeature(22), "sse2"});
  EXPECT_FALSE(orders.end.has_value());
  EXPECT_EQ(orders.copies.size(), 2u);
}

TEST(JobCheckpointsLinkTest, OnesThatNameNoneGoWithAny) {
  EXPECT_FALSE(Take({"avx2"}, {LinkFeature(22)}).end.has_value());
  EXPECT_FALSE(Take({LinkFeature(22)}, {"avx2"}).end.has_value());
}

}  // namespace
}  // namespace bspnow::coordinator
