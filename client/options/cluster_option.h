// The options that say which cluster is meant: its coordinator, and TLS with it.
#ifndef CLIENT_OPTIONS_CLUSTER_OPTION_H_
#define CLIENT_OPTIONS_CLUSTER_OPTION_H_

#include <absl/status/statusor.h>

#include <CLI/CLI.hpp>
#include <string>

namespace bspnow::client {

void AddCoordinatorOption(CLI::App& app, std::string& coordinator);

/// --tls, for the coordinator's sake.
void AddTlsOption(CLI::App& app, std::string& tls_dir);

/// What --tls gave, else BSP_TLS; empty, plain text, if neither names a directory.
std::string NamedTls(const std::string& option);

/// What --coordinator gave, else BSP_COORDINATOR; empty if neither names one.
std::string NamedCoordinator(const std::string& option);

/// The address, with its port, of the coordinator that --coordinator or BSP_COORDINATOR names;
/// FailedPrecondition with what to do if neither does, InvalidArgument if it is no HOST:PORT.
absl::StatusOr<std::string> CoordinatorAddress(const std::string& option);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_CLUSTER_OPTION_H_
