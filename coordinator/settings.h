// The settings of the coordinator: flags, or a file of the same names.
#ifndef COORDINATOR_SETTINGS_H_
#define COORDINATOR_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "coordinator/core/quotas.h"
#include "net/socket.h"

namespace bspnow::coordinator {

inline constexpr char kNoLoginSocket[] = "none";

/// What is to be done: serve; or look after the journal, or make a token, and end.
enum class CoordinatorTask { kServe, kCheck, kRebuild, kNewToken };

struct CoordinatorSettings {
  CoordinatorTask task = CoordinatorTask::kServe;
  std::string cluster;     ///< For kRebuild, or empty.
  std::string token_user;  ///< For kNewToken, as the next three.
  std::string token_name = "token";
  std::string token_scopes = "read,submit";
  std::uint32_t token_days = 90;
  HostPort listen;  ///< Only for kServe, as most of what follows.
  HostPort barrier_listen;
  std::string barrier_advertise;    ///< Empty: as it listens.
  std::optional<HostPort> metrics;  ///< None: no metrics are served.
  std::optional<HostPort> web;      ///< None: there is no web page.
  std::string state_dir;
  std::string login_socket;  ///< Empty: LoginSocketsOf the port; kNoLoginSocket: none.
  std::string tls_dir;       ///< Empty: plain text.
  bool data_tls = false;     ///< Encrypt the streams of workers.
  std::uint64_t log_bytes_max = std::uint64_t{4} << 30;
  std::uint64_t files_bytes_max = std::uint64_t{16} << 30;
  std::uint64_t keep_days = 30;
  std::uint64_t checkpoint_mtbf_ms = 24 * 3600 * 1000;
  double checkpoint_overhead = 0.05;
  std::uint32_t checkpoint_copies = 1;
  Quotas quotas;
  std::string log_level = "info";
  std::string log_format = "text";
};

/// Nothing is to be run: help was asked for, or what was said is wrong. It has been printed.
struct SettingsEnd {
  int exit_status;
};

std::variant<CoordinatorSettings, SettingsEnd> ReadSettings(int argc, const char* const* argv);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_SETTINGS_H_
