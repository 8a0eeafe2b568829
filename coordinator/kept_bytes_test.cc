#include "coordinator/kept_bytes.h"

#include <gtest/gtest.h>

#include <string>

namespace bspnow::coordinator {
namespace {

TEST(KeptBytesTest, WhatComesCountsFromItsAnnouncementOn) {
  KeptBytes kept(10);
  EXPECT_TRUE(kept.Reserve("anna", 6).ok());
  EXPECT_FALSE(kept.Reserve("anna", 5).ok());
  EXPECT_TRUE(kept.Reserve("bob", 10).ok());
  kept.GiveBack("anna", 6);
  EXPECT_TRUE(kept.Reserve("anna", 5).ok());
  kept.Stored("anna", 5);
  EXPECT_TRUE(kept.Reserve("anna", 5).ok());
  EXPECT_FALSE(kept.Reserve("anna", 1).ok());
}

TEST(KeptBytesTest, EmptyFilesComeBesideOthers) {
  KeptBytes kept(10);
  ASSERT_TRUE(kept.Reserve("anna", 6).ok());
  ASSERT_TRUE(kept.Reserve("anna", 0).ok());
  kept.Stored("anna", 6);
  kept.GiveBack("anna", 0);
  EXPECT_TRUE(kept.Reserve("anna", 4).ok());
  EXPECT_FALSE(kept.Reserve("anna", 1).ok());
}

TEST(KeptBytesTest, WhoHasNoRoomIsToldWhy) {
  KeptBytes kept(10);
  EXPECT_TRUE(kept.Check("anna").ok());
  kept.SetStored({{"anna", 12}});
  EXPECT_EQ(kept.Check("anna").message(),
            "programs, output and files of user anna take 12 bytes here, and may take 10 "
            "(--user-bytes of the coordinator); those of jobs that ended go after an hour, "
            "programs that no job needs after a day");
  EXPECT_TRUE(kept.Check("bob").ok());
  EXPECT_FALSE(kept.Reserve("anna", 0).ok());
  EXPECT_EQ(
      std::string(kept.Reserve("bob", 11).message())
          .find("programs, output and files of user bob take 0 bytes here, would take 11 more, and "
                "may take 10 "),
      0u);
}

TEST(KeptBytesTest, ACountLeavesOutWhatIsStillOnItsWay) {
  KeptBytes kept(10);
  ASSERT_TRUE(kept.Reserve("anna", 6).ok());
  kept.SetStored({{"anna", 3}});
  EXPECT_TRUE(kept.Reserve("anna", 1).ok());
  EXPECT_FALSE(kept.Reserve("anna", 1).ok());
}

TEST(KeptBytesTest, WithoutALimitThereIsRoomForAll) {
  KeptBytes kept(0);
  kept.SetStored({{"anna", ~std::uint64_t{0} / 2}});
  EXPECT_TRUE(kept.Check("anna").ok());
  EXPECT_TRUE(kept.Reserve("anna", ~std::uint64_t{0} / 2).ok());
}

}  // namespace
}  // namespace bspnow::coordinator
