// bsp-host: hosts the processes of one job on one node for bsp-worker, which starts it with a
// socket as descriptor 3 (worker/host/host_channel.h). It is the subreaper of all that the job
// starts, so it knows exactly what belongs to the job; before it ends, because the processes are
// done or the worker is gone, it kills and reaps all of that.
#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/exit_status.h"
#include "base/raised_limits.h"
#include "net/event_loop.h"
#include "worker/host/account.h"
#include "worker/host/checkpoint_host.h"
#include "worker/host/host_channel.h"
#include "worker/host/job_output.h"
#include "worker/host/line_assembler.h"
#include "worker/host/process_host.h"
#include "worker/host/spawn.h"
#include "worker/host/system_calls.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kWritersCheckMs = 1000;

// Waits while the worker is busy, and so do the programs. If the worker is gone nobody reads it.
void SendEvent(int socket, const proto::WorkerEvent& event) {
  const std::string packet = event.SerializeAsString();
  send(socket, packet.data(), packet.size(), MSG_NOSIGNAL);
}

void SendNotStarted(int socket, const absl::Status& why) {
  int status = kFailureStatus;
  if (absl::IsNotFound(why)) status = kNotFoundStatus;
  if (absl::IsPermissionDenied(why)) status = kNotExecutableStatus;
  proto::WorkerEvent event;
  event.mutable_not_started()->set_exit_status(status);
  event.mutable_not_started()->set_reason(std::string(why.message()));
  SendEvent(socket, event);
}

std::optional<Account> AccountOf(const proto::HostPlan& plan) {
  if (!plan.has_account()) return std::nullopt;
  const proto::HostAccount& account = plan.account();
  return Account{.name = account.name(),
                 .user = account.user(),
                 .group = account.group(),
                 .groups = {account.groups().begin(), account.groups().end()},
                 .home = account.home()};
}

class HostRun final : private ProcessOwner, private CheckpointOwner {
 public:
  HostRun(int socket, ReceivedPlan received, const RaisedLimits& limits);

  /// Until nothing of the job is left.
  void Run();

 private:
  void OnAttached(Pid pid) override;
  void OnBegun(Pid pid) override;
  void OnOutput(Pid pid, Stream stream, std::string_view bytes) override;
  void OnOutputEnded(Pid pid, Stream stream) override;
  void OnExited(Pid pid, int wait_status, const ProcessUsage& usage) override;
  bool OnSaving(Pid pid) override;
  bool OnResume(Pid pid) override;
  void OnImageReported(Pid pid, const LinkImageReport& report) override {
    checkpoints_.OnReported(pid, report);
  }
  void OnLinkLost(Pid pid, const std::string& why) override { checkpoints_.OnGone(pid, why); }
  void OnOtherExited(pid_t os_pid, int status) override {
    checkpoints_.OnOtherExited(os_pid, status);
  }
  void AnswerImagePlace(Pid pid, int directory) override { host_.AnswerImagePlace(pid, directory); }
  OutputCounts DrainOutput(Pid pid) override;
  std::vector<files::UnfinishedLine> UnfinishedLines() const override {
    return output_.Unfinished();
  }
  pid_t OsPidOf(Pid pid) const override { return host_.os_pid(pid); }
  void Report(proto::WorkerEvent event) override { SendEvent(socket_, event); }

  absl::Status CheckDescriptors() const;
  absl::Status StartAll();
  void OnOrder();
  void OnWorkerGone();
  void CheckWriters();
  void ShowPrompts();
  const proto::ResumedProcess* ResumedOf(Pid pid) const;
  void ReportNotResumed(Pid pid, const std::string& reason);
  void MeterOutput();

  const int socket_;
  const RaisedLimits& limits_;
  ReceivedPlan received_;
  const std::optional<Account> account_;
  const FilesAs files_as_;  ///< Its whole life: it needs no file of root's.
  EventLoop loop_;
  JobOutput output_;
  std::int64_t running_ = 0;
  bool prompt_due_ = false;
  bool writers_check_due_ = false;
  CheckpointHost checkpoints_;
  ProcessHost host_;
};

HostRun::HostRun(int socket, ReceivedPlan received, const RaisedLimits& limits)
    : socket_(socket),
      limits_(limits),
      received_(std::move(received)),
      account_(AccountOf(received_.plan)),
      files_as_(account_ ? &*account_ : nullptr),
      output_([this](proto::WorkerEvent event) { Report(std::move(event)); }),
      checkpoints_(received_.plan, received_.segment.get(), *this),
      host_(loop_,
            SharedMemory{.segment = received_.segment.get(),
                         .segment_bytes = received_.plan.segment_bytes(),
                         .doorbell = received_.doorbell.get(),
                         .mailbox = received_.mailbox.get()},
            *this) {
  for (const proto::HostedProcess& process : received_.plan.processes()) {
    if (process.has_resumed()) {
      output_.AddResumed(Pid{process.pid()}, process.resumed());
    } else {
      output_.AddProcess(Pid{process.pid()});
    }
  }
  loop_.OnReadable(socket_, [this] { OnOrder(); });
}

const proto::ResumedProcess* HostRun::ResumedOf(Pid pid) const {
  for (const proto::HostedProcess& process : received_.plan.processes()) {
    if (Pid{process.pid()} == pid && process.has_resumed()) return &process.resumed();
  }
  return nullptr;
}

void HostRun::Run() {
  absl::Status started = CheckDescriptors();
  if (started.ok()) started = StartAll();
  received_.input.Reset();  // Else a writer would never see that pid 0 has closed it.
  if (started.ok()) {
    running_ = received_.plan.processes_size();
    proto::WorkerEvent event;
    for (const proto::HostedProcess& process : received_.plan.processes()) {
      event.mutable_started()->add_pids(process.pid());
      event.mutable_started()->add_os_pids(
          static_cast<std::uint32_t>(host_.os_pid(Pid{process.pid()})));
    }
    Report(std::move(event));
    loop_.Run();
  } else {
    host_.KillAll();
    SendNotStarted(socket_, started);
  }
  host_.Finish();
}

absl::Status HostRun::CheckDescriptors() const {
  const auto processes = static_cast<std::uint64_t>(received_.plan.processes_size());
  const std::uint64_t needed = kDescriptorsPerProcess * processes + kDescriptorsBesides;
  if (limits_.descriptors() >= needed) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(processes, " processes on a node need ", needed, " descriptors, and ",
                   limits_.descriptors(), " are allowed; raise the worker's limit (ulimit -n)"));
}

absl::Status HostRun::StartAll() {
  const absl::StatusOr<std::vector<sock_filter>> filter = SystemCallFilter();
  if (!filter.ok()) return filter.status();
  const proto::HostPlan& plan = received_.plan;
  ProcessPlan processes{
      .program = plan.program(),
      .arguments = {plan.arguments().begin(), plan.arguments().end()},
      .environment = {plan.environment().begin(), plan.environment().end()},
      .directory = plan.directory(),
      .other_directory = plan.directory_optional() ? plan.job_directory() : std::string(),
      .pids = {},
      .input = received_.input.get(),
      .processors = plan.processors(),
      .memory_bytes = plan.memory_bytes(),
      .core = plan.core(),
      .limits = limits_,
      .account = account_ ? &*account_ : nullptr,
      .filter = *filter};
  for (const proto::HostedProcess& process : plan.processes()) {
    const Pid pid{process.pid()};
    processes.pids.push_back(pid);
    const auto& own = process.resumed().arguments();
    if (!own.empty()) processes.arguments_by_pid[pid] = {own.begin(), own.end()};
  }
  return host_.Start(processes);
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
  const absl::StatusOr<proto::HostOrder> order =
      DecodeOrder(std::string_view(packet, static_cast<std::size_t>(n)));
  if (!order.ok()) return;  // Of a worker of another version: it will not mean much to us.
  switch (order->what_case()) {
    case proto::HostOrder::kKillAll:
      return host_.KillAll();
    case proto::HostOrder::kSignal:
      return host_.Signal(order->signal());
    case proto::HostOrder::kNoRoom:
      return checkpoints_.Refuse(order->no_room());
    case proto::HostOrder::kCreditBytes:
      output_.Grant(order->credit_bytes());
      return MeterOutput();
    case proto::HostOrder::WHAT_NOT_SET:
      return;
  }
}

void HostRun::OnWorkerGone() {
  loop_.Forget(socket_);
  host_.KillAll();
}

// ---- Output -------------------------------------------------------------------------------------

// Now the program speaks, no longer bsp-restore.
void HostRun::OnAttached(Pid pid) {
  if (output_.hearing(pid) == JobOutput::Hearing::kComplaint) output_.Hear(pid);
}

void HostRun::OnBegun(Pid pid) {
  proto::WorkerEvent event;
  event.mutable_begun()->set_pid(Value(pid));
  Report(std::move(event));
}

void HostRun::OnOutput(Pid pid, Stream stream, std::string_view bytes) {
  output_.OnBytes(pid, stream, bytes);
  MeterOutput();
  if (received_.plan.interactive() && output_.has_prompts() && !std::exchange(prompt_due_, true)) {
    loop_.AddTimer(LineAssembler::kPromptMs, [this] { ShowPrompts(); });
  }
}

void HostRun::ShowPrompts() {
  prompt_due_ = false;
  output_.ShowPrompts();
  MeterOutput();
}

void HostRun::OnOutputEnded(Pid pid, Stream stream) {
  output_.OnEnd(pid, stream);
  MeterOutput();
}

void HostRun::MeterOutput() {
  if (output_.has_credit()) {
    host_.ResumeOutput();
  } else {
    host_.PauseOutput();
  }
}

// ---- Checkpoints --------------------------------------------------------------------------------

bool HostRun::OnSaving(Pid pid) {
  checkpoints_.OnAsked(pid);
  CheckWriters();
  return true;
}

OutputCounts HostRun::DrainOutput(Pid pid) {
  host_.DrainOutput(pid);
  return output_.Sent(pid);
}

// What the process has printed up to here it had printed before the checkpoint.
bool HostRun::OnResume(Pid pid) {
  const proto::ResumedProcess* const resumed = ResumedOf(pid);
  if (resumed == nullptr || resumed->areas_image().empty()) return false;
  host_.DrainOutput(pid);
  output_.Hear(pid);
  const UniqueFd image(open(resumed->areas_image().c_str(), O_RDONLY | O_CLOEXEC));
  if (image.valid()) {
    host_.AnswerImagePlace(pid, image.get());
  } else {
    ReportNotResumed(pid, absl::StrCat("opening ", resumed->areas_image(), ": ", strerror(errno)));
  }
  return true;
}

void HostRun::ReportNotResumed(Pid pid, const std::string& reason) {
  proto::WorkerEvent event;
  event.mutable_restore_failed()->set_reason(absl::StrCat("pid ", Value(pid), ": ", reason));
  Report(std::move(event));
}

void HostRun::CheckWriters() {
  if (!checkpoints_.under_way() || std::exchange(writers_check_due_, true)) return;
  loop_.AddTimer(kWritersCheckMs, [this] {
    writers_check_due_ = false;
    checkpoints_.CheckWaits(NowNs());
    CheckWriters();
  });
}

// ---- The end ------------------------------------------------------------------------------------

/// One that was killed, for want of memory say, has not said why.
std::string EndOfRestore(int wait_status) {
  return WIFSIGNALED(wait_status)
             ? absl::StrCat("bsp-restore was killed by signal ", WTERMSIG(wait_status))
             : absl::StrCat("bsp-restore ended with status ", WEXITSTATUS(wait_status));
}

void HostRun::OnExited(Pid pid, int wait_status, const ProcessUsage& usage) {
  checkpoints_.OnGone(pid, "it has ended");
  if (output_.hearing(pid) == JobOutput::Hearing::kComplaint) {
    const absl::string_view said = absl::StripSuffix(output_.complaint(pid), "\n");
    ReportNotResumed(pid, said.empty() ? EndOfRestore(wait_status) : std::string(said));
  }
  proto::WorkerEvent event;
  proto::ProcessExited& exited = *event.mutable_exited();
  exited.set_pid(Value(pid));
  if (WIFEXITED(wait_status)) exited.set_exit_status(WEXITSTATUS(wait_status));
  if (WIFSIGNALED(wait_status)) exited.set_signal(WTERMSIG(wait_status));
  const OutputCounts counts = output_.Sent(pid);
  exited.set_output_bytes(counts.output_bytes);
  exited.set_error_bytes(counts.error_bytes);
  exited.set_cpu_ns(usage.cpu_ns);
  exited.set_peak_memory_bytes(usage.peak_memory_bytes);
  Report(std::move(event));
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
  // The worker's end closes the socket: then we still have to kill what would outlive us, even if
  // a process of the job has stopped us.
  prctl(PR_SET_PDEATHSIG, SIGCONT);
  // What a terminal sends to the worker is not for us. Not setsid: a session is an autogroup of the
  // scheduler, sched_yield stays within its group, and worker and processes must yield to each
  // other.
  setpgid(0, 0);
  PrepareSignals();
  const RaisedLimits limits;
  absl::StatusOr<ReceivedPlan> plan = ReceivePlan(kLinkFd);
  if (!plan.ok()) {
    SendNotStarted(kLinkFd, absl::InternalError(plan.status().message()));
    return kFailureStatus;
  }
  HostRun run(kLinkFd, std::move(*plan), limits);
  run.Run();
  return 0;
}

}  // namespace
}  // namespace bspnow::worker

int main() { return bspnow::worker::Main(); }
