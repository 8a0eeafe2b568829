#include "client/options/array_option.h"

#include <absl/strings/str_cat.h>

#include <cstdint>
#include <optional>

#include "files/whole_number.h"

namespace bspnow::client {
namespace {

/// Takes `sign` and what is behind it off the text. False if that is no number above 0.
bool TakeNumber(std::string& text, char sign, std::optional<std::uint32_t>& number) {
  const std::size_t at = text.find(sign);
  if (at == std::string::npos) return true;
  const auto value = files::ParseWholeNumber(text.substr(at + 1), UINT32_MAX);
  if (value.value_or(0) == 0) return false;
  number = static_cast<std::uint32_t>(*value);
  text.resize(at);
  return true;
}

}  // namespace

absl::StatusOr<proto::ArraySpec> ParseArrayOption(const std::string& text) {
  std::string range = text;
  std::optional<std::uint32_t> at_once;
  std::optional<std::uint32_t> step;
  const bool numbers = TakeNumber(range, '%', at_once) && TakeNumber(range, ':', step);
  const std::size_t dash = range.find('-');
  const auto first = files::ParseWholeNumber(range.substr(0, dash), UINT32_MAX);
  const auto last = files::ParseWholeNumber(range.substr(dash + 1), UINT32_MAX);
  if (!numbers || dash == std::string::npos || !first || !last || *first > *last)
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is no range of indices; write as in 1-100, 0-9:3 (0, 3, 6, ",
                     "9) or 1-100%4 (four at a time)"));
  proto::ArraySpec array;
  array.set_first(*first);
  array.set_last(*last);
  array.set_step(step.value_or(1));
  array.set_at_once(at_once.value_or(0));
  return array;
}

}  // namespace bspnow::client
