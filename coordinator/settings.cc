#include "coordinator/settings.h"

#include <absl/strings/str_cat.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <tuple>

#include "base/exit_status.h"
#include "base/version.h"
#include "files/duration.h"
#include "files/settings_file.h"
#include "files/whole_number.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kMsPerS = 1000;
constexpr std::uint64_t kNumberMax = 1'000'000'000'000'000;

/// As it was written, before it is looked at.
struct Written {
  std::string listen;
  std::string barrier_listen;
  std::string metrics;
  std::string web;
  bool insecure = false;
  bool check = false;
  bool rebuild = false;
};

void DescribeTokens(CLI::App& app, CoordinatorSettings& settings) {
  CLI::Option* const user =
      app.add_option(
             "--new-token", settings.token_user,
             "Print a token for calls of this user (or worker) from other machines, and end")
          ->type_name("USER")
          ->configurable(false)
          ->excludes("--check")
          ->excludes("--rebuild");
  app.add_option("--token-name", settings.token_name, "With --new-token: to tell it from others")
      ->type_name("NAME")
      ->needs(user)
      ->configurable(false)
      ->capture_default_str();
  app.add_option("--token-scopes", settings.token_scopes,
                 "What it is good for: read, submit, join (of workers), admin")
      ->type_name("SCOPE,...")
      ->needs(user)
      ->configurable(false)
      ->capture_default_str();
  app.add_option("--token-days", settings.token_days, "For so long")
      ->type_name("DAYS")
      ->needs(user)
      ->configurable(false)
      ->transform(files::AsWholeNumber(files::Sign::kNone))
      ->check(CLI::Range(1u, 36500u))
      ->capture_default_str();
}

/// What it is to do and end, in place of serving.
void DescribeTasks(CLI::App& app, Written& written, CoordinatorSettings& settings) {
  app.add_flag("--check", written.check,
               "Say whether the journal in the state directory is sound, and end: status 0 if so")
      ->configurable(false);
  app.add_flag("--rebuild", written.rebuild,
               "Make a journal of what is left of a damaged or lost one and of its copy, and end")
      ->configurable(false)
      ->excludes("--check");
  app.add_option("--cluster", settings.cluster,
                 "With --rebuild: the id of the cluster, if neither journal nor copy has it")
      ->type_name("ID")
      ->needs("--rebuild")
      ->configurable(false);
  DescribeTokens(app, settings);
}

void DescribeListening(CLI::App& app, Written& written, CoordinatorSettings& settings) {
  app.add_option("--metrics", written.metrics, "Serve Prometheus metrics there")
      ->type_name("HOST:PORT");
  app.add_option("--web", written.web,
                 "Serve the web page there, which `bsp web` opens; port 0: any")
      ->type_name("HOST:PORT");
  app.add_option("--barrier-listen", written.barrier_listen,
                 "Where workers' barriers connect; without HOST that of --listen (default: any "
                 "port)")
      ->type_name("[HOST:]PORT");
  app.add_option("--barrier-advertise", settings.barrier_advertise,
                 "Tell workers this address for barriers, not the real one")
      ->type_name("HOST:PORT");
  app.add_option("--login-socket", settings.login_socket,
                 "Unix socket by which users of this machine prove who they are; none: there is "
                 "none (default: /run/bspnow/login-PORT.sock of root's, else in the user's "
                 "runtime directory)")
      ->type_name("PATH");
  app.add_option("--tls", settings.tls_dir,
                 "Serve with TLS: the directory has ca.crt, tls.crt and tls.key, as `bsp certs "
                 "issue --role coordinator` makes them")
      ->type_name("DIR");
  app.add_flag("--data-tls", settings.data_tls,
               "Encrypt the data that workers exchange, and their barriers: TLS 1.3 by the "
               "cluster's key, for all workers at once");
  app.add_flag("--insecure", written.insecure,
               "Listen on addresses that other machines can reach, without TLS");
}

void DescribeKeeping(CLI::App& app, CoordinatorSettings& settings) {
  app.add_option("--max-log-bytes", settings.log_bytes_max,
                 "Output of one job; one that prints more fails")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("4GiB");
  app.add_option("--max-files-bytes", settings.files_bytes_max, "Files kept of one job")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("16GiB");
  app.add_option("--keep-days", settings.keep_days, "Keep output and files of ended jobs so long")
      ->type_name("DAYS")
      ->transform(files::AsWholeNumber(files::Sign::kNone))
      ->capture_default_str();
}

void DescribeQuotas(CLI::App& app, Quotas& quotas) {
  app.add_option("--user-slots", quotas.slots,
                 "Slots that jobs of one user have at once [as many as there are]")
      ->type_name("N")
      ->transform(files::AsWholeNumber(files::Sign::kNone))
      ->check(CLI::Range(std::uint64_t{1}, kNumberMax));
  app.add_option("--user-jobs", quotas.jobs, "Jobs of one user that have not ended [any number]")
      ->type_name("N")
      ->transform(files::AsWholeNumber(files::Sign::kNone))
      ->check(CLI::Range(std::uint64_t{1}, kNumberMax));
  app.add_option("--user-bytes", quotas.bytes,
                 "Programs, output and files of one user that are kept here [any number]")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 60));
}

void DescribeCheckpoints(CLI::App& app, CoordinatorSettings& settings) {
  app.add_option("--checkpoint-mtbf", settings.checkpoint_mtbf_ms,
                 "Between two failures of the cluster, on average: 90m, 24h. The larger it is, "
                 "the fewer automatic checkpoints")
      ->type_name("TIME")
      ->transform(files::AsMilliseconds(files::PlainNumber::kSeconds, kMsPerS))
      ->default_str("24h");
  app.add_option("--checkpoint-overhead", settings.checkpoint_overhead,
                 "At most this part of a job's time goes into automatic checkpoints")
      ->type_name("FRACTION")
      ->check(CLI::Range(0.0001, 1.0))
      ->capture_default_str();
  app.add_option("--checkpoint-copies", settings.checkpoint_copies,
                 "Copies of each image on other nodes, as far as there are nodes")
      ->type_name("N")
      ->transform(files::AsWholeNumber(files::Sign::kNone))
      ->check(CLI::Range(0u, 16u))
      ->capture_default_str();
}

void DescribeLog(CLI::App& app, CoordinatorSettings& settings) {
  app.add_option("--log-level", settings.log_level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
  app.add_option("--log-format", settings.log_format,
                 "text, or json: an object a line, with each key of the text as a member")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

void Describe(CLI::App& app, Written& written, CoordinatorSettings& settings) {
  app.set_version_flag("--version", std::string("bsp-coordinator ") + kVersion);
  files::AddSettingsFile(app);
  app.add_option("--listen", written.listen, "Where clients and workers connect; port 0: any")
      ->type_name("HOST:PORT");
  app.add_option("--state-dir", settings.state_dir,
                 "Jobs, their output and files; survives restarts")
      ->type_name("DIR")
      ->required();
  DescribeTasks(app, written, settings);
  DescribeListening(app, written, settings);
  DescribeKeeping(app, settings);
  DescribeQuotas(app, settings.quotas);
  DescribeCheckpoints(app, settings);
  DescribeLog(app, settings);
}

/// Where it may listen: anywhere with TLS, or if somebody says so.
enum class Exposure { kLoopback, kAnywhere };

/// See "On several machines" in docs/network.md.
absl::StatusOr<HostPort> ParseListen(const std::string& flag, const std::string& text,
                                     Exposure exposure) {
  auto parsed = ParseHostPort(text);
  if (!parsed.ok())
    return absl::InvalidArgumentError(absl::StrCat(flag, ": ", parsed.status().message()));
  const auto address = Resolve(*parsed);
  if (!address.ok())  // That may pass, and what is written be right.
    return absl::UnavailableError(absl::StrCat(flag, ": ", address.status().message()));
  if (!address->IsLoopback() && exposure == Exposure::kLoopback)
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " ", text,
                     ": other machines can reach this address, and without TLS whoever is on the "
                     "way reads and changes what passes; give --tls DIR (`bsp certs` makes what is "
                     "in it), or --insecure if you trust the network"));
  return parsed;
}

/// HOST:PORT of `text`, which may be a port alone: that is one of the host of --listen.
std::string WithHost(const std::string& text, const HostPort& listen) {
  if (text.find_first_not_of("0123456789") != std::string::npos) return text;
  std::string any_port = HostPort{.host = listen.host, .port = 0}.ToString();
  any_port.pop_back();
  return any_port + text;
}

absl::Status Understand(const Written& written, CoordinatorSettings& settings) {
  if (!settings.token_user.empty()) {
    settings.task = CoordinatorTask::kNewToken;
    return absl::OkStatus();
  }
  if (written.check || written.rebuild) {
    settings.task = written.check ? CoordinatorTask::kCheck : CoordinatorTask::kRebuild;
    return absl::OkStatus();
  }
  if (written.listen.empty())
    return absl::InvalidArgumentError("--listen is required; see bsp-coordinator --help");
  const Exposure exposure =
      written.insecure || !settings.tls_dir.empty() ? Exposure::kAnywhere : Exposure::kLoopback;
  const auto listen = ParseListen("--listen", written.listen, exposure);
  if (!listen.ok()) return listen.status();
  settings.listen = *listen;
  settings.barrier_listen = {.host = listen->host, .port = 0};
  if (!written.barrier_listen.empty()) {
    const auto barrier =
        ParseListen("--barrier-listen", WithHost(written.barrier_listen, *listen), exposure);
    if (!barrier.ok()) return barrier.status();
    settings.barrier_listen = *barrier;
  }
  for (const auto& [flag, text, where] :
       {std::tuple{"--web", &written.web, &settings.web},
        std::tuple{"--metrics", &written.metrics, &settings.metrics}}) {
    if (text->empty()) continue;
    const auto parsed = ParseListen(flag, *text, exposure);
    if (!parsed.ok()) return parsed.status();
    *where = *parsed;
  }
  if (!settings.barrier_advertise.empty())
    if (const auto told = ParseHostPort(settings.barrier_advertise); !told.ok())
      return absl::InvalidArgumentError(
          absl::StrCat("--barrier-advertise: ", told.status().message()));
  return absl::OkStatus();
}

}  // namespace

std::variant<CoordinatorSettings, SettingsEnd> ReadSettings(int argc, const char* const* argv) {
  CLI::App app(
      "The coordinator of a bspnow cluster: takes jobs, places them on workers, and "
      "synchronises their supersteps.",
      "bsp-coordinator");
  CoordinatorSettings settings;
  Written written;
  Describe(app, written, settings);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return SettingsEnd{app.exit(error)};  // --help, --version
    std::fprintf(stderr, "%s\n", files::SettingsComplaint(app, error, argc, argv).c_str());
    return SettingsEnd{kUsageStatus};
  }
  if (absl::Status understood = Understand(written, settings); !understood.ok()) {
    std::fprintf(stderr, "bsp-coordinator: %s\n", std::string(understood.message()).c_str());
    return SettingsEnd{absl::IsUnavailable(understood) ? kFailureStatus : kUsageStatus};
  }
  return settings;
}

}  // namespace bspnow::coordinator
