#include "client/view/open_line.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace bspnow::client {
namespace {

std::string Joined(const std::vector<std::pair<int, std::string>>& pieces) {
  OpenLine line;
  std::string all;
  for (const auto& [source, text] : pieces) {
    if (line.Next(source, text)) all += '\n';
    all += text;
  }
  return all;
}

TEST(OpenLineTest, LineOfAnotherSourceIsEndedFirst) {
  EXPECT_EQ(Joined({{0, "one"}, {1, "two"}, {0, "three\n"}, {1, "four\n"}}),
            "one\ntwo\nthree\nfour\n");
}

TEST(OpenLineTest, LineGoesOnInTheNextPieceOfItsSource) {
  EXPECT_EQ(Joined({{0, "one "}, {1, ""}, {0, "line\n"}, {1, "another"}}), "one line\nanother");
}

TEST(OpenLineTest, NamesWhoseLineWasBrokenOff) {
  OpenLine line;
  EXPECT_EQ(line.Next(3, "begun"), std::nullopt);
  EXPECT_EQ(line.Next(-2, "said\n"), 3);
  EXPECT_EQ(line.Next(3, "\n"), std::nullopt);
}

}  // namespace
}  // namespace bspnow::client
