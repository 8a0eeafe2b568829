// /etc/bspnow/client.toml, which names the cluster of this machine: that of commands which need one
// where neither the command line nor the environment names another.
#ifndef CLIENT_OPTIONS_CLUSTER_FILE_H_
#define CLIENT_OPTIONS_CLUSTER_FILE_H_

#include <absl/status/statusor.h>

#include <string>

namespace bspnow::client {

/// /etc/bspnow/client.toml, or what BSP_CLUSTER_FILE names instead.
std::string ClusterFilePath();

struct ClusterFile {
  std::string coordinator;  ///< As of --coordinator; empty: none is named.
  std::string tls_dir;      ///< As of --tls.
};

/// An error says which line is wrong. No file: nothing is named.
absl::StatusOr<ClusterFile> ReadClusterFile(const std::string& path);

}  // namespace bspnow::client

#endif  // CLIENT_OPTIONS_CLUSTER_FILE_H_
