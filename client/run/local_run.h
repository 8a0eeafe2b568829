// The embedded default: a coordinator's job and a worker's host in this one program, nothing to
// start by hand. The only place that sees both rooms (docs/design.md, "Parts").
#ifndef CLIENT_RUN_LOCAL_RUN_H_
#define CLIENT_RUN_LOCAL_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bspnow::client {

struct LocalRunOptions {
  std::uint32_t nprocs;
  std::string program;                 ///< The file; see FindProgram.
  std::vector<std::string> arguments;  ///< argv, [0] included.
  std::vector<std::string> environment;
  std::string directory;
  bool prefix_output;
  bool timing;
  bool json;
};

/// Runs the job on this machine to its end. Returns its exit status (docs/design.md).
int RunLocally(const LocalRunOptions& options);

}  // namespace bspnow::client

#endif  // CLIENT_RUN_LOCAL_RUN_H_
