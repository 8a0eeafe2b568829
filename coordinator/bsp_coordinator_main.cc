// bsp-coordinator: the parts list, and the way in and out.
#include <absl/strings/str_cat.h>
#include <errno.h>
#include <linux/close_range.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/descriptor_room.h"
#include "base/ending_signals.h"
#include "base/ids.h"
#include "base/raised_limits.h"
#include "base/standard_descriptors.h"
#include "base/start_thread.h"
#include "base/units.h"
#include "base/version.h"
#include "coordinator/access/audit_log.h"
#include "coordinator/access/authority.h"
#include "coordinator/access/login_server.h"
#include "coordinator/access/login_tokens.h"
#include "coordinator/access/token_file.h"
#include "coordinator/core/checkpoints/checkpoint_policy.h"
#include "coordinator/core/cluster.h"
#include "coordinator/daemon.h"
#include "coordinator/journal/journal_repair.h"
#include "coordinator/metrics/metric_families.h"
#include "coordinator/rpc/rpc_server.h"
#include "coordinator/settings.h"
#include "coordinator/state_directory.h"
#include "coordinator/web/web_server.h"
#include "net/ask_loop.h"
#include "net/event_loop.h"
#include "net/log/daemon_log.h"
#include "net/login/login.h"
#include "net/metrics/metrics_server.h"
#include "net/metrics/process_metrics.h"
#include "net/rpc/grpc_log.h"
#include "net/socket.h"
#include "net/systemd_notify.h"
#include "net/tls/rpc_credentials.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kNoThreadMs = 100;
constexpr int kDamagedStatus = 3;  // What it keeps; to try again would change nothing.

std::optional<ClusterFigures> AskForFigures(EventLoop& loop, const Daemon& daemon,
                                            const AuditLog& audit) {
  return AskLoop<ClusterFigures>(loop, [&daemon, &audit] {
    ClusterFigures figures = daemon.Figures();
    figures.calls_refused = audit.refused();
    return figures;
  });
}

CheckpointLimits LimitsOf(const CoordinatorSettings& settings) {
  return {.mtbf_ns = settings.checkpoint_mtbf_ms * kNsPerMs,
          .overhead_max = settings.checkpoint_overhead};
}

void Tell(const std::string& state) {
  if (absl::Status told = NotifySystemd(state); !told.ok())
    spdlog::warn("event=systemd_not_told error=\"{}\"", told.ToString());
}

absl::Status CanListen(const HostPort& where) {
  const auto address = Resolve(where);
  return address.ok() ? Listen(*address, {}).status() : address.status();
}

/// Nothing if there is to be none.
absl::StatusOr<std::unique_ptr<LoginServer>> ListenForLogins(
    const std::shared_ptr<const LoginTokens>& tokens, const CoordinatorSettings& settings,
    std::uint16_t port) {
  using enum LoginServer::Directories;
  if (settings.login_socket == kNoLoginSocket) return nullptr;
  if (settings.login_socket.empty())
    return LoginServer::Listen(tokens, LoginSocketsOf(port), kAreMade);
  return LoginServer::Listen(tokens, {settings.login_socket}, kAreThere);
}

/// Nothing if there is to be none.
absl::StatusOr<std::unique_ptr<WebServer>> ServePage(EventLoop& loop, Daemon& daemon,
                                                     AuditLog& audit,
                                                     const CoordinatorSettings& settings) {
  if (!settings.web) return nullptr;
  return WebServer::Start(loop, daemon, audit,
                          {.listen = *settings.web, .tls_dir = settings.tls_dir});
}

/// Nothing if there is to be none. `settings` stay.
absl::StatusOr<std::unique_ptr<MetricsServer>> ServeMetrics(EventLoop& loop, const Daemon& daemon,
                                                            const AuditLog& audit,
                                                            const CoordinatorSettings& settings) {
  if (!settings.metrics) return nullptr;
  return MetricsServer::Start(*settings.metrics, [&](MetricList& list) {
    AddProcessMetrics({{.use = "state", .path = settings.state_dir}}, list);
    if (const auto figures = AskForFigures(loop, daemon, audit)) AddMetrics(*figures, list);
  });
}

/// Before this run counts as one: gRPC would bind later, and does not say why it cannot.
absl::Status CheckPorts(const CoordinatorSettings& settings) {
  std::vector<HostPort> all = {settings.listen, settings.barrier_listen};
  for (const std::optional<HostPort>& also : {settings.web, settings.metrics})
    if (also) all.push_back(*also);
  for (const HostPort& listen : all)
    if (absl::Status free = CanListen(listen); !free.ok()) return free;
  return absl::OkStatus();
}

/// Within a call that goes on, for as long as the job, or without one.
void WriteEnd(AuditLog& audit, const ClientEnd& end) {
  audit.Write({.user = end.client.user,
               .from = end.client.address,
               .call = "AttachJob",
               .what = absl::StrCat("job ", Value(end.job), ", ", end.how),
               .outcome = absl::OkStatus()});
}

DaemonSettings ForDaemon(const CoordinatorSettings& settings, const SocketAddress& barrier_listen,
                         AuditLog& audit, std::function<void()> start_anew) {
  return {.barrier_listen = barrier_listen,
          .barrier_advertise = settings.barrier_advertise,
          .data_tls = settings.data_tls,
          .log_bytes_max = settings.log_bytes_max,
          .files_bytes_max = settings.files_bytes_max,
          .keep_days = settings.keep_days,
          .checkpoint_limits = LimitsOf(settings),
          .checkpoint_copies = settings.checkpoint_copies,
          .quotas = settings.quotas,
          .ended_by_client = [&audit](const ClientEnd& end) { WriteEnd(audit, end); },
          .start_anew = std::move(start_anew)};
}

/// On a thread: it needs the loop, which ends the calls. Tried again if there is none to be had.
void ShutDown(EventLoop& loop, RpcServer& server, std::jthread& shutdown) {
  auto thread = StartThread([&loop, &server] {
    server.Shutdown();
    loop.Post([&loop] { loop.Stop(); });
  });
  if (thread) {
    shutdown = *std::move(thread);
  } else {
    loop.AddTimer(kNoThreadMs, [&loop, &server, &shutdown] { ShutDown(loop, server, shutdown); });
  }
}

/// What follows when the loop has ended.
enum class Then { kEnd, kStartAnew };

absl::StatusOr<Then> Run(const CoordinatorSettings& settings, int signals) {
  EventLoop loop;
  std::optional<Then> then;  // Since it stops.
  std::function<void(Then)> stop;
  loop.EnablePolling();
  const auto barrier_listen = Resolve(settings.barrier_listen);
  if (!barrier_listen.ok()) return barrier_listen.status();
  const auto credentials = RpcCredentials::Load(settings.tls_dir, TlsUse::kCoordinate);
  if (!credentials.ok()) return credentials.status();
  const auto state = StateDirectory::Open(settings.state_dir);
  if (!state.ok()) return state.status();
  if (absl::Status free = CheckPorts(settings); !free.ok()) return free;
  const auto login_tokens = std::make_shared<const LoginTokens>();
  // Who reaches gRPC finds it: a bsprun that is back at once would be refused for want of a token.
  const bool is_named = settings.listen.port != 0 || !settings.login_socket.empty();
  auto login = absl::StatusOr<std::unique_ptr<LoginServer>>(nullptr);
  if (is_named) login = ListenForLogins(login_tokens, settings, settings.listen.port);
  if (!login.ok()) return login.status();
  const auto audit =
      AuditLog::Open({.acts = state->audit_log(), .refused = state->refused_log()}, NowNs);
  if (!audit.ok()) return audit.status();
  const auto daemon = Daemon::Start(
      loop, *state, ForDaemon(settings, *barrier_listen, **audit, [&] { stop(Then::kStartAnew); }));
  if (!daemon.ok()) return daemon.status();
  const TokenFile token_file(state->tokens());
  Authority authority(*login_tokens, token_file, settings.tls_dir);
  const auto page = ServePage(loop, **daemon, **audit, settings);
  if (!page.ok()) return page.status();
  const auto server = RpcServer::Start(loop, **daemon, authority, **audit,
                                       {settings.listen, *credentials, page->get()});
  if (!server.ok()) return server.status();
  if (!is_named) login = ListenForLogins(login_tokens, settings, (*server)->address().port);
  if (!login.ok()) return login.status();
  auto metrics = ServeMetrics(loop, **daemon, **audit, settings);
  if (!metrics.ok()) return metrics.status();
  std::string addresses = absl::StrCat("listen=", (*server)->address().ToString(),
                                       "\nbarrier=", (*daemon)->barrier_address().ToString(), "\n");
  if (*login) absl::StrAppend(&addresses, "login=", (*login)->path(), "\n");
  if (*page) absl::StrAppend(&addresses, "web=", (*page)->address().ToString(), "\n");
  if (*metrics) absl::StrAppend(&addresses, "metrics=", (*metrics)->address().ToString(), "\n");
  if (absl::Status written = state->WriteAddress(addresses); !written.ok()) return written;

  std::jthread shutdown;
  stop = [&](Then following) {
    if (then) return;  // SIGTERM came while the term was raised, for which the daemon starts anew.
    then = following;
    loop.Forget(signals);
    spdlog::info("event=stopping");
    // Once it has said so, systemd kills it when TimeoutStopSec is over, whatever it is by then.
    if (following == Then::kEnd) Tell("STOPPING=1");
    if (*page) (*page)->Close();
    (*daemon)->cluster().Close();
    ShutDown(loop, **server, shutdown);
  };
  loop.OnReadable(signals, [&] { stop(Then::kEnd); });
  spdlog::info("event=ready version={} listen={} barrier={}", kVersion,
               (*server)->address().ToString(), (*daemon)->barrier_address().ToString());
  Tell("READY=1");
  loop.Run();
  MetricsServer::Release(*std::move(metrics));
  LoginServer::Release(*std::move(login));
  return then.value_or(Then::kEnd);
}

/// In the same process, which is what systemd watches.
void StartAnew(char** argv) {
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  execv("/proc/self/exe", argv);
  spdlog::error("event=failed error=\"cannot be started anew: {}\"", std::strerror(errno));
}

absl::StatusOr<std::string> MakeToken(const CoordinatorSettings& settings) {
  constexpr std::int64_t kDayS = 24 * 3600;
  constexpr std::int64_t kMsPerS = 1000;
  const absl::StatusOr<Scopes> scopes = ParseScopes(settings.token_scopes);
  if (!scopes.ok()) return scopes.status();
  const auto state = StateDirectory::OpenExisting(settings.state_dir);
  if (!state.ok()) return state.status();
  if (!state->HasServed()) {
    return absl::NotFoundError(
        absl::StrCat("no coordinator has run with ", settings.state_dir,
                     " yet, so the token would open nothing; give the --state-dir of the "
                     "coordinator, or start it first"));
  }
  return TokenFile(state->tokens())
      .Add({.name = settings.token_name,
            .caller = {.user = settings.token_user, .scopes = *scopes},
            .until_unix_s = UnixMs() / kMsPerS + settings.token_days * kDayS});
}

/// The exit status. A coordinator that runs meanwhile takes it.
int PrintNewToken(const CoordinatorSettings& settings) {
  const absl::StatusOr<std::string> token = MakeToken(settings);
  if (token.ok()) {
    std::printf("%s\n", token->c_str());
    return EXIT_SUCCESS;
  }
  std::fprintf(stderr, "bsp-coordinator: %s\n", std::string(token.status().message()).c_str());
  return EXIT_FAILURE;
}

/// The exit status: that of an administrator's question, or order.
int LookAfterJournal(const CoordinatorSettings& settings) {
  const auto state = StateDirectory::OpenExisting(settings.state_dir);
  absl::Status outcome = state.status();
  RepairReport report;
  if (state.ok() && settings.task == CoordinatorTask::kCheck) {
    JournalFindings findings = CheckJournal(*state);
    outcome = std::move(findings.sound);
    report = std::move(findings.report);
  } else if (state.ok()) {
    absl::StatusOr<RepairReport> rebuilt = RebuildJournal(*state, settings.cluster);
    outcome = rebuilt.status();
    if (rebuilt.ok()) report = *std::move(rebuilt);
  }
  for (const std::string& line : report) std::printf("%s\n", line.c_str());
  if (!outcome.ok())
    std::fprintf(stderr, "bsp-coordinator: %s\n", std::string(outcome.message()).c_str());
  return outcome.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int Main(int argc, char** argv) {
  OccupyStandardDescriptors(ClosedOutput::kVanishes);
  const auto settings = ReadSettings(argc, argv);
  if (const auto* end = std::get_if<SettingsEnd>(&settings)) return end->exit_status;
  const auto& told = std::get<CoordinatorSettings>(settings);
  const RaisedLimits limits;
  if (const std::string lack = LackOfDescriptors(kDescriptorsOfDaemon, DescriptorLimit::kRaised);
      !lack.empty()) {
    std::fprintf(stderr, "bsp-coordinator: %s\n", lack.c_str());
    return EXIT_FAILURE;
  }
  if (told.task == CoordinatorTask::kNewToken) return PrintNewToken(told);
  if (told.task != CoordinatorTask::kServe) return LookAfterJournal(told);
  SetUpLog("bsp-coordinator", told.log_level, LogFormatOf(told.log_format));
  LogGrpc();
  prctl(PR_SET_NAME, program_invocation_short_name);  // Started anew, it would be "exe" to ps.
  const UniqueFd signals = TakeOverEndingSignals();
  const absl::StatusOr<Then> ran = Run(told, signals.get());
  if (!ran.ok()) {
    spdlog::error("event=failed error=\"{}\"", ran.status().ToString());
    return absl::IsDataLoss(ran.status()) ? kDamagedStatus : EXIT_FAILURE;
  }
  if (*ran == Then::kStartAnew) {
    StartAnew(argv);
    return EXIT_FAILURE;
  }
  spdlog::info("event=stopped");
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace bspnow::coordinator

int main(int argc, char** argv) {
  const int status = bspnow::coordinator::Main(argc, argv);
  // Threads of the metrics server may still run: nothing static is destroyed under them.
  std::fflush(nullptr);
  std::_Exit(status);
}
