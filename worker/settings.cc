#include "worker/settings.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <string>

#include "base/exit_status.h"
#include "base/node_name.h"
#include "base/version.h"
#include "files/duration.h"
#include "files/settings_file.h"
#include "files/whole_number.h"
#include "net/socket.h"

namespace bspnow::worker {
namespace {

// Installed in libexec/bspnow, beside bin; in a build tree beside or below this program.
std::string FindProgram(const std::string& name) {
  std::error_code error;
  const std::filesystem::path here =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : {"../libexec/bspnow", ".", "host", "restore"}) {
    const std::filesystem::path path = here / place / name;
    if (std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0)
      return path.string();
  }
  return {};
}

void AddCheckpointOptions(CLI::App& app, WorkerSettings& settings) {
  CLI::Option* const own = app.add_option("--checkpoint-dir", settings.checkpoint_dir,
                                          "For images of processes [below --state-dir]")
                               ->type_name("DIR");
  app.add_option("--checkpoint-share", settings.checkpoint_share,
                 "The same, in a directory that all workers see")
      ->excludes(own)
      ->type_name("DIR");
  app.add_option("--checkpoint-quota", settings.checkpoint_quota,
                 "Images to keep at most [as there is room]")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE");
}

void AddTimeouts(CLI::App& app, WorkerSettings& settings) {
  const CLI::Validator milliseconds = files::AsMilliseconds(files::PlainNumber::kRefused, 0);
  app.add_option("--orphan-timeout", settings.orphan_timeout_ms,
                 "Kill all jobs after so long without a coordinator [10m]")
      ->transform(milliseconds)
      ->type_name("TIME");
  app.add_option("--drain-timeout", settings.drain_timeout_ms,
                 "At SIGTERM let jobs move to other nodes first, for so long [0s: they go back to "
                 "a checkpoint]")
      ->transform(milliseconds)
      ->type_name("TIME");
}

// Who may come in, and as whom programs run.
void AddAccessOptions(CLI::App& app, WorkerSettings& settings) {
  app.add_option("--token-file", settings.login.token_file,
                 "Holds the token with which it may join [BSP_TOKEN_FILE]")
      ->type_name("FILE");
  app.add_option("--login-socket", settings.login.login_socket,
                 "The coordinator's, on its own machine, where root and the coordinator's user "
                 "need no token [BSP_LOGIN_SOCKET]")
      ->type_name("PATH");
  app.add_option("--accounts", settings.accounts,
                 "As whom programs run: same (as the account of their user's name), fixed:NAME, "
                 "pool:A,B,... (one for each job), own (this worker's user, his jobs only) or "
                 "own:everybody [own; root must choose another]")
      ->type_name("HOW");
  app.add_flag_callback(
      "--insecure", [&settings] { settings.exposure = Exposure::kAnywhere; },
      "Allow addresses other than loopback without TLS");
  app.add_option_function<std::string>(
         "--tls",
         [&settings](const std::string& directory) {
           settings.tls_dir = directory;
           settings.exposure = Exposure::kAnywhere;
         },
         "Serve and call with TLS: the directory has ca.crt, tls.crt and tls.key, as `bsp certs "
         "issue --role worker` makes them")
      ->type_name("DIR");
}

// For tests: nobody needs to know.
void AddHiddenOptions(CLI::App& app, WorkerSettings& settings) {
  app.add_option("--unreachable-ms", settings.unreachable_ms)->group("");
}

// Empty if the kernel has none, and so no name of a node.
std::string HostName() {
  char name[kNodeNameBytesMax + 1] = {};
  return gethostname(name, sizeof name) == 0 ? name : "";
}

std::string CheckHostPort(const std::string& text) {
  const auto parsed = ParseHostPort(text);
  return parsed.ok() ? std::string() : std::string(parsed.status().message());
}

void AddNetworkOptions(CLI::App& app, WorkerSettings& settings) {
  app.add_option("--listen", settings.listen, "For the streams of other workers [127.0.0.1:0]")
      ->type_name("HOST[:PORT]");
  app.add_option("--images-port", settings.images_port,
                 "For images of processes from other workers, at the host of --listen [any]")
      ->transform(files::AsWholeNumber(files::Sign::kNone))
      ->type_name("PORT");
  app.add_option("--advertise", settings.advertise, "What other workers are told instead")
      ->check(CheckHostPort)
      ->type_name("HOST:PORT");
  app.add_option("--metrics", settings.metrics, "Serve Prometheus metrics there [not served]")
      ->check(CheckHostPort)
      ->type_name("HOST:PORT");
  app.add_option("--congestion", settings.congestion, "TCP congestion control [reno]")
      ->check(CLI::IsMember({"reno", "cubic", "bbr", "default"}));
  app.add_option("--integrity", settings.integrity,
                 "What vouches for transferred data: a checksum of ours, or TCP's (and TLS) [crc]")
      ->check(CLI::IsMember({"crc", "tcp"}));
}

void AddProgramOptions(CLI::App& app, WorkerSettings& settings) {
  app.add_option("--host-program", settings.host_program, "bsp-host [found beside this program]")
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  app.add_option("--restore-program", settings.restore_program,
                 "bsp-restore [found beside this program]")
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
}

void AddOptions(CLI::App& app, WorkerSettings& settings) {
  app.add_option("--coordinator", settings.coordinator, "Where the coordinator listens")
      ->required()
      ->check(CheckHostPort)
      ->type_name("HOST:PORT");
  settings.name = HostName();
  app.add_option("--name", settings.name,
                 "Name of this node, unique in the cluster [the host name]")
      ->required(!IsNodeName(settings.name))
      ->check([](const std::string& name) {
        return IsNodeName(name) ? std::string() : absl::StrCat("\"", name, "\": ", kNodeNameRule);
      })
      ->type_name("NAME");
  app.add_option("--state-dir", settings.state_dir, "For jobs' directories and fetched contents")
      ->required()
      ->type_name("DIR");
  app.add_option("--slots", settings.slots, "Processes to take [number of processors]")
      ->transform(files::AsWholeNumber(files::Sign::kNone))
      ->check(CLI::Range(1u, 1u << 16))
      ->type_name("N");
  app.add_option("--label", settings.labels, "Label of this node, for --constraint of jobs")
      ->type_name("NAME[=VALUE]")
      ->allow_extra_args(false);
  AddNetworkOptions(app, settings);
  AddProgramOptions(app, settings);
  app.add_option("--cache-bytes", settings.cache_bytes, "Fetched contents to keep [10 GiB]")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE");
  app.add_option("--files-bytes", settings.files_bytes, "Files of a job to send at its end [4 GiB]")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE");
  AddCheckpointOptions(app, settings);
  AddTimeouts(app, settings);
  app.add_option("--log-format", settings.log_format,
                 "text, or json: an object a line, with each key of the text as a member [text]")
      ->check(CLI::IsMember({"text", "json"}));
  AddHiddenOptions(app, settings);
  AddAccessOptions(app, settings);
  files::AddSettingsFile(app);
}

// The colons of an IPv6 address stand in brackets.
bool HasPort(const std::string& address) {
  const std::size_t bracket = address.rfind(']');
  return address.find(':', bracket == std::string::npos ? 0 : bracket) != std::string::npos;
}

// Where images are shared no worker takes them back from the account of a job that rests: the next
// job of the account, here or on another node, would read them.
bool GivesImagesAway(const WorkerSettings& settings) {
  if (settings.checkpoint_share.empty() || !settings.accounts.starts_with("pool:")) return false;
  std::cerr
      << "bsp-worker: --checkpoint-share with --accounts=pool would show the images of a job "
         "to the next one of its account; choose --accounts=same, or leave the images on each "
         "node (--checkpoint-dir)\n";
  return true;
}

/// Programs that are started in other directories get these paths, too.
bool MakeAbsolute(WorkerSettings& settings) {
  std::error_code error;
  for (std::string* const path : {&settings.state_dir, &settings.checkpoint_dir,
                                  &settings.checkpoint_share, &settings.restore_program})
    if (!path->empty() && !error) *path = std::filesystem::absolute(*path, error).string();
  if (error) std::cerr << "bsp-worker: the working directory is gone; give absolute paths\n";
  return !error;
}

}  // namespace

std::optional<WorkerSettings> ReadSettings(int argc, char** argv, int& exit_status) {
  CLI::App app("bsp-worker hosts processes of BSP jobs for a bsp-coordinator.", "bsp-worker");
  app.set_version_flag("--version", std::string("bsp-worker ") + kVersion);
  WorkerSettings settings;
  AddOptions(app, settings);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_status = error.get_exit_code();
    if (exit_status == 0) {
      app.exit(error);  // --help, --version
    } else {
      std::cerr << files::SettingsComplaint(app, error, argc, argv) << "\n";
      exit_status = kUsageStatus;
    }
    return std::nullopt;
  }
  if (!HasPort(settings.listen)) settings.listen += ":0";
  if (settings.host_program.empty()) settings.host_program = FindProgram("bsp-host");
  if (settings.restore_program.empty()) settings.restore_program = FindProgram("bsp-restore");
  if (!GivesImagesAway(settings) && MakeAbsolute(settings)) return settings;
  exit_status = kUsageStatus;
  return std::nullopt;
}

}  // namespace bspnow::worker
