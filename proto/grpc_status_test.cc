#include "proto/grpc_status.h"

#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <string>

namespace bspnow {
namespace {

TEST(GrpcStatusTest, KeepsCodeAndWords) {
  const absl::Status there = absl::NotFoundError("job 7 is not known");
  EXPECT_EQ(FromGrpc(ToGrpc(there)), there);
}

TEST(GrpcStatusTest, SaysWhatGrpcHasNoWordsFor) {
  const absl::Status older = FromGrpc(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, ""));
  EXPECT_NE(older.message().find("older version"), std::string::npos);
  const absl::Status other = FromGrpc(
      grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "Received http2 header with status: 404"));
  EXPECT_NE(other.message().find("no daemon of bspnow"), std::string::npos);
  EXPECT_NE(other.message().find("404"), std::string::npos);
}

}  // namespace
}  // namespace bspnow
