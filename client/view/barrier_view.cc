#include "client/view/barrier_view.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

namespace bspnow::client {
namespace {

// What is news from kStopped on.
constexpr std::uint32_t kStopped = 3;
constexpr std::uint32_t kCounting = 5;  // For as long as no superstep ends.

std::string WhatItDoes(const AwaitedProcess& process) {
  if (process.lateness != kCounting) return LatenessName(process.lateness);
  return absl::StrCat("waits for ", process.messages.expected, " messages in superstep ",
                      process.messages.superstep, ", has ", process.messages.here);
}

std::string AwaitedText(const AwaitedProcess& process) {
  const std::string node = process.node.empty() ? "" : absl::StrCat(" on ", process.node);
  const std::string os_pid =
      process.os_pid == 0 ? "" : absl::StrCat(" (process ", process.os_pid, ")");
  return absl::StrCat("pid ", process.pid, node, os_pid, ": ", WhatItDoes(process),
                      process.begun ? "" : ", before bsp_begin", ", for ", process.for_s, " s");
}

}  // namespace

std::string LatenessName(std::uint32_t lateness) {
  switch (lateness) {
    case 1:
      return "computing";
    case 2:
      return "asleep, not in bsp_sync";
    case kStopped:
      return "stopped";
    case 4:
      return "dead";
    case kCounting:
      return "waiting for messages";
    default:
      return "unknown";
  }
}

bool IsNews(const AwaitedProcesses& awaited) {
  const bool ill =
      std::any_of(awaited.shown.begin(), awaited.shown.end(),
                  [](const AwaitedProcess& process) { return process.lateness >= kStopped; });
  return ill || (awaited.arrived > 0 && awaited.count > 0);
}

std::vector<std::string> AwaitedLines(const AwaitedProcesses& awaited) {
  std::vector<std::string> lines;
  for (const AwaitedProcess& process : awaited.shown) lines.push_back(AwaitedText(process));
  const auto shown = static_cast<std::uint32_t>(awaited.shown.size());
  if (awaited.count > shown) lines.push_back(absl::StrCat(awaited.count - shown, " more"));
  return lines;
}

}  // namespace bspnow::client
