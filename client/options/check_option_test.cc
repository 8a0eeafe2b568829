#include "client/options/check_option.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace bspnow::client {
namespace {

class CheckOptionTest : public testing::Test {
 protected:
  CheckOptionTest() { unsetenv("BSP_CHECK"); }
};

TEST_F(CheckOptionTest, NamesOneCheckOrSeveral) {
  EXPECT_FALSE(ChecksOf({})->full);
  EXPECT_TRUE(ChecksOf({"BSP_CHECK=full"})->full);
  EXPECT_FALSE(ChecksOf({"BSP_CHECK=full"})->textual);
  EXPECT_TRUE(ChecksOf({"BSP_CHECK=full,textual"})->textual);
  EXPECT_TRUE(ChecksOf({"BSP_CHECK=full,textual"})->full);
}

TEST_F(CheckOptionTest, TheLastOneCounts) {
  setenv("BSP_CHECK", "nothing", 1);
  EXPECT_FALSE(ChecksOf({"BSP_CHECK=full", "BSP_CHECK=textual"})->full);
  EXPECT_TRUE(ChecksOf({"BSP_CHECK="}).ok());
}

TEST_F(CheckOptionTest, ASlipIsAnError) {
  EXPECT_FALSE(ChecksOf({"BSP_CHECK=full,"}).ok());
  EXPECT_FALSE(ChecksOf({"BSP_CHECK=1"}).ok());
  EXPECT_FALSE(ChecksOf({"BSP_CHECK=full,textural"}).ok());
}

}  // namespace
}  // namespace bspnow::client
