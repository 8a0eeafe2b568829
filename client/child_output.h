// Another program, run to its end for what it prints.
#ifndef CLIENT_CHILD_OUTPUT_H_
#define CLIENT_CHILD_OUTPUT_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

namespace bspnow::client {

struct ChildOutput {
  std::string output;  ///< Its standard output; the others are ours.
  int status;          ///< Its exit status; 128 + signal if it was killed.
};

/// Runs command[0], a path, and waits for its end.
absl::StatusOr<ChildOutput> RunChild(const std::vector<std::string>& command);

}  // namespace bspnow::client

#endif  // CLIENT_CHILD_OUTPUT_H_
