// --array: the indices of an array's elements.
#ifndef CLIENT_OPTIONS_ARRAY_OPTION_H_
#define CLIENT_OPTIONS_ARRAY_OPTION_H_

#include <absl/status/statusor.h>

#include <string>

#include "proto/jobs.pb.h"

namespace bspnow::client {

/// FIRST-LAST, FIRST-LAST:STEP, either with %LIMIT behind it.
absl::StatusOr<proto::ArraySpec> ParseArrayOption(const std::string& text);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_ARRAY_OPTION_H_
