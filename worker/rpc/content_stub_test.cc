#include "worker/rpc/content_stub.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/units.h"

namespace bspnow::worker {
namespace {

// A thread that asked again for a minute would be one that clears no other job away.
TEST(ContentStubTest, AProfileIsOfferedOnce) {
  ContentStub stub({.address = "127.0.0.1:9", .login = {}, .credentials = RpcCredentials::Plain()});
  const std::uint64_t begin_ns = NowNs();
  const absl::Status stored = stub.StoreProfile(JobId{1}, 0, "profile");
  EXPECT_EQ(stored.code(), absl::StatusCode::kUnavailable) << stored;
  EXPECT_LT(NowNs() - begin_ns, 10 * kNsPerS);
}

}  // namespace
}  // namespace bspnow::worker
