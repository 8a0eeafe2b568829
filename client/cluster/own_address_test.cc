#include "client/cluster/own_address.h"

#include <gtest/gtest.h>

namespace bspnow::client {
namespace {

TEST(OwnAddressTest, LoopbackIsThisMachine) { EXPECT_TRUE(IsThisMachine("127.0.0.1")); }

TEST(OwnAddressTest, AnAddressForDocumentationIsNot) {
  EXPECT_FALSE(IsThisMachine("192.0.2.1"));
  EXPECT_FALSE(IsThisMachine("nobody.invalid"));
}

}  // namespace
}  // namespace bspnow::client
