#include "files/whole_number.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

namespace bspnow::files {
namespace {

template <typename Number>
std::optional<Number> Read(const std::string& text, Sign sign) {
  CLI::App app;
  Number number = 0;
  app.add_option("NUMBER", number)->transform(AsWholeNumber(sign));
  try {
    app.parse(std::vector<std::string>{text});
    return number;
  } catch (const CLI::ParseError&) {
    return std::nullopt;
  }
}

TEST(WholeNumberTest, IsDecimalWhateverItBeginsWith) {
  EXPECT_EQ(Read<std::uint32_t>("10", Sign::kNone), 10u);
  EXPECT_EQ(Read<std::uint32_t>("010", Sign::kNone), 10u);
  EXPECT_EQ(Read<std::uint32_t>("0008", Sign::kNone), 8u);
  EXPECT_EQ(Read<std::uint32_t>("0", Sign::kNone), 0u);
  EXPECT_EQ(Read<std::uint64_t>("18446744073709551615", Sign::kNone), UINT64_MAX);
  EXPECT_EQ(Read<std::int32_t>("-010", Sign::kMayBeMinus), -10);
}

TEST(WholeNumberTest, RefusesWhatHasOtherThanDigitsOrIsTooLarge) {
  for (const char* text : {"0x10", "1e3", "+1", "1.0", "x", "-1", "18446744073709551616"})
    EXPECT_EQ(Read<std::uint64_t>(text, Sign::kNone), std::nullopt) << text;
  EXPECT_EQ(Read<std::uint32_t>("4294967296", Sign::kNone), std::nullopt);
  EXPECT_EQ(Read<std::int32_t>("--1", Sign::kMayBeMinus), std::nullopt);
}

TEST(WholeNumberTest, ParseWholeNumberKnowsAMost) {
  EXPECT_EQ(ParseWholeNumber("007", 7), 7u);
  EXPECT_EQ(ParseWholeNumber("8", 7), std::nullopt);
  for (const char* text : {"", "+1", "-1", " 1", "1 ", "1e0"})
    EXPECT_EQ(ParseWholeNumber(text, UINT64_MAX), std::nullopt) << text;
}

}  // namespace
}  // namespace bspnow::files
