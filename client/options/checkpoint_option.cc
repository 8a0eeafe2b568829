#include "client/options/checkpoint_option.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include "files/duration.h"
#include "files/whole_number.h"

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

}  // namespace

absl::StatusOr<CheckpointOption> ParseCheckpointOption(const std::string& text) {
  using Kind = CheckpointOption::Kind;
  if (text == "auto") return CheckpointOption{.kind = Kind::kAuto};
  if (text == "off") return CheckpointOption{.kind = Kind::kOff};
  if (!absl::StartsWith(text, kEvery)) return NoPolicy(text);
  const std::string value = text.substr(sizeof(kEvery) - 1);
  const std::uint64_t number = files::ParseWholeNumber(value, kNumberMax).value_or(0);
  if (number != 0) return CheckpointOption{.kind = Kind::kSupersteps, .every = number};
  const auto ms = files::ParseDurationMs(value, files::PlainNumber::kRefused).value_or(0);
  if (ms == 0) return NoPolicy(text);
  return CheckpointOption{.kind = Kind::kTime, .every = ms};
}

}  // namespace bspnow::client
