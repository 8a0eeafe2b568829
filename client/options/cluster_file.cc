#include "client/options/cluster_file.h"

#include <absl/strings/strip.h>
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "client/options/cluster_option.h"
#include "files/settings_file.h"

namespace bspnow::client {

std::string ClusterFilePath() {
  const char* const named = getenv("BSP_CLUSTER_FILE");
  return named == nullptr || *named == '\0' ? "/etc/bspnow/client.toml" : named;
}

absl::StatusOr<ClusterFile> ReadClusterFile(const std::string& path) {
  ClusterFile file;
  if (access(path.c_str(), F_OK) != 0) return file;
  CLI::App app("", "bsp");
  AddCoordinatorOption(app, file.coordinator);
  app.get_option("--coordinator")->check([](const std::string& text) {
    const absl::StatusOr<std::string> address = CoordinatorAddress(text);
    return address.ok() ? std::string() : std::string(address.status().message());
  });
  AddTlsOption(app, file.tls_dir);
  files::AddSettingsFile(app);
  const char* const arguments[] = {"bsp", "--config", path.c_str()};
  try {
    app.parse(std::size(arguments), arguments);
  } catch (const CLI::ParseError& error) {
    const std::string complaint =
        files::SettingsComplaint(app, error, std::size(arguments), arguments);
    return absl::InvalidArgumentError(absl::StripPrefix(complaint, "bsp: "));
  }
  return file;
}

}  // namespace bspnow::client
