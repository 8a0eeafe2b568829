#include "client/run/local_run.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/exit_status.h"
#include "base/units.h"
#include "client/options/output_file.h"
#include "client/options/processors.h"
#include "client/run/local_machine.h"
#include "client/run/program_file.h"
#include "client/run/run_console.h"
#include "client/run/signal_watch.h"
#include "client/standard_output.h"
#include "client/view/barrier_view.h"
#include "client/view/quantities.h"
#include "coordinator/core/jobs/process_ends.h"
#include "coordinator/core/totals_message.h"
#include "net/event_loop.h"
#include "proto/jobs.pb.h"
#include "worker/exchange/barrier_watch.h"
#include "worker/exchange/deadlock_watch.h"
#include "worker/exchange/node_profile.h"
#include "worker/exchange/node_segment.h"
#include "worker/host/line_assembler.h"
#include "worker/host/process_host.h"

namespace bspnow::client {
namespace {

using coordinator::Actions;
using coordinator::ProcessEnd;
using coordinator::ProcessEnds;
using coordinator::Reached;

constexpr std::uint64_t kGraceMs = 2000;  // For programs that clean up on SIGINT or SIGTERM.
constexpr std::uint64_t kWatchMs = 2000;
constexpr std::uint64_t kBarrierPatienceNs = 10'000'000'000;
constexpr std::size_t kAwaitedShownMax = 16;

// The address space that the segment may take: BSP_ADDRESS_SPACE, if it is set (valgrind maps
// 32 GiB at most), else half of what `ulimit -v` allows. 0 if the variable makes no sense.
std::uint64_t AddressSpaceBytes() {
  if (const char* text = getenv("BSP_ADDRESS_SPACE")) return ParseMemory(text).value_or(0);
  rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  return std::min<std::uint64_t>(kAddressSpaceBytes, limit.rlim_cur / 2);
}

Reached ReachedBy(ProcessState state) {
  switch (state) {
    case ProcessState::kStarted:
      return Reached::kStarted;
    case ProcessState::kAttached:
      return Reached::kAttached;
    case ProcessState::kUnneeded:
      return Reached::kUnneeded;
    case ProcessState::kRunning:
      return Reached::kRunning;
    case ProcessState::kEnded:
      return Reached::kEnded;
    case ProcessState::kAborted:
      return Reached::kAborted;
  }
  return Reached::kStarted;  // The process wrote nonsense there.
}

std::string HostName() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, HOST_NAME_MAX) == 0 ? name : "this machine";
}

MessageSizes SizesOf(const std::optional<Simulation>& simulation) {
  if (!simulation) return {};
  return {.least_bytes = simulation->block_bytes, .more_bytes = simulation->half_bytes};
}

// A program knows the machine, one that is simulated too (bsp_g, and the choices of collective
// calls).
std::vector<std::string> Environment(const JobOptions& options) {
  std::vector<std::string> variables = options.environment;
  if (std::string machine = MachineOf(options); !machine.empty())
    variables.push_back(std::move(machine));
  return EnvironmentWith(variables);
}

int Fail(const std::string& message) {
  fprintf(stderr, "bsprun: %s\n", message.c_str());
  return kFailureStatus;
}

/// One job from start to end: the events of the host go to the job, its actions to the host.
class LocalRun final : private worker::ProcessOwner {
 public:
  LocalRun(const JobOptions& options, const std::string& program, const RaisedLimits& limits,
           worker::NodeSegment segment);

  int Run();

 private:
  void OnSignal(int signal);
  void Print(Pid pid, worker::Stream stream, const std::string& text);
  void OnBegun(Pid pid) override { Perform(job_.OnBegun(pid)); }
  void OnOutput(Pid pid, worker::Stream stream, std::string_view bytes) override;
  void OnOutputEnded(Pid pid, worker::Stream stream) override;
  void OnExited(Pid pid, int wait_status, const worker::ProcessUsage& usage) override;
  void Perform(const Actions& actions);
  void ShowPrompts();
  worker::BarrierLook Look() const;
  AwaitedProcesses AwaitedIn(const worker::BarrierLook& look) const;
  void SayState();
  void WatchBarrier();
  bool IsStranger() const;
  void Report();
  worker::LineAssembler& lines(Pid pid, worker::Stream stream);
  OutputPrinter& printer(worker::Stream stream) {
    return stream == worker::Stream::kOutput ? console_.output() : console_.error();
  }
  static int Source(Pid pid) { return static_cast<int>(Value(pid)); }

  const JobOptions& options_;
  const std::string& program_;
  const RaisedLimits& limits_;
  worker::NodeSegment segment_;
  std::vector<Pid> pids_;
  std::map<Pid, pid_t> os_pids_;  ///< Also of those that have ended.
  worker::BarrierWatch watch_{NowNs()};
  worker::DeadlockWatch deadlock_watch_;
  ProcessEnds job_;
  EventLoop loop_;
  RunConsole console_;
  std::vector<worker::LineAssembler> lines_;
  SignalWatch signals_;
  bool interactive_;
  bool interrupted_ = false;
  bool prompt_due_ = false;  ///< Since the first of some pieces: dots are to be seen.
  worker::ProcessHost host_;
};

LocalRun::LocalRun(const JobOptions& options, const std::string& program,
                   const RaisedLimits& limits, worker::NodeSegment segment)
    : options_(options),
      program_(program),
      limits_(limits),
      segment_(std::move(segment)),
      job_(options.nprocs),
      console_(loop_,
               {.drained = [this] { host_.ResumeOutput(); },
                .reader_left = [this](int signal) { OnSignal(signal); },
                .failed = [this](const std::string& why) { Perform(job_.OnOutputLost(why)); }}),
      signals_(loop_, [this](int signal) { OnSignal(signal); }),
      interactive_(isatty(STDIN_FILENO) || isatty(STDOUT_FILENO)),
      host_(loop_,
            worker::SharedMemory{.segment = segment_.fd(),
                                 .segment_bytes = segment_.bytes(),
                                 .doorbell = -1,
                                 .mailbox = -1},
            *this) {
  for (std::uint32_t i = 0; i < options.nprocs; ++i) {
    const std::string prefix = options.prefix_output ? absl::StrCat("[", i, "] ") : "";
    lines_.emplace_back(prefix);
    lines_.emplace_back(prefix);
    pids_.push_back(Pid{i});
  }
  // At a terminal it comes to the processes, too, and would end them; SignalWatch sees it.
  signal(SIGQUIT, SIG_IGN);
  WatchBarrier();
}

// The first request lets the programs clean up, the second does not wait for that.
void LocalRun::OnSignal(int signal) {
  if (signal == SIGUSR1 || signal == SIGUSR2) return host_.Signal(signal);
  if (signal == SIGQUIT) return SayState();
  job_.OnInterrupted(signal);  // Its actions come with the grace below.
  const auto end_now = [this] {
    host_.KillAll();
    console_.GiveUp();
  };
  if (std::exchange(interrupted_, true)) return end_now();
  host_.Signal(signal == SIGPIPE ? SIGTERM : signal);
  loop_.AddTimer(kGraceMs, end_now);
}

AwaitedProcesses LocalRun::AwaitedIn(const worker::BarrierLook& look) const {
  AwaitedProcesses awaited{.arrived = look.arrived,
                           .count = static_cast<std::uint32_t>(look.late.size())};
  for (const worker::LateProcess& late : look.late) {
    if (awaited.shown.size() == kAwaitedShownMax) break;
    const auto& [superstep, expected, here] = late.messages;
    awaited.shown.push_back({.pid = Value(late.pid),
                             .os_pid = late.os_pid,
                             .lateness = static_cast<std::uint32_t>(late.lateness),
                             .begun = late.begun,
                             .messages = {superstep, expected, here},
                             .for_s = (NowNs() - watch_.since_ns()) / kNsPerS});
  }
  return awaited;
}

// Of processes that take turns the others wait for one alone.
worker::BarrierLook LocalRun::Look() const {
  worker::BarrierLook look = worker::LookAtBarrier(segment_, pids_);
  const Turn turn = segment_.segment().turn(Pid{0});
  if (!turn.taken()) return look;
  const std::uint32_t holder = turn.holder();
  look.arrived += static_cast<std::uint32_t>(std::erase_if(
      look.late, [holder](const worker::LateProcess& late) { return Value(late.pid) != holder; }));
  return look;
}

void LocalRun::SayState() {
  const worker::BarrierLook look = Look();
  const Pid of = look.late.empty() ? Pid{0} : look.late.front().pid;
  const AwaitedProcesses awaited = AwaitedIn(look);
  console_.SayAwaited(absl::StrCat("superstep ", Value(segment_.superstep(of)), ", ", look.arrived,
                                   " of ", look.arrived + awaited.count,
                                   options_.simulation ? " processes wait for their turn"
                                                       : " processes in bsp_sync",
                                   look.late.empty() ? "" : ", but not"),
                      awaited);
}

// Now and then, so that a superstep costs nothing by it.
void LocalRun::WatchBarrier() {
  loop_.AddTimer(kWatchMs, [this] { WatchBarrier(); });
  if (const auto stuck = deadlock_watch_.OnLook(segment_); !stuck.empty())
    return Perform(job_.OnBroken(kFailureStatus, DeadlockText(stuck)));
  if (options_.simulation) return;  // There is always somebody who has the turn.
  const auto look = watch_.OnLook(Look(), NowNs(), kBarrierPatienceNs);
  if (!look || !isatty(STDERR_FILENO)) return;
  const AwaitedProcesses awaited = AwaitedIn(*look);
  if (IsNews(awaited)) console_.SayAwaited("bsp_sync waits for", awaited);
}

worker::LineAssembler& LocalRun::lines(Pid pid, worker::Stream stream) {
  return lines_[2 * Value(pid) + (stream == worker::Stream::kOutput ? 0 : 1)];
}

// If this text interrupts a line of another process, the rest of that line gets a prefix again.
void LocalRun::Print(Pid pid, worker::Stream stream, const std::string& text) {
  const int broken_off = printer(stream).Add(Source(pid), text);
  if (broken_off >= 0) lines(Pid{static_cast<std::uint32_t>(broken_off)}, stream).BeginAnew();
}

void LocalRun::OnOutput(Pid pid, worker::Stream stream, std::string_view bytes) {
  worker::LineAssembler& assembler = lines(pid, stream);
  Print(pid, stream, assembler.Add(bytes));
  if (printer(stream).full()) host_.PauseOutput();
  if (!interactive_ || !assembler.has_partial() || std::exchange(prompt_due_, true)) return;
  loop_.AddTimer(worker::LineAssembler::kPromptMs, [this] { ShowPrompts(); });
}

void LocalRun::ShowPrompts() {
  prompt_due_ = false;
  for (std::uint32_t i = 0; i < options_.nprocs; ++i) {
    for (const worker::Stream stream : {worker::Stream::kOutput, worker::Stream::kError}) {
      worker::LineAssembler& assembler = lines(Pid{i}, stream);
      if (assembler.has_partial()) {
        Print(Pid{i}, stream, assembler.TakePartial());
      }
    }
  }
}

void LocalRun::OnOutputEnded(Pid pid, worker::Stream stream) {
  Print(pid, stream, lines(pid, stream).Finish());
}

// A signal to the whole group kills the processes, too, and their ends may be seen first: it is no
// failure of theirs.
void LocalRun::OnExited(Pid pid, int wait_status, const worker::ProcessUsage&) {
  signals_.Look();
  if (const Turn turn = segment_.segment().turn(pid); turn.taken()) turn.Leave();
  const ProcessEnd end{.reached = ReachedBy(segment_.state(pid)),
                       .superstep = segment_.superstep(pid),
                       .exit_status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0,
                       .signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0,
                       .where = absl::StrCat("OS pid ", os_pids_.at(pid), " on ", HostName())};
  Perform(job_.OnExited(pid, end));
  if (job_.finished()) loop_.Stop();
}

void LocalRun::Perform(const Actions& actions) {
  for (const std::string& report : actions.reports) console_.Say(report);
  if (actions.kill_all) host_.KillAll();
}

// Came to its own end, but not as a BSP program, and could not have.
bool LocalRun::IsStranger() const {
  return job_.never_attached() && !interrupted_ && LinkedWithLibbsp(program_) == Linked::kNo;
}

void LocalRun::Report() {
  proto::Job job;
  job.mutable_spec()->set_name(program_.substr(program_.rfind('/') + 1));
  const worker::JobMeasurements measured = segment_.Measure();
  *job.mutable_totals() = coordinator::TotalsMessage(measured.totals, measured.processes);
  if (!options_.simulation) console_.PrintTiming(job.totals(), options_);
  if (console_.wants_profile() || options_.simulation)
    console_.WriteProfile(worker::ProfileOf(segment_, pids_), job, program_, options_);
}

int LocalRun::Run() {
  if (const std::string wrong = console_.OpenReports(options_); !wrong.empty()) return Fail(wrong);
  const absl::Status started = host_.Start(worker::ProcessPlan{.program = program_,
                                                               .arguments = options_.program,
                                                               .environment = Environment(options_),
                                                               .directory = options_.directory,
                                                               .pids = pids_,
                                                               .input = STDIN_FILENO,
                                                               .processors = Processors(),
                                                               .core = options_.core,
                                                               .limits = limits_});
  if (!started.ok()) {
    host_.KillAll();
    console_.Say(std::string(started.message()));
    console_.Finish();
    return StatusOfFailure(started);
  }
  for (const Pid pid : pids_) os_pids_[pid] = host_.os_pid(pid);
  loop_.Run();
  host_.Finish();
  if (IsStranger()) console_.SayNotLinked(program_);
  console_.Finish();
  Report();
  console_.Finish();
  if (job_.exit_status() == 0 && IsStranger()) return kFailureStatus;
  return console_.StatusWithReports(job_.exit_status());
}

}  // namespace

int RunLocally(const JobOptions& options, const std::string& program) {
  PrepareStandardStreams();
  if (HasJobId(options.output))
    return Fail(absl::StrCat("--output ", options.output,
                             ": a job on this machine has no id; leave %j out"));
  if (!options.output.empty())
    if (const absl::Status s = RedirectOutput(OutputPath(options.output, 0)); !s.ok())
      return Fail(std::string(s.message()));
  if (options.nprocs > kProcessesOfNodeMax)
    return Fail(absl::StrCat("-n ", options.nprocs, ": one machine runs at most ",
                             kProcessesOfNodeMax, " processes of a job",
                             options.simulation ? "" : "; run it on a cluster"));
  const RaisedLimits limits;
  const std::uint64_t needed =
      worker::kDescriptorsPerProcess * options.nprocs + worker::kDescriptorsBesides;
  if (limits.descriptors() < needed) {
    return Fail(absl::StrCat(options.nprocs, " processes need ", needed, " descriptors, and ",
                             limits.descriptors(), " are allowed; raise the limit (ulimit -n)"));
  }
  const std::uint64_t address_space_bytes = AddressSpaceBytes();
  if (address_space_bytes == 0) {
    return Fail(absl::StrCat("BSP_ADDRESS_SPACE=", getenv("BSP_ADDRESS_SPACE"),
                             " is no size; write a number and K, M, G or T, as in 16G"));
  }
  absl::StatusOr<worker::NodeSegment> segment =
      worker::NodeSegment::Create(SegmentPlan{.job = JobId{1},
                                              .epoch = Epoch{1},
                                              .nprocs = options.nprocs,
                                              .check_full = options.checks.full,
                                              .memory_bytes = MemoryBytes(),
                                              .address_space_bytes = address_space_bytes,
                                              .memory_max = MemoryBytes(),
                                              .check_textual = options.checks.textual,
                                              .takes_turns = options.simulation.has_value(),
                                              .message_sizes = SizesOf(options.simulation)});
  if (!segment.ok()) return Fail(std::string(segment.status().message()));
  const MemoryLimit limit = OwnMemoryLimit();
  if (!MachineHasSwap()) segment->SetMemoryGroup(limit.group, limit.bytes);
  return LocalRun(options, program, limits, std::move(*segment)).Run();
}

}  // namespace bspnow::client
