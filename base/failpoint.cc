#include "base/failpoint.h"

#include <absl/status/status.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

namespace bspnow {
namespace {

bool ReadNumber(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

/// Of this daemon, as it was started; a test that misspells one must not pass.
Failpoints& OfEnvironment() {
  static Failpoints failpoints = [] {
    const char* const text = getenv(kFailpointsVariable);
    std::string malformed;
    Failpoints read(text == nullptr ? "" : text, malformed);
    if (malformed.empty()) return read;
    fprintf(stderr, "%s: cannot read \"%s\"; write NAME=ACTION[@N]\n", kFailpointsVariable,
            malformed.c_str());
    exit(2);
  }();
  return failpoints;
}

}  // namespace

Failpoints::Failpoints(std::string_view text, std::string& malformed) {
  while (!text.empty()) {
    const std::string_view rule = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), rule.size() + 1));
    if (!Add(rule) && malformed.empty()) malformed = rule;
  }
}

bool Failpoints::Add(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  std::string_view action = text.substr(equals + 1);
  std::uint64_t at = 0;
  if (const std::size_t sign = action.find('@'); sign != std::string_view::npos) {
    if (!ReadNumber(action.substr(sign + 1), at) || at == 0) return false;
    action = action.substr(0, sign);
  }
  Fault fault;
  if (action == "crash") fault.action = Action::kCrash;
  if (action == "stop") fault.action = Action::kStop;
  if (action == "error") fault.action = Action::kError;
  if (action == "enospc") fault.action = Action::kFull;
  constexpr std::string_view kSleepPrefix = "sleep:";
  if (action.starts_with(kSleepPrefix)) {
    if (!ReadNumber(action.substr(kSleepPrefix.size()), fault.sleep_ms)) return false;
    fault.action = Action::kSleep;
  }
  if (fault.action == Action::kNone) return false;
  Rule& rule = rules_.emplace_back();
  rule.name = text.substr(0, equals);
  rule.fault = fault;
  rule.at = at;
  return true;
}

Failpoints::Fault Failpoints::Reach(std::string_view name) {
  Fault fault;
  for (Rule& rule : rules_) {
    if (rule.name != name) continue;
    const std::uint64_t times = rule.reached.fetch_add(1) + 1;
    if (rule.at == 0 || rule.at == times) fault = rule.fault;
  }
  return fault;
}

int Failpoint(std::string_view name) {
  Failpoints& failpoints = OfEnvironment();
  if (failpoints.empty()) return 0;
  const Failpoints::Fault fault = failpoints.Reach(name);
  switch (fault.action) {
    case Failpoints::Action::kNone:
      return 0;
    case Failpoints::Action::kCrash:
      raise(SIGKILL);
      return 0;
    case Failpoints::Action::kStop:
      raise(SIGSTOP);
      return 0;
    case Failpoints::Action::kError:
      return EIO;
    case Failpoints::Action::kFull:
      return ENOSPC;
    case Failpoints::Action::kSleep:
      poll(nullptr, 0, static_cast<int>(fault.sleep_ms));
      return 0;
  }
  return 0;
}

absl::Status FailpointStatus(std::string_view name) {
  const int error = Failpoint(name);
  if (error == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(error, "failpoint " + std::string(name));
}

}  // namespace bspnow
