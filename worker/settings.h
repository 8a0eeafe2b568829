// What stands on the command line of bsp-worker or in its configuration file.
#ifndef WORKER_SETTINGS_H_
#define WORKER_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/login/login.h"

namespace bspnow::worker {

/// Where a daemon may listen: anywhere with TLS, or if somebody says so.
enum class Exposure { kLoopback, kAnywhere };

struct WorkerSettings {
  std::string coordinator;                             ///< HOST:PORT.
  LoginSettings login = LoginSettingsOfEnvironment();  ///< That it may join.
  std::string name;
  std::uint32_t slots = 0;  ///< 0: as many as there are processors.
  std::string state_dir;
  std::string listen = "127.0.0.1:0";  ///< For the streams of other workers.
  std::uint16_t images_port = 0;       ///< For images, at the same host; 0: any.
  std::string advertise;               ///< What others connect to instead; empty: as bound.
  std::string metrics;                 ///< Empty: not served.
  std::vector<std::string> labels;     ///< NAME=VALUE or NAME.
  std::string congestion = "reno";     ///< "default": the system's.
  std::string integrity = "crc";       ///< Or "tcp": see Integrity in net/sending_stream.h.
  std::string host_program;            ///< bsp-host; empty: not found.
  std::string restore_program;         ///< bsp-restore, likewise.
  std::string tls_dir;                 ///< Empty: plain text.
  Exposure exposure = Exposure::kLoopback;
  std::string accounts;  ///< See Accounts::Of.
  std::uint64_t cache_bytes = std::uint64_t{10} << 30;
  std::uint64_t files_bytes = std::uint64_t{4} << 30;  ///< Of one job that are sent at its end.
  std::string checkpoint_dir;                          ///< Empty: below state_dir.
  std::string checkpoint_share;           ///< Instead of checkpoint_dir: other workers see it, too.
  std::uint64_t checkpoint_quota = 0;     ///< Bytes of images kept here; 0: as there is room.
  std::uint64_t unreachable_ms = 60'000;  ///< Another worker, before its jobs are given up.
  std::uint64_t drain_timeout_ms = 0;  ///< After SIGTERM, for jobs to move; then they are killed.
  std::uint64_t orphan_timeout_ms = 600'000;  ///< Without a coordinator; then the jobs are killed.
  std::string log_format = "text";
};

/// Reads the command line. What was wrong, or asked for (--help), has been printed if there is no
/// value; then `exit_status` is set.
std::optional<WorkerSettings> ReadSettings(int argc, char** argv, int& exit_status);

}  // namespace bspnow::worker

#endif  // WORKER_SETTINGS_H_
