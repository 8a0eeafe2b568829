#include "worker/checkpoint/image_name.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace bspnow::worker {
namespace {

constexpr std::string_view kTextPrefix = "text-";
constexpr std::size_t kTextDigits = 32;

/// Takes a number from the front of `text`, if its spelling is the one that this program writes.
template <typename Number>
std::optional<Number> TakeNumber(std::string_view& text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || (text[0] == '0' && end != text.data() + 1)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool IsDigits(std::string_view text) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return std::all_of(text.begin(), text.end(), is_digit);
}

/// Takes the name of a finished file from the front of `text`.
std::optional<StoredName> TakeName(std::string_view& text) {
  StoredName name{.kind = StoredName::Kind::kText};
  if (TakePrefix(text, kTextPrefix)) {
    if (text.size() < kTextDigits || !IsDigits(text.substr(0, kTextDigits))) return std::nullopt;
    text.remove_prefix(kTextDigits);
    return name;
  }
  if (!TakePrefix(text, "c")) return std::nullopt;
  const auto checkpoint = TakeNumber<std::uint64_t>(text);
  name.kind = TakePrefix(text, ".files") ? StoredName::Kind::kFiles : StoredName::Kind::kImage;
  if (!checkpoint || !TakePrefix(text, ".p")) return std::nullopt;
  const auto pid = TakeNumber<std::uint32_t>(text);
  if (!pid) return std::nullopt;
  name.checkpoint = *checkpoint;
  name.pid = *pid;
  return name;
}

}  // namespace

std::optional<StoredName> ParseStoredName(std::string_view name) {
  const auto parsed = TakeName(name);
  return name.empty() ? parsed : std::nullopt;
}

std::optional<StoredName> ParseUnfinishedName(std::string_view name) {
  const auto parsed = TakeName(name);
  const bool received = TakePrefix(name, kBeingReceived);
  return received || name == kBeingWritten ? parsed : std::nullopt;
}

std::string FilesName(std::uint64_t checkpoint, std::uint32_t pid) {
  return absl::StrCat("c", checkpoint, ".files.p", pid);
}

}  // namespace bspnow::worker
