#include "files/duration.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "files/whole_number.h"

namespace bspnow::files {
namespace {

constexpr std::uint64_t kSecondMs = 1'000;
constexpr std::uint64_t kMinuteMs = 60 * kSecondMs;
constexpr std::uint64_t kHourMs = 60 * kMinuteMs;
constexpr std::uint64_t kDayMs = 24 * kHourMs;
constexpr std::uint64_t kNumberMax = 1'000'000'000;
constexpr std::uint64_t kMostMs = 36'500 * kDayMs;  // A hundred years, which are some nanoseconds.
constexpr double kPlainNumberMax = 1e11;            // Of milliseconds that is three years.
static_assert(4 * kNumberMax <= UINT64_MAX / kDayMs, "a sum of four products overflows");

// 0 if there is no such unit.
std::uint64_t UnitMs(const std::string& unit) {
  static const std::map<std::string, std::uint64_t> kUnits = {
      {"ms", 1},          {"s", kSecondMs}, {"sec", kSecondMs}, {"m", kMinuteMs},
      {"min", kMinuteMs}, {"h", kHourMs},   {"d", kDayMs}};
  const auto found = kUnits.find(absl::AsciiStrToLower(unit));
  return found == kUnits.end() ? 0 : found->second;
}

// Numbers that colons separate, the first of which counts `unit_ms`, the next a sixtieth of that.
std::optional<std::uint64_t> ParseColons(const std::string& text, std::uint64_t unit_ms) {
  std::uint64_t sum_ms = 0;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, ':'))) {
    const auto number = ParseWholeNumber(part, kNumberMax);
    if (unit_ms < kSecondMs || !number) return std::nullopt;
    sum_ms += *number * unit_ms;
    unit_ms /= 60;
  }
  return sum_ms;
}

std::optional<std::uint64_t> ParseWithUnit(const std::string& text, PlainNumber plain) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string unit(absl::StripAsciiWhitespace(text.substr(end)));
  const std::uint64_t unit_ms = unit.empty() ? static_cast<std::uint64_t>(plain) : UnitMs(unit);
  double number = 0;
  const bool is_number = end > 0 && absl::SimpleAtod(text.substr(0, end), &number);
  if (unit_ms == 0 || !is_number || number > kPlainNumberMax) return std::nullopt;
  const auto ms = static_cast<std::uint64_t>(std::round(number * static_cast<double>(unit_ms)));
  // What is more than nothing stays so: for some options 0 is another word for never.
  return ms == 0 && number > 0 ? 1 : ms;
}

}  // namespace

std::optional<std::uint64_t> ParseDurationMs(const std::string& text, PlainNumber plain) {
  if (const std::size_t dash = text.find('-'); dash != std::string::npos) {
    const auto days = ParseWholeNumber(text.substr(0, dash), kNumberMax);
    const auto rest_ms = ParseColons(text.substr(dash + 1), kHourMs);
    if (!rest_ms || !days) return std::nullopt;
    return *days * kDayMs + *rest_ms;
  }
  const auto colons = std::count(text.begin(), text.end(), ':');
  if (colons > 0) return ParseColons(text, colons == 1 ? kMinuteMs : kHourMs);
  return ParseWithUnit(text, plain);
}

CLI::Validator AsMilliseconds(PlainNumber plain, std::uint64_t least_ms) {
  const auto convert = [plain, least_ms](std::string& text) -> std::string {
    const std::optional<std::uint64_t> ms = ParseDurationMs(text, plain);
    if (!ms)
      return absl::StrCat(text, " is no time; write it as in 500ms, 90s, 10m, 2h, 7d or 1:30:00",
                          plain == PlainNumber::kSeconds ? "; a number alone is seconds" : "");
    if (*ms < least_ms) return absl::StrCat(text, " is less than ", least_ms, " ms");
    if (*ms > kMostMs) return absl::StrCat(text, " is more than a hundred years");
    text = absl::StrCat(*ms);
    return {};
  };
  return CLI::Validator(convert, "");
}

}  // namespace bspnow::files
