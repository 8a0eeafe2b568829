#include "coordinator/core/checkpoints/checkpoint_catalogue.h"

#include <gtest/gtest.h>

namespace bspnow::coordinator {
namespace {

CheckpointCatalogue Example() {
  Checkpoint first{.number = 3, .base = 0, .superstep = Superstep{700}, .participants = 3};
  first.parts = {
      {.host = "w1",
       .images = {{.pid = Pid{0}, .file_bytes = 10, .output_bytes = 5, .error_bytes = 1},
                  {.pid = Pid{1}, .file_bytes = 20, .output_bytes = 0, .error_bytes = 0}},
       .holders = {"w1", "w2"},
       .share = "",
       .former = {"w3"}},
      {.host = "w2",
       .images = {{.pid = Pid{2}, .file_bytes = 7, .output_bytes = 9, .error_bytes = 2}},
       .holders = {"w2"},
       .share = "nfs"}};
  first.left = {{.pid = Pid{3}, .output_bytes = 12, .error_bytes = 3}};
  first.cpu_features = {"avx2", "sse4_2"};
  first.cost = {.pause_ns = 11, .background_ns = 22};
  first.committed_unix_ms = 1234;
  first.totals.set_supersteps(41);
  Checkpoint second = first;
  second.number = 5;
  second.base = 3;
  second.superstep = Superstep{800};
  second.of_areas = true;
  proto::JobTotals epoch_totals;
  epoch_totals.set_supersteps(7);
  return {.last_number = 6,
          .count = 4,
          .term = 9,
          .checkpoints = {first, second},
          .history = {.given_up = 2,
                      .last_failure = "a socket",
                      .spent_ns = 33,
                      .run_ns = 44,
                      .epoch_totals = epoch_totals}};
}

TEST(CheckpointCatalogueTest, ComesBackAsItWas) {
  const CheckpointCatalogue before = Example();
  const auto after = DecodeCatalogue(EncodeCatalogue(before));
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->last_number, 6u);
  EXPECT_EQ(after->count, 4u);
  EXPECT_EQ(after->term, 9u);
  EXPECT_EQ(after->history.given_up, 2u);
  EXPECT_EQ(after->history.last_failure, "a socket");
  EXPECT_EQ(after->history.spent_ns, 33u);
  EXPECT_EQ(after->history.run_ns, 44u);
  EXPECT_EQ(after->history.epoch_totals.supersteps(), 7u);
  ASSERT_EQ(after->checkpoints.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const Checkpoint& was = before.checkpoints[i];
    const Checkpoint& is = after->checkpoints[i];
    EXPECT_EQ(is.number, was.number);
    EXPECT_EQ(is.base, was.base);
    EXPECT_EQ(is.superstep, was.superstep);
    EXPECT_EQ(is.participants, was.participants);
    EXPECT_EQ(is.of_areas, was.of_areas);
    EXPECT_EQ(is.cpu_features, was.cpu_features);
    EXPECT_EQ(is.cost.pause_ns, was.cost.pause_ns);
    EXPECT_EQ(is.cost.background_ns, was.cost.background_ns);
    EXPECT_EQ(is.committed_unix_ms, was.committed_unix_ms);
    EXPECT_EQ(is.totals.DebugString(), was.totals.DebugString());
    ASSERT_EQ(is.left.size(), 1u);
    EXPECT_EQ(is.left[0].pid, was.left[0].pid);
    EXPECT_EQ(is.left[0].output_bytes, was.left[0].output_bytes);
    EXPECT_EQ(is.left[0].error_bytes, was.left[0].error_bytes);
    ASSERT_EQ(is.parts.size(), was.parts.size());
    for (std::size_t part = 0; part < was.parts.size(); ++part) {
      EXPECT_EQ(is.parts[part].host, was.parts[part].host);
      EXPECT_EQ(is.parts[part].share, was.parts[part].share);
      EXPECT_EQ(is.parts[part].holders, was.parts[part].holders);
      EXPECT_EQ(is.parts[part].former, was.parts[part].former);
      ASSERT_EQ(is.parts[part].images.size(), was.parts[part].images.size());
      for (std::size_t image = 0; image < was.parts[part].images.size(); ++image) {
        EXPECT_EQ(is.parts[part].images[image].pid, was.parts[part].images[image].pid);
        EXPECT_EQ(is.parts[part].images[image].file_bytes,
                  was.parts[part].images[image].file_bytes);
        EXPECT_EQ(is.parts[part].images[image].output_bytes,
                  was.parts[part].images[image].output_bytes);
        EXPECT_EQ(is.parts[part].images[image].error_bytes,
                  was.parts[part].images[image].error_bytes);
      }
    }
  }
}

TEST(CheckpointCatalogueTest, NothingIsAnEmptyOne) {
  const auto decoded = DecodeCatalogue("");
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->last_number, 0u);
  EXPECT_TRUE(decoded->checkpoints.empty());
}

TEST(CheckpointCatalogueTest, DamageIsSeen) {
  EXPECT_FALSE(DecodeCatalogue("\x12\x7f").ok());  // A field that ends too early.
  CheckpointCatalogue disorder = Example();
  std::swap(disorder.checkpoints[0], disorder.checkpoints[1]);
  EXPECT_FALSE(DecodeCatalogue(EncodeCatalogue(disorder)).ok());
  CheckpointCatalogue empty_part = Example();
  empty_part.checkpoints[0].parts[0].images.clear();
  EXPECT_FALSE(DecodeCatalogue(EncodeCatalogue(empty_part)).ok());
}

}  // namespace
}  // namespace bspnow::coordinator
