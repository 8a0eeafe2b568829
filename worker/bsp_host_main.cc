// bsp-host: hosts the processes of one job on one node for bsp-worker, which starts it with a
// socket as descriptor 3 (worker/host_channel.h). It is the subreaper of all that the job starts,
// so it knows exactly what belongs to the job; before it ends it kills and reaps all of that, be it
// that the processes are done or that the worker is gone.
#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "net/event_loop.h"
#include "worker/host_channel.h"
#include "worker/limits.h"
#include "worker/line_assembler.h"
#include "worker/process_host.h"
#include "worker/spawn.h"

namespace bspnow {
namespace {

constexpr std::uint64_t kPromptMs = 50;  // A line this long without its end is shown as a prompt.
constexpr int kNotFoundStatus = 127;
constexpr int kNotExecutableStatus = 126;
constexpr int kFailureStatus = 1;

class HostRun {
 public:
  HostRun(int socket, ReceivedPlan received, const RaisedLimits& limits);

  /// Until nothing of the job is left.
  void Run();

 private:
  using StreamKey = std::pair<Pid, Stream>;

  absl::Status CheckDescriptors() const;
  absl::Status StartAll();
  void OnOrder();
  void OnWorkerGone();
  void OnOutput(Pid pid, Stream stream, std::string_view bytes);
  void OnOutputEnded(Pid pid, Stream stream);
  void OnExited(Pid pid, int wait_status);
  void ShowPrompts();
  void SendOutput(const StreamKey& key, std::string_view text);
  void Report(const HostReport& report);
  void ReportNotStarted(const absl::Status& why);
  void MeterOutput();

  const int socket_;
  const RaisedLimits& limits_;
  ReceivedPlan received_;
  EventLoop loop_;
  std::map<StreamKey, LineAssembler> lines_;
  std::size_t running_ = 0;
  std::int64_t credit_bytes_ = kOutputCreditBytes;
  bool prompt_due_ = false;
  ProcessHost host_;
};

HostRun::HostRun(int socket, ReceivedPlan received, const RaisedLimits& limits)
    : socket_(socket),
      limits_(limits),
      received_(std::move(received)),
      host_(loop_,
            SharedMemory{.segment = received_.segment.get(),
                         .segment_bytes = received_.plan.segment_bytes,
                         .doorbell = received_.doorbell.get()},
            ProcessEvents{
                .attached =
                    [this](Pid pid, pid_t os_pid) {
                      Report({.kind = HostReport::kAttached,
                              .pid = pid,
                              .number = static_cast<std::uint64_t>(os_pid)});
                    },
                .begun = [this](Pid pid) { Report({.kind = HostReport::kBegun, .pid = pid}); },
                .output = [this](Pid pid, Stream stream,
                                 std::string_view bytes) { OnOutput(pid, stream, bytes); },
                .output_ended = [this](Pid pid, Stream stream) { OnOutputEnded(pid, stream); },
                .exited = [this](Pid pid, int status) { OnExited(pid, status); }}) {
  for (const Pid pid : received_.plan.pids) {
    for (const Stream stream : {Stream::kOutput, Stream::kError}) {
      lines_.try_emplace({pid, stream}, std::string());
    }
  }
  loop_.OnReadable(socket_, [this] { OnOrder(); });
}

void HostRun::Run() {
  const HostPlan& plan = received_.plan;
  absl::Status started = CheckDescriptors();
  if (started.ok()) started = StartAll();
  received_.input.Reset();  // Else a writer would never hear that pid 0 has closed it.
  if (started.ok()) {
    running_ = plan.pids.size();
    Report({.kind = HostReport::kStarted});
    loop_.Run();
  } else {
    host_.KillAll();
    ReportNotStarted(started);
  }
  host_.Finish();
  Report({.kind = HostReport::kFinished});
}

absl::Status HostRun::CheckDescriptors() const {
  const std::size_t processes = received_.plan.pids.size();
  const std::uint64_t needed = kDescriptorsPerProcess * processes + kDescriptorsBesides;
  if (limits_.descriptors() >= needed) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(processes, " processes on a node need ", needed, " descriptors, and ",
                   limits_.descriptors(), " are allowed; raise the worker's limit (ulimit -n)"));
}

absl::Status HostRun::StartAll() {
  const HostPlan& plan = received_.plan;
  return host_.Start(ProcessPlan{.program = plan.program,
                                 .arguments = plan.arguments,
                                 .environment = plan.environment,
                                 .directory = plan.directory,
                                 .pids = plan.pids,
                                 .input = received_.input.get(),
                                 .processors = plan.processors,
                                 .memory_bytes = plan.memory_bytes,
                                 .limits = limits_});
}

// ---- The worker ---------------------------------------------------------------------------------

void HostRun::OnOrder() {
  char packet[kHostPacketBytesMax];
  const ssize_t n = recv(socket_, packet, sizeof packet, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    OnWorkerGone();
    return;
  }
  const absl::StatusOr<HostOrder> order =
      DecodeOrder(std::string_view(packet, static_cast<std::size_t>(n)));
  if (!order.ok()) return;  // Of a worker of another version: it will not mean much to us.
  if (order->kind == HostOrder::kKillAll) host_.KillAll();
  if (order->kind == HostOrder::kSignal) host_.Signal(static_cast<int>(order->number));
  if (order->kind == HostOrder::kCredit) {
    credit_bytes_ += static_cast<std::int64_t>(order->number);
    MeterOutput();
  }
}

void HostRun::OnWorkerGone() {
  loop_.Forget(socket_);
  host_.KillAll();
}

void HostRun::Report(const HostReport& report) {
  // Waits while the worker is busy, and so do the programs. If it is gone nobody wants to know.
  const std::string packet = Encode(report);
  send(socket_, packet.data(), packet.size(), MSG_NOSIGNAL);
}

void HostRun::ReportNotStarted(const absl::Status& why) {
  int status = kFailureStatus;
  if (absl::IsNotFound(why)) status = kNotFoundStatus;
  if (absl::IsPermissionDenied(why)) status = kNotExecutableStatus;
  Report({.kind = HostReport::kNotStarted,
          .number = static_cast<std::uint64_t>(status),
          .text = std::string(why.message())});
}

// ---- Output -------------------------------------------------------------------------------------

void HostRun::OnOutput(Pid pid, Stream stream, std::string_view bytes) {
  LineAssembler& assembler = lines_.at({pid, stream});
  SendOutput({pid, stream}, assembler.Add(bytes));
  if (received_.plan.interactive && assembler.has_partial() && !std::exchange(prompt_due_, true)) {
    loop_.SetTimer(kPromptMs, [this] { ShowPrompts(); });
  }
}

void HostRun::ShowPrompts() {
  prompt_due_ = false;
  for (auto& [key, assembler] : lines_) {
    if (assembler.has_partial()) SendOutput(key, assembler.TakePartial());
  }
}

void HostRun::OnOutputEnded(Pid pid, Stream stream) {
  SendOutput({pid, stream}, lines_.at({pid, stream}).Finish());
}

// Whole lines as far as they fit.
void HostRun::SendOutput(const StreamKey& key, std::string_view text) {
  while (!text.empty()) {
    std::string_view part = text.substr(0, kHostTextBytesMax);
    if (part.size() < text.size()) {
      const std::size_t newline = part.rfind('\n');
      if (newline != std::string_view::npos) part = part.substr(0, newline + 1);
    }
    Report({.kind = HostReport::kOutput,
            .pid = key.first,
            .number = static_cast<std::uint64_t>(key.second),
            .text = std::string(part)});
    credit_bytes_ -= OutputCharge(part.size());
    text.remove_prefix(part.size());
  }
  MeterOutput();
}

void HostRun::MeterOutput() {
  if (credit_bytes_ > 0) {
    host_.ResumeOutput();
  } else {
    host_.PauseOutput();
  }
}

// ---- The end ------------------------------------------------------------------------------------

void HostRun::OnExited(Pid pid, int wait_status) {
  Report({.kind = HostReport::kExited,
          .pid = pid,
          .number = static_cast<std::uint64_t>(static_cast<std::uint32_t>(wait_status))});
  running_ -= 1;
  if (running_ == 0) loop_.Stop();
}

// Only the worker ends us. Programs find all signals as they should be (see Spawn).
void PrepareSignals() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  for (const int blocked : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2}) {
    signal(blocked, SIG_DFL);
    sigaddset(&set, blocked);
  }
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

int Main() {
  // The worker's end closes the socket: then we still have to kill what would outlive us.
  prctl(PR_SET_PDEATHSIG, 0);
  // What a terminal sends to the worker is not for us. Not setsid: a session is an autogroup of the
  // scheduler, sched_yield stays within its group, and worker and processes must yield to each
  // other.
  setpgid(0, 0);
  PrepareSignals();
  const RaisedLimits limits;
  absl::StatusOr<ReceivedPlan> plan = ReceivePlan(kLinkFd);
  if (!plan.ok()) {
    const std::string packet = Encode(HostReport{.kind = HostReport::kNotStarted,
                                                 .number = kFailureStatus,
                                                 .text = std::string(plan.status().message())});
    send(kLinkFd, packet.data(), packet.size(), MSG_NOSIGNAL);
    return kFailureStatus;
  }
  HostRun run(kLinkFd, std::move(*plan), limits);
  run.Run();
  return 0;
}

}  // namespace
}  // namespace bspnow

int main() { return bspnow::Main(); }
