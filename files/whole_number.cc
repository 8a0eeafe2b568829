#include "files/whole_number.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <cstdint>
#include <string>

namespace bspnow::files {

CLI::Validator AsWholeNumber(Sign sign) {
  const auto convert = [sign](std::string& text) -> std::string {
    const bool is_minus = sign == Sign::kMayBeMinus && text.starts_with('-');
    const std::string digits = text.substr(is_minus ? 1 : 0);
    std::uint64_t number = 0;
    if (digits.find_first_not_of("0123456789") != std::string::npos ||
        !absl::SimpleAtoi(digits, &number))
      return absl::StrCat(text, " is no ", sign == Sign::kNone ? "whole " : "", "number");
    text = absl::StrCat(is_minus ? "-" : "", number);
    return {};
  };
  return CLI::Validator(convert, "");
}

}  // namespace bspnow::files
