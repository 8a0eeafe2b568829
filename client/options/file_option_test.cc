#include "client/options/file_option.h"

#include <gtest/gtest.h>

namespace bspnow::client {
namespace {

FileOption Parsed(const std::string& text) {
  absl::StatusOr<FileOption> option = ParseFileOption(text);
  EXPECT_TRUE(option.ok()) << option.status();
  return option.ok() ? *option : FileOption{};
}

TEST(ParseFileOptionTest, KeepsARelativePathAsTheName) {
  EXPECT_EQ(Parsed("edges.txt").name, "edges.txt");
  EXPECT_EQ(Parsed("data/edges.txt").name, "data/edges.txt");
  EXPECT_EQ(Parsed("data/edges.txt").path, "data/edges.txt");
}

TEST(ParseFileOptionTest, TakesTheLastComponentOfOtherPaths) {
  EXPECT_EQ(Parsed("/home/me/edges.txt").name, "edges.txt");
  EXPECT_EQ(Parsed("../edges.txt").name, "edges.txt");
  EXPECT_EQ(Parsed("../edges.txt").path, "../edges.txt");
}

TEST(ParseFileOptionTest, LetsTheUserChooseTheName) {
  EXPECT_EQ(Parsed("in/graph=/data/edges.txt").name, "in/graph");
  EXPECT_EQ(Parsed("in/graph=/data/a=b").path, "/data/a=b");
}

TEST(ParseFileOptionTest, RefusesNamesOutsideTheDirectory) {
  for (const char* text :
       {"", "=x", "name=", "/abs=x", "../up=x", "a/../../b=x", "dir/", "/", ".."}) {
    EXPECT_FALSE(ParseFileOption(text).ok()) << text;
  }
}

}  // namespace
}  // namespace bspnow::client
