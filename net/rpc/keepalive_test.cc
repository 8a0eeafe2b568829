#include "net/rpc/keepalive.h"

#include <grpcpp/support/channel_arguments.h>  // tidy: the test looks at what was set there.
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace bspnow {
namespace {

TEST(KeepaliveTest, PingsWithoutEndWhenNothingElseIsSent) {
  grpc::ChannelArguments arguments;
  SetKeepalive({.time_ms = 7'000, .timeout_ms = 3'000}, arguments);
  std::map<std::string, int> set;
  const grpc_channel_args all = arguments.c_channel_args();
  for (std::size_t i = 0; i < all.num_args; ++i)
    if (all.args[i].type == GRPC_ARG_INTEGER) set[all.args[i].key] = all.args[i].value.integer;
  EXPECT_EQ(set[GRPC_ARG_KEEPALIVE_TIME_MS], 7'000);
  EXPECT_EQ(set[GRPC_ARG_KEEPALIVE_TIMEOUT_MS], 3'000);
  ASSERT_TRUE(set.contains(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA));
  EXPECT_EQ(set[GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA], 0);  // No limit.
}

}  // namespace
}  // namespace bspnow
