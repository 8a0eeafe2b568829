#include "worker/host/spawn.h"

#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "runtime/link/link.h"
#include "worker/host/interpreter.h"

extern char** environ;

namespace bspnow::worker {
namespace {

constexpr int kReportFd = 4;
constexpr int kParkedFd = 10;  // Above all targets, so that no dup2 overwrites a source.

constexpr char kPidVariable[] = "BSP_PID";
constexpr char kFortranUnbuffered[] = "GFORTRAN_UNBUFFERED_PRECONNECTED";

constexpr char kOutOfMemoryScore[] = "500";  // Of -1000 to 1000, see proc(5).

// A program that was just written may be held open for a moment by a child that another thread
// forked meanwhile and that has not closed its descriptors yet. On a loaded machine that child may
// not run for a while.
constexpr int kBusyPauseMs = 1;

/// What the child says if it cannot become the program.
struct SpawnFailure {
  int error;
  bool in_directory;              ///< chdir failed, not execve.
  InterpreterPath interpreter{};  ///< What is not there, where the program is.
};
static_assert(sizeof(SpawnFailure) <= PIPE_BUF, "it is written and read as one");

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// If the machine runs out of memory, a program ends and not the worker.
void PreferForOutOfMemory() {
  const UniqueFd score(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (!score.valid()) return;
  [[maybe_unused]] const ssize_t n =
      write(score.get(), kOutOfMemoryScore, sizeof kOutOfMemoryScore - 1);
}

// Else what is typed into a terminal from which root has started the daemon could be read, and the
// terminal be typed into. A session of its own would be another autogroup (see bsp-host).
void LeaveTerminal() {
  const UniqueFd terminal(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (terminal.valid()) ioctl(terminal.get(), TIOCNOTTY);
}

bool Confine(std::span<const sock_filter> filter) {
  if (filter.empty()) return true;
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()),
                           .filter = const_cast<sock_filter*>(filter.data())};
  // Without the flag some kernels make the processor slower for a program that has a filter.
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) ==
             0;
}

void AllowCore() {
  rlimit core;
  if (getrlimit(RLIMIT_CORE, &core) != 0) return;
  core.rlim_cur = core.rlim_max;
  setrlimit(RLIMIT_CORE, &core);
}

// It may never return: only here, where nothing but this one process waits, is it asked.
bool Enter(const SpawnRequest& request) {
  if (request.directory.empty() || chdir(request.directory.c_str()) == 0) return true;
  return *request.other_directory != 0 && chdir(request.other_directory) == 0;
}

// In the child: only async-signal-safe calls.
[[noreturn]] void BecomeProgram(const SpawnRequest& request, char** arguments, char** environment,
                                int report, pid_t parent) {
  int report_fd = report;
  const auto fail = [&report_fd](const SpawnFailure& failure) {
    [[maybe_unused]] const ssize_t n = write(report_fd, &failure, sizeof failure);
    _exit(127);
  };
  static_assert(kLinkFd == 3 && kReportFd == 4, "the order below");
  // Should that fail it is killed by its descent, as where there are no groups.
  for (const int cgroup : request.cgroups) [[maybe_unused]] const ssize_t n = write(cgroup, "0", 1);
  int parked[5] = {request.standard[0], request.standard[1], request.standard[2], request.link,
                   report};
  for (int& fd : parked) {
    fd = fcntl(fd, F_DUPFD, kParkedFd);
    if (fd < 0) fail({errno, false});
  }
  report_fd = parked[4];
  for (int target = 0; target < 5; ++target) {
    if (dup2(parked[target], target) < 0) fail({errno, false});
  }
  report_fd = kReportFd;
  fcntl(kReportFd, F_SETFD, FD_CLOEXEC);
  syscall(SYS_close_range, kReportFd + 1, ~0u, 0);
  PreferForOutOfMemory();
  if (request.account != nullptr) LeaveTerminal();
  if (request.account != nullptr && !Become(*request.account)) fail({errno, false});
  prctl(PR_SET_PDEATHSIG, SIGKILL);     // Another user would have lost it.
  if (getppid() != parent) _exit(127);  // It died before the prctl.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  request.limits.Restore();
  if (request.memory_bytes != 0) {
    // Not RLIMIT_AS: the segment of a job is terabytes of addresses, and hardly any memory.
    const rlimit data{request.memory_bytes, request.memory_bytes};
    setrlimit(RLIMIT_DATA, &data);
  }
  if (request.core) AllowCore();
  if (!Enter(request)) fail({errno, true});
  if (!Confine(request.filter)) fail({errno, false});
  for (int tries = 0; tries < request.busy_tries; ++tries) {
    execve(request.program.c_str(), arguments, environment);
    if (errno != ETXTBSY) break;
    poll(nullptr, 0, kBusyPauseMs);
  }
  const int error = errno;
  const bool is_there = error == ENOENT && access(request.program.c_str(), F_OK) == 0;
  fail({error, false, is_there ? InterpreterOf(request.program.c_str()) : InterpreterPath{}});
  _exit(127);
}

std::string NeedsInterpreter(const std::string& program, const std::string& interpreter) {
  const bool ends_in_return = interpreter.ends_with('\r');
  return absl::StrCat(
      program, " needs ", absl::CHexEscape(interpreter), ", which is not there",
      ends_in_return ? "; lines of a script end with \\n, not with \\r\\n as on Windows" : "");
}

absl::Status Explain(const SpawnRequest& request, const SpawnFailure& failure) {
  if (failure.in_directory) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cannot run in the directory ", request.directory, " (--dir): ", strerror(failure.error)));
  }
  const std::string interpreter = failure.interpreter.text;
  const std::string what = interpreter.empty()
                               ? absl::StrCat(request.program, ": ", strerror(failure.error))
                               : NeedsInterpreter(request.program, interpreter);
  if (failure.error == ENOENT || failure.error == ENOTDIR) return absl::NotFoundError(what);
  if (failure.error == EACCES || failure.error == ENOEXEC || failure.error == EPERM) {
    return absl::PermissionDeniedError(what);
  }
  return absl::InternalError(what);
}

absl::Status GiveUp(const SpawnRequest& request, pid_t child) {
  kill(child, SIGKILL);  // It may be slow to die, too: who reaps orphans will reap it.
  return absl::UnavailableError(
      absl::StrCat("no process could begin in ", request.patience_ms,
                   " ms: ", request.directory.empty() ? request.program : request.directory,
                   " does not answer; is its file server away?"));
}

}  // namespace

absl::StatusOr<pid_t> Spawn(const SpawnRequest& request) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("making a pipe: ", strerror(errno)));
  }
  UniqueFd report_read(ends[0]);
  UniqueFd report_write(ends[1]);
  std::vector<char*> arguments = Pointers(request.arguments);
  std::vector<char*> environment = Pointers(request.environment);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    return absl::ResourceExhaustedError(absl::StrCat("starting a process: ", strerror(errno)));
  }
  if (child == 0) {
    BecomeProgram(request, arguments.data(), environment.data(), report_write.get(), parent);
  }
  report_write.Reset();
  pollfd said{.fd = report_read.get(), .events = POLLIN, .revents = 0};
  if (poll(&said, 1, request.patience_ms) == 0) return GiveUp(request, child);
  SpawnFailure failure;
  if (read(report_read.get(), &failure, sizeof failure) != sizeof failure) return child;
  waitpid(child, nullptr, 0);
  return Explain(request, failure);
}

std::vector<std::string> ProcessEnvironment(const std::vector<std::string>& environment, Pid pid) {
  const std::string own_pid = absl::StrCat(kPidVariable, "=");
  const std::string link = absl::StrCat(kLinkVariable, "=");
  const std::string unbuffered = absl::StrCat(kFortranUnbuffered, "=");
  std::vector<std::string> result;
  bool has_unbuffered = false;
  for (const std::string& variable : environment) {
    if (absl::StartsWith(variable, link) || absl::StartsWith(variable, own_pid)) continue;
    has_unbuffered |= absl::StartsWith(variable, unbuffered);
    result.push_back(variable);
  }
  result.push_back(absl::StrCat(link, kLinkFd));
  result.push_back(absl::StrCat(own_pid, Value(pid)));
  // gfortran's own output buffer would be lost when the job is ended by an error or a signal.
  if (!has_unbuffered) result.push_back(unbuffered + "y");
  return result;
}

}  // namespace bspnow::worker
