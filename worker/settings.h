// What bsp-worker is told on its command line or in its configuration file.
#ifndef WORKER_SETTINGS_H_
#define WORKER_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bspnow {

/// Where a daemon without credentials may listen.
enum class Exposure { kLoopback, kAnywhere };

struct WorkerSettings {
  std::string coordinator;  ///< HOST:PORT.
  std::string name;
  std::uint32_t slots = 0;  ///< 0: as many as there are processors.
  std::string state_dir;
  std::string listen = "127.0.0.1:0";  ///< For the streams of other workers.
  std::string advertise;               ///< What others are told instead; empty: as bound.
  std::string metrics;                 ///< Empty: not served.
  std::vector<std::string> labels;     ///< NAME=VALUE or NAME.
  std::string congestion = "reno";     ///< "default": the system's.
  std::string host_program;            ///< bsp-host.
  Exposure exposure = Exposure::kLoopback;
  std::uint64_t cache_bytes = std::uint64_t{10} << 30;
  std::uint64_t files_bytes = std::uint64_t{4} << 30;  ///< Of one job that are sent at its end.
};

/// Reads the command line. What was wrong, or asked for (--help), has been printed if there is no
/// value; then `exit_status` is set.
std::optional<WorkerSettings> ReadSettings(int argc, char** argv, int& exit_status);

}  // namespace bspnow

#endif  // WORKER_SETTINGS_H_
