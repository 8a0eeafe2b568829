// Which jobs a list is to have: what -u, --state and --since say.
#ifndef CLIENT_OPTIONS_LIST_OPTIONS_H_
#define CLIENT_OPTIONS_LIST_OPTIONS_H_

#include <absl/status/statusor.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/jobs.pb.h"

namespace bspnow::client {

struct ListOptions {
  std::string user;
  std::vector<proto::JobState> states;
  std::int64_t since_unix_ms = 0;
};

void AddListOptions(CLI::App& app, ListOptions& options);

/// Several with commas between them, as lists show them: "failed,cancelled".
absl::StatusOr<std::vector<proto::JobState>> ParseStates(const std::string& text);

/// A day or moment of this machine's time zone, 2026-11-20 or 2026-11-20T14:30, or how long ago:
/// 90s, 10m, 12h, 3d. In milliseconds since 1970.
absl::StatusOr<std::int64_t> ParseSince(const std::string& text, std::int64_t now_unix_ms);

/// With `all` if jobs are asked for that have ended.
proto::ListJobsRequest ListRequest(const ListOptions& options);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_LIST_OPTIONS_H_
