#include "client/options/checkpoint_option.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>

namespace bspnow::client {
namespace {

constexpr char kEvery[] = "every=";
constexpr std::uint64_t kNumberMax = 1'000'000'000;  // So that no product overflows.

absl::Status NoPolicy(const std::string& text) {
  return absl::InvalidArgumentError(
      absl::StrCat(text,
                   " is no policy; write auto, off, every=N (supersteps), or every=DURATION as in "
                   "every=500ms, every=30s, every=10m"));
}

// Milliseconds of a unit; 0 if it is none.
std::uint64_t UnitMs(const std::string& unit) {
  static const std::map<std::string, std::uint64_t> kUnits = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  const auto found = kUnits.find(unit);
  return found == kUnits.end() ? 0 : found->second;
}

}  // namespace

absl::StatusOr<CheckpointOption> ParseCheckpointOption(const std::string& text) {
  using Kind = CheckpointOption::Kind;
  if (text == "auto") return CheckpointOption{.kind = Kind::kAuto};
  if (text == "off") return CheckpointOption{.kind = Kind::kOff};
  if (!absl::StartsWith(text, kEvery)) return NoPolicy(text);
  const std::string value = text.substr(sizeof(kEvery) - 1);
  const std::size_t digits = std::min(value.find_first_not_of("0123456789"), value.size());
  const std::string unit = value.substr(digits);
  std::uint64_t number = 0;
  const bool counts = absl::SimpleAtoi(value.substr(0, digits), &number);
  if (!counts || number == 0 || number > kNumberMax) return NoPolicy(text);
  if (unit.empty()) return CheckpointOption{.kind = Kind::kSupersteps, .every = number};
  if (UnitMs(unit) == 0) return NoPolicy(text);
  return CheckpointOption{.kind = Kind::kTime, .every = number * UnitMs(unit)};
}

}  // namespace bspnow::client
