#include "client/options/cluster_option.h"

#include <absl/strings/str_cat.h>
#include <stdlib.h>

#include "net/socket.h"

namespace bspnow::client {
namespace {

constexpr char kUsualPort[] = ":7070";

std::string Named(const std::string& option, const char* variable) {
  if (!option.empty()) return option;
  const char* const value = getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace

void AddCoordinatorOption(CLI::App& app, std::string& coordinator) {
  app.add_option("--coordinator", coordinator, "The cluster's coordinator [BSP_COORDINATOR]")
      ->type_name("HOST:PORT");
}

void AddTlsOption(CLI::App& app, std::string& tls_dir) {
  app.add_option("--tls", tls_dir, "Speak TLS with it: ca.crt, or more, is in there [BSP_TLS]")
      ->type_name("DIR");
}

std::string NamedTls(const std::string& option) { return Named(option, "BSP_TLS"); }

std::string NamedCoordinator(const std::string& option) { return Named(option, "BSP_COORDINATOR"); }

absl::StatusOr<std::string> CoordinatorAddress(const std::string& option) {
  const std::string coordinator = NamedCoordinator(option);
  if (coordinator.empty()) {
    return absl::FailedPreconditionError(
        "no coordinator is named; give --coordinator HOST:PORT, or set BSP_COORDINATOR; "
        "/etc/bspnow/client.toml names it for all users");
  }
  // A colon after the last bracket, if there are brackets, is that of the port.
  const std::size_t bracket = coordinator.rfind(']');
  const std::size_t colon = coordinator.find(':', bracket == std::string::npos ? 0 : bracket);
  const std::string address = colon == std::string::npos ? coordinator + kUsualPort : coordinator;
  if (const auto parsed = ParseHostPort(address); !parsed.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(option.empty() ? "BSP_COORDINATOR" : "--coordinator", ": ",
                     std::string(parsed.status().message())));
  }
  return address;
}

}  // namespace bspnow::client
