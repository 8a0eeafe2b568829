#include "client/options/list_options.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <time.h>

#include "base/clock.h"
#include "client/view/quantities.h"

namespace bspnow::client {
namespace {

constexpr std::int64_t kMsPerSecond = 1000;

bool HasEnded(proto::JobState state) {
  return state == proto::SUCCEEDED || state == proto::FAILED || state == proto::CANCELLED;
}

/// All of the text.
bool ParseTime(const std::string& text, const char* format, tm& time) {
  const char* const end = strptime(text.c_str(), format, &time);
  return end != nullptr && *end == '\0';
}

}  // namespace

absl::StatusOr<std::vector<proto::JobState>> ParseStates(const std::string& text) {
  std::vector<proto::JobState> states;
  for (const std::string& written : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const std::string word = absl::AsciiStrToLower(written);  // Slurm's are in capitals.
    proto::JobState& state = states.emplace_back();
    if (word == "pending") {  // As Slurm has it, and bsp cancel.
      state = proto::WAITING;
      continue;
    }
    if (!proto::JobState_Parse(absl::AsciiStrToUpper(word), &state) ||
        state == proto::JOB_STATE_UNSPECIFIED)
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", written, "\" is no state; write waiting, running, ending, recovering, ",
          "suspended, succeeded, failed or cancelled, or several with commas"));
  }
  return states;
}

absl::StatusOr<std::int64_t> ParseSince(const std::string& text, std::int64_t now_unix_ms) {
  for (const char* format :
       {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"}) {
    tm time{};
    time.tm_isdst = -1;
    if (!ParseTime(text, format, time)) continue;
    const tm given = time;
    const time_t seconds = mktime(&time);
    if (seconds > 0 && time.tm_mday == given.tm_mday) return seconds * kMsPerSecond;
  }
  const bool has_unit =
      !text.empty() && absl::ascii_isalpha(static_cast<unsigned char>(text.back()));
  const absl::StatusOr<std::uint64_t> ago_s = ParseTimeLimit(text);
  if (has_unit && ago_s.ok() && *ago_s < static_cast<std::uint64_t>(now_unix_ms / kMsPerSecond))
    return now_unix_ms - static_cast<std::int64_t>(*ago_s) * kMsPerSecond;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no time; write a day as in 2026-11-20, a moment as in ",
                   "2026-11-20T14:30, or how long ago as in 12h or 3d"));
}

void AddListOptions(CLI::App& app, ListOptions& options) {
  app.add_option("-u,--user", options.user, "Only this user's")->type_name("USER");
  app.add_option_function<std::string>(
         "--state", [&options](const std::string& text) { options.states = *ParseStates(text); },
         "Only those in one of these states, as in failed,cancelled")
      ->check(
          [](const std::string& text) { return std::string(ParseStates(text).status().message()); })
      ->type_name("STATE,...");
  app.add_option_function<std::string>(
         "--since",
         [&options](const std::string& text) {
           options.since_unix_ms = *ParseSince(text, UnixMs());
         },
         "Only those that had not ended then: 2026-11-20, 2026-11-20T14:30, 12h or 3d ago")
      ->check([](const std::string& text) {
        return std::string(ParseSince(text, UnixMs()).status().message());
      })
      ->type_name("TIME");
}

proto::ListJobsRequest ListRequest(const ListOptions& options) {
  proto::ListJobsRequest request;
  request.set_user(options.user);
  request.set_since_unix_ms(options.since_unix_ms);
  request.set_all(options.since_unix_ms != 0);
  for (const proto::JobState state : options.states) {
    request.add_states(state);
    if (HasEnded(state)) request.set_all(true);
  }
  return request;
}

}  // namespace bspnow::client
