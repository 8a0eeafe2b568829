#include "proto/grpc_status.h"

#include <gtest/gtest.h>

#include <string>

namespace bspnow {
namespace {

TEST(GrpcStatusTest, SaysWhatGrpcHasNoWordsFor) {
  const absl::Status older = WithOwnWords(absl::UnimplementedError(""));
  EXPECT_NE(older.message().find("older version"), std::string::npos);
  const absl::Status other =
      WithOwnWords(absl::UnimplementedError("Received http2 header with status: 404"));
  EXPECT_TRUE(absl::IsUnimplemented(other));
  EXPECT_NE(other.message().find("no daemon of bspnow"), std::string::npos);
  EXPECT_NE(other.message().find("404"), std::string::npos);
  const absl::Status own = absl::NotFoundError("job 7 is not known");
  EXPECT_EQ(WithOwnWords(own), own);
}

}  // namespace
}  // namespace bspnow
