#include "worker/checkpoint/image_name.h"

#include <gtest/gtest.h>

#include <string>

namespace bspnow::worker {
namespace {

const std::string kText = "text-0123456789abcdef0123456789abcdef";

TEST(ImageNameTest, ReadsTheThreeKinds) {
  const auto image = ParseStoredName("c12.p3");
  ASSERT_TRUE(image.has_value());
  EXPECT_EQ(image->kind, StoredName::Kind::kImage);
  EXPECT_EQ(image->checkpoint, 12u);
  EXPECT_EQ(image->pid, 3u);
  const auto files = ParseStoredName(FilesName(7, 0));
  ASSERT_TRUE(files.has_value());
  EXPECT_EQ(files->kind, StoredName::Kind::kFiles);
  EXPECT_EQ(files->checkpoint, 7u);
  ASSERT_TRUE(ParseStoredName(kText).has_value());
  EXPECT_EQ(ParseStoredName(kText)->kind, StoredName::Kind::kText);
}

TEST(ImageNameTest, TakesNothingElse) {
  for (const char* name : {"",
                           "c",
                           "c1",
                           "c1.p",
                           "c.p1",
                           "c1.p1 ",
                           " c1.p1",
                           "c1.p1/",
                           "../c1.p1",
                           "c1.p1/../../x",
                           "c-1.p1",
                           "c+1.p1",
                           "c01.p1",
                           "c1.p01",
                           "c1.p1.new",
                           "c1.p1.in5",
                           "c1.p4294967296",
                           "c18446744073709551616.p1",
                           "c1.files",
                           "c1.files.p",
                           "c1.file.p1",
                           "text-",
                           "text-0",
                           "text-0123456789ABCDEF0123456789abcdef",
                           "text-0123456789abcdef0123456789abcdef0",
                           "text-../456789abcdef0123456789abcde/",
                           ".",
                           ".."})
    EXPECT_FALSE(ParseStoredName(name).has_value()) << name;
  EXPECT_FALSE(ParseStoredName(std::string("c1.p1\0", 6)).has_value());
}

TEST(ImageNameTest, UnfinishedFilesAreThoseBeingWrittenOrReceived) {
  EXPECT_EQ(ParseUnfinishedName("c12.p3.new")->checkpoint, 12u);
  EXPECT_EQ(ParseUnfinishedName("c12.files.p3.inA5_x")->checkpoint, 12u);
  EXPECT_TRUE(ParseUnfinishedName(kText + ".new").has_value());
  EXPECT_FALSE(ParseUnfinishedName("c12.p3").has_value());
  EXPECT_FALSE(ParseUnfinishedName("c12.p3.newer").has_value());
  EXPECT_FALSE(ParseUnfinishedName("notes.new").has_value());
}

}  // namespace
}  // namespace bspnow::worker
