// --output: the file for what a job prints.
#ifndef CLIENT_OPTIONS_OUTPUT_FILE_H_
#define CLIENT_OPTIONS_OUTPUT_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "base/unique_fd.h"

namespace bspnow::client {

/// What is wrong with the argument of --output, in which %j is the job's id and %% a %; empty:
/// nothing.
std::string CheckOutputPattern(const std::string& pattern);

/// The file's name has to wait for the job's id.
bool HasJobId(const std::string& pattern);

/// Of a pattern that was checked.
std::string OutputPath(const std::string& pattern, std::uint64_t job);

/// The file, emptied.
absl::StatusOr<UniqueFd> OpenOutput(const std::string& path);

/// From now on the file is this program's standard output.
absl::Status RedirectOutput(const std::string& path);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_OUTPUT_FILE_H_
