#include "worker/host/host_link.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "base/environment.h"
#include "worker/host/spawn.h"

namespace bspnow::worker {
namespace {

// The worker's loop waits for it, and its heartbeats do.
constexpr int kBusyTries = 100;
constexpr int kPatienceMs = 5'000;

absl::Status Failed(const char* what) {
  return absl::ResourceExhaustedError(absl::StrCat(what, ": ", strerror(errno)));
}

}  // namespace

absl::StatusOr<StartedHost> StartHost(const HostProgram& program, const proto::HostPlan& plan,
                                      const PlanDescriptors& descriptors) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Failed("making a socket");
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  if (absl::Status sent = SendPlan(ours.get(), plan, descriptors); !sent.ok()) return sent;
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<std::string> arguments = {"bsp-host", program.name};
  const std::vector<std::string> environment = EnvironmentWith({});
  const std::string here;
  absl::StatusOr<pid_t> spawned =
      Spawn(SpawnRequest{.program = program.path,
                         .arguments = arguments,
                         .environment = environment,
                         .directory = here,
                         .standard = {nothing.get(), STDERR_FILENO, STDERR_FILENO},
                         .link = theirs.get(),
                         .memory_bytes = 0,
                         .limits = program.limits,
                         .cgroups = program.cgroups,
                         .busy_tries = kBusyTries,
                         .patience_ms = kPatienceMs});
  // Not NotFound: that means the job's program.
  if (absl::IsUnavailable(spawned.status())) return spawned.status();
  if (!spawned.ok()) return absl::InternalError(spawned.status().message());
  // glibc 2.36 declares pidfd_open for C only.
  UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, *spawned, 0)));
  if (!process.valid()) {
    const absl::Status unwatched = Failed("watching bsp-host");
    kill(*spawned, SIGKILL);  // It has started nothing yet, or what it has started dies with it.
    waitpid(*spawned, nullptr, 0);
    return unwatched;
  }
  return StartedHost{.os_pid = *spawned, .process = std::move(process), .socket = std::move(ours)};
}

HostLink::HostLink(EventLoop& loop, StartedHost started,
                   std::function<void(proto::WorkerEvent)> report, std::function<void()> gone)
    : loop_(loop), host_(std::move(started)), report_(std::move(report)), gone_(std::move(gone)) {
  loop_.OnReadable(host_.socket.get(), [this] { ReadEvent(); });
  loop_.OnReadable(host_.process.get(), [this] { OnEnded(); });
}

HostLink::~HostLink() {
  loop_.CancelTimer(kill_timer_);
  loop_.Forget(host_.process.get());
  if (!host_.socket.valid()) return;
  loop_.Forget(host_.socket.get());
  // The close is the order to end; it is ours to wait for that.
  host_.socket.Reset();
  if (host_.os_pid == 0) return;
  kill(host_.os_pid, SIGCONT);
  pollfd ended{.fd = host_.process.get(), .events = POLLIN, .revents = 0};
  if (poll(&ended, 1, static_cast<int>(host_.kill_grace_ms)) == 0) kill(host_.os_pid, SIGKILL);
  waitpid(host_.os_pid, nullptr, 0);
}

// A process of the job may have stopped it, and may do that again.
void HostLink::OnToldToEnd() {
  if (host_.os_pid == 0 || kill_timer_ != kNoTimer) return;
  kill(host_.os_pid, SIGCONT);
  kill_timer_ = loop_.AddTimer(host_.kill_grace_ms, [this] {
    spdlog::warn("event=host_killed os_pid={} reason=\"has not ended within {} ms\"", host_.os_pid,
                 host_.kill_grace_ms);
    kill(host_.os_pid, SIGKILL);
  });
}

void HostLink::Send(const proto::HostOrder& order) {
  if (order.has_kill_all()) OnToldToEnd();
  unsent_.push_back(order.SerializeAsString());
  if (unsent_.size() == 1) Flush();
}

void HostLink::Flush() {
  while (!unsent_.empty() && host_.socket.valid()) {
    const std::string& packet = unsent_.front();
    if (send(host_.socket.get(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
      if (errno != EAGAIN) break;  // It has ended, and OnEnded will come.
      loop_.OnWritable(host_.socket.get(), [this] { Flush(); });
      return;
    }
    unsent_.pop_front();
  }
  unsent_.clear();
  if (host_.socket.valid()) loop_.StopWriting(host_.socket.get());
}

bool HostLink::ReadEvent() {
  char packet[kHostPacketBytesMax];
  const ssize_t n = recv(host_.socket.get(), packet, sizeof packet, MSG_DONTWAIT);
  if (n <= 0) {
    if (n == 0) loop_.StopReading(host_.socket.get());  // Its end follows.
    return false;
  }
  OnPacket(std::string_view(packet, static_cast<std::size_t>(n)));
  return true;
}

void HostLink::OnPacket(std::string_view packet) {
  absl::StatusOr<proto::WorkerEvent> event = DecodeEvent(packet);
  if (!event.ok()) return;
  auto whole = joiner_.Add(*std::move(event));
  if (whole.ok() && *whole) report_(**std::move(whole));
}

void HostLink::OnEnded() {
  while (ReadEvent()) {
  }
  loop_.CancelTimer(kill_timer_);
  waitpid(host_.os_pid, nullptr, 0);
  host_.os_pid = 0;
  loop_.Forget(host_.process.get());
  loop_.Forget(host_.socket.get());
  host_.socket.Reset();
  const std::function<void()> gone = std::move(gone_);
  gone();
}

}  // namespace bspnow::worker
