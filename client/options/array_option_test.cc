#include "client/options/array_option.h"

#include <gtest/gtest.h>

#include <tuple>

namespace bspnow::client {
namespace {

using Parts = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t>;

Parts Parsed(const std::string& text) {
  const absl::StatusOr<proto::ArraySpec> array = ParseArrayOption(text);
  EXPECT_TRUE(array.ok()) << array.status();
  if (!array.ok()) return {};
  return {array->first(), array->last(), array->step(), array->at_once()};
}

TEST(ParseArrayOptionTest, TakesRangesStepsAndLimits) {
  EXPECT_EQ(Parsed("1-100"), Parts(1, 100, 1, 0));
  EXPECT_EQ(Parsed("0-9:3"), Parts(0, 9, 3, 0));
  EXPECT_EQ(Parsed("1-100%4"), Parts(1, 100, 1, 4));
  EXPECT_EQ(Parsed("5-5:2%1"), Parts(5, 5, 2, 1));
}

TEST(ParseArrayOptionTest, RefusesWhatIsNoRange) {
  for (const char* text : {"", "5", "1,2", "2-1", "-1", "1-", "1-2:0", "1-2%0", "1-2%4:2", "a-b",
                           "1-2:", "1-2%", "1-99999999999", "1-2-3", "1-+2", " 1-2"})
    EXPECT_FALSE(ParseArrayOption(text).ok()) << text;
}

}  // namespace
}  // namespace bspnow::client
