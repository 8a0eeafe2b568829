#include "worker/host/process_host.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/units.h"
#include "runtime/image/image_format.h"
#include "worker/host/link_answer.h"
#include "worker/host/spawn.h"

namespace bspnow::worker {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::uint64_t kLinkWhileMs = 100;
constexpr std::uint32_t kLinkMessagesInAWhile = 64;
constexpr std::uint64_t kAnswerAgainMs = 20;
constexpr std::uint64_t kAnswerNs = 10 * kNsPerS;  // Until descriptors have room on their way.
// Output in many small pieces is left in the pipe for a while: a piece costs as much as a page.
constexpr std::uint64_t kGatherMs = 1;
constexpr std::uint64_t kSoonNs = 4'000'000;
constexpr std::uint32_t kPiecesAtOnce = 16;

absl::Status Exhausted(const char* what) {
  return absl::ResourceExhaustedError(absl::StrCat(what, ": ", strerror(errno)));
}

// A descriptor that gives end of file: a pipe that nobody can write to. Needs no /dev/null.
UniqueFd EmptyInput() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const UniqueFd write_end(ends[1]);
  return UniqueFd(ends[0]);
}

sigset_t ChildSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  return set;
}

// The children of this process, whoever started them: orphans of the job come to us because we are
// their subreaper.
std::vector<pid_t> Children() {
  const pid_t self = getpid();
  std::ifstream file(absl::StrCat("/proc/self/task/", self, "/children"));
  std::vector<pid_t> children;
  pid_t child;
  while (file >> child) children.push_back(child);
  return children;
}

}  // namespace

ProcessHost::ProcessHost(EventLoop& loop, const SharedMemory& memory, ProcessOwner& owner)
    : loop_(loop), memory_(memory), owner_(owner) {
  const sigset_t set = ChildSignals();
  signal(SIGCHLD, SIG_DFL);  // If it is inherited as ignored no signal comes at an end.
  sigprocmask(SIG_BLOCK, &set, nullptr);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  child_signals_ = UniqueFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  BSP_CHECK(child_signals_.valid());
  loop_.OnReadable(child_signals_.get(), [this] { OnSignals(); });
}

ProcessHost::~ProcessHost() {
  KillAll();
  Finish();
  loop_.CancelTimer(gather_timer_);
  loop_.Forget(child_signals_.get());
}

absl::Status ProcessHost::Start(const ProcessPlan& plan) {
  processors_ = plan.processors;
  for (const Pid pid : plan.pids) processes_[pid];
  for (const Pid pid : plan.pids) {
    if (absl::Status s = StartOne(plan, pid); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status ProcessHost::StartOne(const ProcessPlan& plan, Pid pid) {
  int link[2];
  int output[2];
  int error[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link) != 0) {
    return Exhausted("making a socket");
  }
  Hosted& process = hosted(pid);
  process.link = UniqueFd(link[0]);
  const UniqueFd their_link(link[1]);
  if (pipe2(output, O_CLOEXEC) != 0) return Exhausted("making a pipe");
  process.output = UniqueFd(output[0]);
  const UniqueFd their_output(output[1]);
  if (pipe2(error, O_CLOEXEC) != 0) return Exhausted("making a pipe");
  process.error = UniqueFd(error[0]);
  const UniqueFd their_error(error[1]);
  const bool reads = pid == Pid{0} && plan.input >= 0;
  const UniqueFd nothing = reads ? UniqueFd() : EmptyInput();
  fchmod(output[1], kOutputPipeMode);
  fchmod(error[1], kErrorPipeMode);
  fcntl(process.output.get(), F_SETFL, O_NONBLOCK);
  fcntl(process.error.get(), F_SETFL, O_NONBLOCK);

  const auto own = plan.arguments_by_pid.find(pid);
  const SpawnRequest request{
      .program = plan.program,
      .arguments = own == plan.arguments_by_pid.end() ? plan.arguments : own->second,
      .environment = ProcessEnvironment(plan.environment, pid),
      .directory = plan.directory,
      .other_directory = plan.other_directory.c_str(),
      .standard = {reads ? plan.input : nothing.get(), their_output.get(), their_error.get()},
      .link = their_link.get(),
      .memory_bytes = plan.memory_bytes,
      .core = plan.core,
      .limits = plan.limits,
      .account = plan.account,
      .filter = plan.filter};
  absl::StatusOr<pid_t> spawned = Spawn(request);
  if (!spawned.ok()) return spawned.status();
  process.os_pid = *spawned;
  by_os_pid_[process.os_pid] = pid;
  WatchLink(pid);
  WatchOutput(pid);
  return absl::OkStatus();
}

// ---- The link -----------------------------------------------------------------------------------

namespace {

/// The longest message; the others are its beginning.
union LinkMessage {
  LinkHello hello;
  LinkImageReport report;
};

}  // namespace

void ProcessHost::WatchLink(Pid pid) {
  const UniqueFd& link = hosted(pid).link;
  if (link.valid()) loop_.OnReadable(link.get(), [this, pid] { OnLink(pid); });
}

// What comes here becomes events for worker and coordinator, who do not ask for it: a process that
// sends more than any program does waits.
void ProcessHost::MeterLink(Pid pid) {
  Hosted& process = hosted(pid);
  const std::uint64_t now_ns = NowNs();
  if (now_ns - process.messages_since_ns > kLinkWhileMs * kNsPerMs) {
    process.messages_since_ns = now_ns;
    process.messages = 0;
  }
  process.messages += 1;
  if (process.messages < kLinkMessagesInAWhile) return;
  loop_.StopReading(process.link.get());
  loop_.AddTimer(kLinkWhileMs, [this, pid] { WatchLink(pid); });
}

void ProcessHost::OnLink(Pid pid) {
  MeterLink(pid);
  LinkMessage message;
  const ssize_t n = recv(hosted(pid).link.get(), &message, sizeof message, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const bool ours =
      n >= static_cast<ssize_t>(sizeof(LinkHello)) && message.hello.magic == kLinkMagic;
  if (ours && n == sizeof(LinkHello)) return OnHello(pid, message.hello);
  if (ours && n == sizeof(LinkImageReport) && message.report.kind == LinkImageReport::kKind) {
    message.report.reason[LinkImageReport::kReasonBytes - 1] = '\0';
    return owner_.OnImageReported(pid, message.report);
  }
  // The end, or not libbsp: this process gets no segment, and sees the close.
  const std::string why =
      n < 0    ? absl::StrCat("its link failed: ", strerror(errno))
      : n == 0 ? "it has closed its link to bspnow, a descriptor that it had not opened"
               : absl::StrCat("it sent ", n, " bytes that make no sense");
  LoseLink(pid, why);
}

void ProcessHost::LoseLink(Pid pid, const std::string& why) {
  loop_.Forget(hosted(pid).link.get());
  hosted(pid).link.Reset();
  owner_.OnLinkLost(pid, why);
}

void ProcessHost::Answer(Pid pid, std::span<const std::byte> text,
                         std::span<const int> descriptors) {
  if (LinkAnswer::Send(hosted(pid).link.get(), text, descriptors)) return;
  AnswerLater(pid, std::make_shared<LinkAnswer>(text, descriptors), NowNs() + kAnswerNs);
}

// Nobody waits for ever: the process hears that the link is closed, and says so.
void ProcessHost::AnswerLater(Pid pid, std::shared_ptr<LinkAnswer> answer, std::uint64_t until_ns) {
  loop_.AddTimer(kAnswerAgainMs, [this, pid, answer, until_ns] {
    if (!hosted(pid).link.valid() || answer->Send(hosted(pid).link.get())) return;
    if (NowNs() < until_ns) return AnswerLater(pid, answer, until_ns);
    LoseLink(pid, absl::StrCat("no descriptor could be handed to it: ", strerror(errno)));
  });
}

void ProcessHost::OnHello(Pid pid, const LinkHello& hello) {
  switch (hello.kind) {
    case LinkHello::kHello:
      return Welcome(pid);
    case LinkHello::kBegin:
      if (!std::exchange(hosted(pid).begun, true)) owner_.OnBegun(pid);
      return;
    case LinkHello::kSaving:
      if (!owner_.OnSaving(pid)) AnswerImagePlace(pid, -1);
      return;
    case LinkHello::kResume:
      if (!owner_.OnResume(pid)) AnswerImagePlace(pid, -1);
      return;
    default:
      return;
  }
}

void ProcessHost::Welcome(Pid pid) {
  // A script may start several BSP programs; the job has room for one in each process.
  const bool refused = std::exchange(hosted(pid).welcomed, true);
  if (!refused) owner_.OnAttached(pid);
  LinkWelcome welcome{.magic = kLinkMagic,
                      .version = kLinkVersion,
                      .pid = refused ? kRefusedPid : Value(pid),
                      .processors = processors_,
                      .segment_bytes = memory_.segment_bytes};
  const int descriptors[] = {memory_.segment, memory_.doorbell, memory_.mailbox};
  Answer(pid, std::as_bytes(std::span(&welcome, 1)), descriptors);
}

void ProcessHost::AnswerImagePlace(Pid pid, int descriptor) {
  LinkImagePlace place{.magic = kLinkMagic, .version = kLinkVersion};
  Answer(pid, std::as_bytes(std::span(&place, 1)), {&descriptor, 1});
}

// ---- Output -------------------------------------------------------------------------------------

UniqueFd& ProcessHost::descriptor(Pid pid, Stream stream) {
  return stream == Stream::kOutput ? hosted(pid).output : hosted(pid).error;
}

void ProcessHost::WatchOutput(Pid pid) {
  for (const Stream stream : {Stream::kOutput, Stream::kError}) WatchStream(pid, stream);
}

void ProcessHost::WatchStream(Pid pid, Stream stream) {
  const UniqueFd& fd = descriptor(pid, stream);
  if (fd.valid()) loop_.OnReadable(fd.get(), [this, pid, stream] { ReadStream(pid, stream); });
}

void ProcessHost::ReadStream(Pid pid, Stream stream) {
  UniqueFd& fd = descriptor(pid, stream);
  char bytes[kReadBytes];
  const ssize_t n = read(fd.get(), bytes, sizeof bytes);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n > 0) {
    owner_.OnOutput(pid, stream, std::string_view(bytes, static_cast<std::size_t>(n)));
    if (static_cast<std::size_t>(n) < sizeof bytes / 2) LetGather(pid, stream);
    return;
  }
  loop_.Forget(fd.get());
  fd.Reset();
  owner_.OnOutputEnded(pid, stream);
}

// A line that comes alone is read at once, and so are the first ones of many.
void ProcessHost::LetGather(Pid pid, Stream stream) {
  Hosted& process = hosted(pid);
  const std::uint64_t now_ns = NowNs();
  process.pieces = now_ns - process.printed_ns < kSoonNs ? process.pieces + 1 : 0;
  process.printed_ns = now_ns;
  if (process.pieces < kPiecesAtOnce || output_paused_) return;
  loop_.StopReading(descriptor(pid, stream).get());
  gathering_.emplace_back(pid, stream);
  if (gather_timer_ != kNoTimer) return;
  gather_timer_ = loop_.AddTimer(kGatherMs, [this] { ReadGathered(); });
}

void ProcessHost::ReadGathered() {
  gather_timer_ = kNoTimer;
  for (const auto& [pid, stream] : std::exchange(gathering_, {}))
    if (!output_paused_) WatchStream(pid, stream);
}

// Does not wait for the pipes' end, nor for a descendant that goes on writing.
void ProcessHost::DrainOutput(Pid pid) {
  for (const Stream stream : {Stream::kOutput, Stream::kError}) {
    int left = 0;
    const UniqueFd& fd = descriptor(pid, stream);
    if (fd.valid()) ioctl(fd.get(), FIONREAD, &left);
    while (left > 0) {
      char bytes[kReadBytes];
      const ssize_t n = read(fd.get(), bytes, std::min<std::size_t>(sizeof bytes, left));
      if (n <= 0) break;
      owner_.OnOutput(pid, stream, std::string_view(bytes, static_cast<std::size_t>(n)));
      left -= static_cast<int>(n);
    }
  }
}

// Of a process that has ended: a last line without a newline is complete by that. What it has
// started may still have the pipes, and print more.
void ProcessHost::TakeEndOfOutput(Pid pid) {
  for (const Stream stream : {Stream::kOutput, Stream::kError})
    if (descriptor(pid, stream).valid()) ReadStream(pid, stream);
}

void ProcessHost::PauseOutput() {
  if (std::exchange(output_paused_, true)) return;
  for (const auto& [pid, process] : processes_) {
    if (process.output.valid()) loop_.Forget(process.output.get());
    if (process.error.valid()) loop_.Forget(process.error.get());
  }
}

void ProcessHost::ResumeOutput() {
  if (!std::exchange(output_paused_, false)) return;
  for (const auto& [pid, process] : processes_) WatchOutput(pid);
}

// ---- The end ------------------------------------------------------------------------------------

void ProcessHost::OnSignals() {
  signalfd_siginfo info;
  while (read(child_signals_.get(), &info, sizeof info) == sizeof info) {
  }
  Reap();
}

void ProcessHost::Reap() {
  for (;;) {
    const ReapedChild child = ReapChild();
    if (child.os_pid <= 0) return;
    const auto found = by_os_pid_.find(child.os_pid);
    if (found == by_os_pid_.end()) {  // A descendant that became ours, or the owner's.
      owner_.OnOtherExited(child.os_pid, child.status);
      continue;
    }
    const Pid pid = found->second;
    by_os_pid_.erase(found);
    hosted(pid).os_pid = 0;
    DrainOutput(pid);
    TakeEndOfOutput(pid);
    owner_.OnExited(pid, child.status, child.usage);
  }
}

void ProcessHost::Signal(int signal) {
  for (const auto& [os_pid, pid] : by_os_pid_) kill(os_pid, signal);
}

void ProcessHost::KillAll() { Signal(SIGKILL); }

void ProcessHost::Finish() {
  // Descendants may be starting others: until none is left.
  for (std::vector<pid_t> children = Children(); !children.empty(); children = Children()) {
    for (const pid_t child : children) kill(child, SIGKILL);
    for (const pid_t child : children) waitpid(child, nullptr, __WALL);
  }
  for (auto& [pid, process] : processes_) {
    DrainOutput(pid);
    for (const Stream stream : {Stream::kOutput, Stream::kError}) {
      UniqueFd& fd = descriptor(pid, stream);
      if (!fd.valid()) continue;
      loop_.Forget(fd.get());
      fd.Reset();
      owner_.OnOutputEnded(pid, stream);
    }
    if (process.link.valid()) loop_.Forget(process.link.get());
    process.link.Reset();
  }
}

}  // namespace bspnow::worker
