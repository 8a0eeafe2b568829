#include "client/options/check_option.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>
#include <stdlib.h>

namespace bspnow::client {
namespace {

constexpr char kCheck[] = "BSP_CHECK";

}  // namespace

absl::StatusOr<Checks> ChecksOf(const std::vector<std::string>& environment) {
  const char* inherited = getenv(kCheck);
  std::string words = inherited == nullptr ? "" : inherited;
  for (const std::string& variable : environment) {
    const std::size_t equals = variable.find('=');
    if (variable.substr(0, equals) == kCheck) words = variable.substr(equals + 1);
  }
  Checks checks;
  if (words.empty()) return checks;
  for (const absl::string_view word : absl::StrSplit(words, ',')) {
    checks.full |= word == "full";
    checks.textual |= word == "textual";
    if (word == "full" || word == "textual") continue;
    return absl::InvalidArgumentError(absl::StrCat(kCheck, "=", words, " checks nothing; write ",
                                                   kCheck,
                                                   "=full, textual or full,textual, or leave it"
                                                   " out"));
  }
  return checks;
}

}  // namespace bspnow::client
