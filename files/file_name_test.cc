#include "files/file_name.h"

#include <gtest/gtest.h>

#include <string>

namespace bspnow::files {
namespace {

TEST(FileNameTest, TakesPathsThatLeadDown) {
  for (const char* name : {"a", "a.txt", "a/b", "a/b.txt", "a/..b/c...", "..a/b..", ".hidden"})
    EXPECT_TRUE(CheckFileName(name).ok()) << name;
}

TEST(FileNameTest, RefusesPathsThatLeaveTheDirectory) {
  for (const char* name : {"", "/", "/a", "/etc", "..", "../a", "a/../../b", "a/../b", "a/..", ".",
                           "./a", "a//b", "a/"})
    EXPECT_FALSE(CheckFileName(name).ok()) << name;
  EXPECT_FALSE(CheckFileName(std::string("a\0b", 3)).ok());
}

TEST(FileNameTest, RefusesWhatIsTooLongForAFileSystem) {
  const std::string part(kNamePartBytesMax, 'a');
  std::string name = part + "/" + part;
  EXPECT_TRUE(CheckFileName(name).ok());
  EXPECT_FALSE(CheckFileName("b/" + part + "a").ok());
  while (name.size() <= kFileNameBytesMax) name += "/" + part;
  EXPECT_FALSE(CheckFileName(name).ok());
}

}  // namespace
}  // namespace bspnow::files
