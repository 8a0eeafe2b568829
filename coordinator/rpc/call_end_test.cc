#include "coordinator/rpc/call_end.h"

#include <gtest/gtest.h>

namespace bspnow::coordinator {
namespace {

TEST(CallEndTest, FinishesAtOnceWhenNobodyHoldsTheCall) {
  CallEnd end;
  EXPECT_TRUE(end.End(absl::CancelledError("left")));
  EXPECT_EQ(end.status().code(), absl::StatusCode::kCancelled);
}

TEST(CallEndTest, FinishesOnceAndWithTheFirstStatus) {
  CallEnd end;
  EXPECT_TRUE(end.End(absl::OkStatus()));
  EXPECT_FALSE(end.End(absl::CancelledError("left")));
  EXPECT_TRUE(end.status().ok());
}

TEST(CallEndTest, LastWhoHoldsTheCallFinishesIt) {
  CallEnd end;
  ASSERT_TRUE(end.Pin());
  ASSERT_TRUE(end.Pin());
  EXPECT_FALSE(end.End(absl::OkStatus()));
  EXPECT_FALSE(end.Unpin());
  EXPECT_TRUE(end.Unpin());
}

TEST(CallEndTest, NobodyMayAskForMoreAfterTheEnd) {
  CallEnd end;
  ASSERT_TRUE(end.Pin());
  EXPECT_FALSE(end.End(absl::OkStatus()));
  EXPECT_FALSE(end.Pin());
}

}  // namespace
}  // namespace bspnow::coordinator
