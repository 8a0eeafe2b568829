#include "worker/checkpoint/images_token.h"

#include <gtest/gtest.h>

#include <string>

namespace bspnow::worker {
namespace {

StreamKey KeyOf(char byte) { return *StreamKey::FromBytes(std::string(StreamKey::kBytes, byte)); }

TEST(ImagesTokenTest, OpensWithTheSameKey) {
  ImagesToken here, there;
  here.Set(KeyOf('k'));
  there.Set(KeyOf('k'));
  EXPECT_TRUE(here.Opens(there.authorization()));
  EXPECT_EQ(here.authorization().substr(0, 7), "Bearer ");
  EXPECT_EQ(here.authorization().size(), 7u + 64);
}

TEST(ImagesTokenTest, DoesNotOpenWithAnother) {
  ImagesToken here, there;
  here.Set(KeyOf('k'));
  there.Set(KeyOf('o'));
  EXPECT_FALSE(here.Opens(there.authorization()));
  EXPECT_FALSE(here.Opens(""));
  EXPECT_FALSE(here.Opens("Bearer "));
  EXPECT_FALSE(here.Opens(here.authorization() + "0"));
  here.Set(KeyOf('o'));
  EXPECT_TRUE(here.Opens(there.authorization()));
}

// Else it would be open until its worker has registered.
TEST(ImagesTokenTest, WithoutAKeyNothingOpens) {
  const ImagesToken unregistered;
  EXPECT_EQ(unregistered.authorization(), "");
  EXPECT_FALSE(unregistered.Opens(""));
  ImagesToken lost;
  lost.Set(KeyOf('k'));
  lost.Set(StreamKey());
  EXPECT_FALSE(lost.Opens(""));
}

}  // namespace
}  // namespace bspnow::worker
