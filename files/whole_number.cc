#include "files/whole_number.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <cstdint>
#include <string>

namespace bspnow::files {

std::optional<std::uint64_t> ParseWholeNumber(const std::string& text, std::uint64_t most) {
  std::uint64_t number = 0;
  if (text.find_first_not_of("0123456789") != std::string::npos ||
      !absl::SimpleAtoi(text, &number) || number > most)
    return std::nullopt;
  return number;
}

CLI::Validator AsWholeNumber(Sign sign) {
  const auto convert = [sign](std::string& text) -> std::string {
    const bool is_minus = sign == Sign::kMayBeMinus && text.starts_with('-');
    const auto number = ParseWholeNumber(text.substr(is_minus ? 1 : 0), UINT64_MAX);
    if (!number)
      return absl::StrCat(text, " is no ", sign == Sign::kNone ? "whole " : "", "number");
    text = absl::StrCat(is_minus ? "-" : "", *number);
    return {};
  };
  return CLI::Validator(convert, "");
}

}  // namespace bspnow::files
