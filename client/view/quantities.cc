#include "client/view/quantities.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <ctype.h>
#include <time.h>

#include <array>
#include <string_view>

#include "files/duration.h"
#include "files/whole_number.h"

namespace bspnow::client {
namespace {

constexpr std::uint64_t kMsPerSecond = 1000;
constexpr std::uint64_t kMinute = 60;
constexpr std::uint64_t kHour = 60 * kMinute;
constexpr std::uint64_t kDay = 24 * kHour;
constexpr std::string_view kMemoryUnits = "KMGT";
constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 62;

absl::Status NoTime(const std::string& text) {
  return absl::InvalidArgumentError(absl::StrCat(
      text, " is no time; write minutes, or as in 90s, 10m, 1:30:00 (hours) or 2-12 (days-hours)"));
}

absl::Status NoSize(const std::string& text) {
  return absl::InvalidArgumentError(
      absl::StrCat(text, " is no size; write a number and K, M, G or T, as in 4G, or one of MiB"));
}

// A value in the largest of four units of which it holds one; each is `factor` of the one before.
std::string Scaled(double value, const std::array<const char*, 4>& units, double factor) {
  std::size_t unit = 0;
  while (value >= factor - 0.5 && unit + 1 < units.size()) {
    value /= factor;
    ++unit;
  }
  const int decimals = unit == 0 || value >= 99.95 ? 0 : 1;
  return absl::StrFormat("%.*f %s", decimals, value, units[unit]);
}

}  // namespace

absl::StatusOr<std::uint64_t> ParseTimeLimit(const std::string& text) {
  const auto ms = files::ParseDurationMs(text, files::PlainNumber::kMinutes);
  if (!ms) return NoTime(text);
  return (*ms + kMsPerSecond - 1) / kMsPerSecond;
}

absl::StatusOr<std::uint64_t> ParseMemory(const std::string& text) {
  std::string number = text;
  std::uint64_t shift = 20;
  if (number.size() > 1 && (number.back() == 'B' || number.back() == 'b')) {
    number.pop_back();
    shift = 0;
  }
  const std::size_t unit = number.empty()
                               ? std::string::npos
                               : kMemoryUnits.find(static_cast<char>(toupper(number.back())));
  if (unit != std::string::npos) {
    shift = 10 * (unit + 1);
    number.pop_back();
  }
  const auto value = files::ParseWholeNumber(number, kBytesMax >> shift);
  if (!value) return NoSize(text);
  return *value << shift;
}

std::string DurationText(std::int64_t seconds) {
  if (seconds < 0) seconds = 0;
  const auto whole = static_cast<std::uint64_t>(seconds);
  const std::uint64_t days = whole / kDay;
  const std::uint64_t hours = whole % kDay / kHour;
  const std::uint64_t minutes = whole % kHour / kMinute;
  const std::uint64_t rest = whole % kMinute;
  if (days > 0) return absl::StrFormat("%d-%02d:%02d:%02d", days, hours, minutes, rest);
  if (hours > 0) return absl::StrFormat("%d:%02d:%02d", hours, minutes, rest);
  return absl::StrFormat("%d:%02d", minutes, rest);
}

std::string MemoryOptionText(std::uint64_t bytes) {
  std::size_t unit = 0;
  while (unit < kMemoryUnits.size() && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  const std::string number = absl::StrCat(bytes);
  return unit == 0 ? number + " B" : number + kMemoryUnits[unit - 1];
}

std::string BytesText(double bytes) { return Scaled(bytes, {"B", "kB", "MB", "GB"}, 1000); }

std::string MemoryText(double bytes) { return Scaled(bytes, {"B", "KiB", "MiB", "GiB"}, 1024); }

std::string NsText(double ns) { return Scaled(ns, {"ns", "us", "ms", "s"}, 1000); }

std::string LocalTimeText(std::int64_t unix_ms) {
  const auto seconds = static_cast<time_t>(unix_ms / 1000);
  tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> text{};
  strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return text.data();
}

}  // namespace bspnow::client
