#include "client/run/cluster_run.h"

#include <absl/strings/str_cat.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/exit_status.h"
#include "client/cluster/attach_stub.h"
#include "client/cluster/attachment.h"
#include "client/cluster/profile_sink.h"
#include "client/cluster/reconnection.h"
#include "client/options/cluster_option.h"
#include "client/options/submission.h"
#include "client/run/job_start.h"
#include "client/run/program_file.h"
#include "client/run/run_console.h"
#include "client/run/signal_watch.h"
#include "client/run/standard_input.h"
#include "client/standard_output.h"
#include "client/view/barrier_view.h"
#include "client/view/job_view.h"
#include "client/view/line_prefixer.h"

namespace bspnow::client {
namespace {

// After this time a user wants to know the reason for the wait, at a terminal and elsewhere.
constexpr std::uint64_t kPatienceMs = 1000;
constexpr std::uint64_t kPatienceElsewhereMs = 10'000;
constexpr std::uint64_t kBarrierPatienceMs = 10'000;
constexpr std::uint64_t kGraceMs = 5000;  // For the coordinator to end an interrupted job.
constexpr std::uint64_t kLeaveMs = 1000;  // For the coordinator to learn that this program leaves.
constexpr std::uint64_t kMsPerS = 1000;

class ClusterRun {
 public:
  explicit ClusterRun(const JobOptions& options);

  int Run();

 private:
  void Follow(JobsStub& jobs, std::uint64_t job);
  void Attach();
  void OnAttached();
  void OnMessage(const proto::FromJob& message);
  void OnOver(const absl::Status& status);
  void OnLost(const absl::Status& status);
  void OnFailed(const std::string& why);
  void OnShown(const proto::Job& job);
  void SayState(const proto::Job& job);
  void WatchBarrier();
  void OnInput(std::string piece);
  void OnSignal(int signal);
  void OnDrained();
  void Print(const proto::LogLine& line);
  void Leave(int status);
  void SayThatItLeaves();
  void SendSignal(int signal);
  bool IsStranger(const std::string& program) const;
  void Report(JobsStub& jobs, const std::string& program);
  int Fail(const absl::Status& why);
  OutputPrinter& printer(proto::OutputStream stream) {
    return stream == proto::STDERR ? console_.error() : console_.output();
  }
  LinePrefixer& lines(int source, proto::OutputStream stream);

  const JobOptions& options_;
  EventLoop loop_;
  RunConsole console_;
  JobStart start_;
  SignalWatch signals_;
  StandardInput input_;
  std::map<std::pair<int, proto::OutputStream>, LinePrefixer> lines_;
  JobsStub* jobs_ = nullptr;
  std::uint64_t job_ = 0;
  std::string key_;                       ///< Of the submission.
  std::optional<Attachment> attachment_;  ///< Once the job is submitted.
  std::optional<Reconnection> reconnection_;
  std::optional<proto::Job> end_;
  std::optional<int> status_;           ///< Decided here, whatever the job's is.
  std::vector<int> signals_kept_;       ///< That came while there was no stream.
  int interrupted_by_ = 0;              ///< The first signal that asked for the end.
  bool heard_ = false;                  ///< A line of the job has come.
  bool state_asked_ = false;            ///< By SIGQUIT; the answer is on its way.
  bool said_waiting_ = false;           ///< Why the job waits for slots.
  bool said_awaited_ = false;           ///< Whom the present barrier waits for.
  bool held_back_ = false;              ///< The next message waits for the printer.
  bool connected_ = false;              ///< stream_ is not over.
  bool attached_ = false;               ///< The coordinator has confirmed it.
  std::unique_ptr<AttachStub> stream_;  ///< Last: its events use what is above.
};

ClusterRun::ClusterRun(const JobOptions& options)
    : options_(options),
      console_(loop_, {.drained = [this] { OnDrained(); },
                       .reader_left = [this](int signal) { OnSignal(signal); },
                       .failed = [this](const std::string& why) { OnFailed(why); }}),
      start_(loop_, [this](const std::string& line) { console_.Say(line); }),
      signals_(loop_, [this](int signal) { OnSignal(signal); }),
      input_(loop_, {.read = [this](std::string piece) { OnInput(std::move(piece)); },
                     .failed = [this](const std::string& why) { OnFailed(why); }}) {
  signals_.Watch(SIGTSTP);
}

// ---- Events of the job --------------------------------------------------------------------------

void ClusterRun::Follow(JobsStub& jobs, std::uint64_t job) {
  jobs_ = &jobs;
  job_ = job;
  attachment_.emplace(job, key_);
  Attach();
  input_.Ask();
  loop_.AddTimer(isatty(STDERR_FILENO) ? kPatienceMs : kPatienceElsewhereMs, [this] {
    if (!heard_ && !end_ && connected_) stream_->AskForJob(job_);
  });
  if (isatty(STDERR_FILENO)) WatchBarrier();
}

void ClusterRun::WatchBarrier() {
  loop_.AddTimer(kBarrierPatienceMs, [this] {
    if (!end_ && connected_) stream_->AskForJob(job_);
    WatchBarrier();
  });
}

// Again, whenever the stream has broken.
void ClusterRun::Attach() {
  stream_.reset();
  stream_ = std::make_unique<AttachStub>(
      loop_, *jobs_,
      AttachEvents{.attached = [this] { OnAttached(); },
                   .message = [this](const proto::FromJob& message) { OnMessage(message); },
                   .shown = [this](const proto::Job& shown) { OnShown(shown); },
                   .over = [this](const absl::Status& status) { OnOver(status); }});
  connected_ = true;
  held_back_ = false;
  for (proto::ToJob& message : attachment_->Begin()) stream_->Send(std::move(message));
}

// A signal that was to end the job may have been lost with the last stream.
void ClusterRun::OnAttached() {
  reconnection_->OnBack();
  attached_ = true;
  for (const int signal : std::exchange(signals_kept_, {})) SendSignal(signal);
  if (interrupted_by_ != 0) SendSignal(interrupted_by_);
}

void ClusterRun::OnMessage(const proto::FromJob& message) {
  if (message.has_end()) {
    end_ = message.end();
    if (end_->state() == proto::CANCELLED && interrupted_by_ == 0 && !status_)
      console_.Say(absl::StrCat("job ", job_, " is over: ", end_->reason()));
    loop_.Stop();
    return;
  }
  if (status_)
    return stream_->ReadNext();  // This program leaves; only the end of the stream matters.
  if (message.has_input_taken() && attachment_->OnInputTaken(message.input_taken())) input_.Ask();
  if (message.has_line()) {
    attachment_->OnLine(message.line());
    Print(message.line());
    heard_ = true;
  }
  held_back_ = console_.full();
  if (!held_back_) stream_->ReadNext();
}

void ClusterRun::OnDrained() {
  if (std::exchange(held_back_, false)) stream_->ReadNext();
}

void ClusterRun::OnOver(const absl::Status& status) {
  connected_ = attached_ = false;
  if (end_ || status_) return;
  if (reconnection_->MayComeBack(status)) return OnLost(status);
  OnFailed(std::string(status.message()));
}

void ClusterRun::OnLost(const absl::Status& status) {
  const auto retry = reconnection_->OnLost(status, NowNs());
  if (!retry) {
    console_.Say(absl::StrCat(std::string(reconnection_->GaveUp(status).message()), "; job ", job_,
                              " is cancelled once the coordinator is there"));
    return Leave(interrupted_by_ != 0 ? kSignalStatus + interrupted_by_ : kFailureStatus);
  }
  if (!retry->say.empty()) console_.Say(retry->say);
  loop_.AddTimer(retry->after_ms, [this] {
    if (!status_) Attach();
  });
}

void ClusterRun::OnShown(const proto::Job& job) {
  if (end_) return;
  if (std::exchange(state_asked_, false)) return SayState(job);
  const AwaitedProcesses awaited = AwaitedOf(job);
  if (!IsNews(awaited)) {
    said_awaited_ = false;
  } else if (awaited.shown.front().for_s * kMsPerS >= kBarrierPatienceMs && isatty(STDERR_FILENO) &&
             !std::exchange(said_awaited_, true)) {
    console_.SayAwaited("bsp_sync waits for", awaited);
  }
  if (job.state() != proto::WAITING || heard_ || std::exchange(said_waiting_, true)) return;
  console_.Say(absl::StrCat("job ", job.job(), " waits: ", job.reason()));
}

void ClusterRun::SayState(const proto::Job& job) {
  const AwaitedProcesses awaited = AwaitedOf(job);
  const std::string reason = job.reason().empty() ? "" : absl::StrCat(": ", job.reason());
  console_.SayAwaited(absl::StrCat("job ", job.job(), " is ", StateName(job.state()), reason, ", ",
                                   job.totals().supersteps(), " supersteps done",
                                   awaited.count == 0 ? "" : "; not in bsp_sync are"),
                      awaited);
}

LinePrefixer& ClusterRun::lines(int source, proto::OutputStream stream) {
  const bool own = source == RunConsole::kOwnSource;
  const std::string prefix = own                      ? "bsprun: "
                             : options_.prefix_output ? absl::StrCat("[", source, "] ")
                                                      : "";
  return lines_.try_emplace({source, stream}, prefix).first->second;
}

// If this text interrupts a line of another process, the rest of that line gets a prefix again.
void ClusterRun::Print(const proto::LogLine& line) {
  const int source = line.of_launcher() ? RunConsole::kOwnSource : static_cast<int>(line.pid());
  const std::string text = lines(source, line.stream()).Add(line.text());
  const int broken_off = printer(line.stream()).Add(source, text);
  if (broken_off >= 0) lines(broken_off, line.stream()).BeginAnew();
}

void ClusterRun::OnFailed(const std::string& why) {
  console_.Say(why);
  Leave(kFailureStatus);
}

// ---- Events here --------------------------------------------------------------------------------

void ClusterRun::OnInput(std::string piece) {
  proto::ToJob message = attachment_->OnInput(std::move(piece));
  if (connected_) stream_->Send(std::move(message));
}

void ClusterRun::SendSignal(int signal) {
  proto::ToJob message;
  message.set_signal(signal);
  stream_->Send(std::move(message));
}

// The first request lets the programs clean up, the second does not wait for that.
void ClusterRun::OnSignal(int signal) {
  if (signal == SIGUSR1 || signal == SIGUSR2) {
    if (attached_) {
      SendSignal(signal);
    } else {
      signals_kept_.push_back(signal);
    }
    return;
  }
  if (signal == SIGQUIT) {
    state_asked_ = connected_;
    if (connected_) return stream_->AskForJob(job_);
    return console_.Say("there is no connection to the coordinator now");
  }
  // Who is stopped answers no pings, and the coordinator would cancel the job after a while.
  if (signal == SIGTSTP)
    return console_.Say(absl::StrCat(
        "Ctrl-Z does not stop bsprun: the coordinator would take it for gone, and cancel the job",
        job_ == 0 ? "" : absl::StrCat("; `bsp suspend ", job_, "` saves it")));
  const bool again = interrupted_by_ != 0;
  if (!again) interrupted_by_ = signal;
  if (job_ == 0) return start_.Interrupt();
  const auto leave = [this] {
    console_.GiveUp();
    Leave(kSignalStatus + interrupted_by_);
  };
  if (again) {
    leave();
    return;
  }
  if (reconnection_ && reconnection_->lost()) {
    console_.Say(
        "the job is cancelled as soon as the coordinator is back, or gives up waiting for this "
        "program; once more leaves now");
    return;
  }
  if (attached_) SendSignal(signal);
  loop_.AddTimer(kGraceMs, leave);
}

// A job that has not ended is cancelled.
void ClusterRun::Leave(int status) {
  if (!status_) status_ = status;
  loop_.Stop();
}

// Without this message the coordinator would wait for this program for a while.
void ClusterRun::SayThatItLeaves() {
  if (!connected_ || end_) return;
  proto::ToJob message;
  message.set_leave(true);
  stream_->Send(std::move(message));
  if (std::exchange(held_back_, false)) stream_->ReadNext();
  const TimerId timer = loop_.AddTimer(kLeaveMs, [this] { connected_ = false; });
  while (connected_ && !end_) loop_.RunOnce();
  loop_.CancelTimer(timer);
}

// ---- From start to end --------------------------------------------------------------------------

// Without a job to follow.
int ClusterRun::Fail(const absl::Status& why) {
  if (!why.message().empty()) console_.Say(std::string(why.message()));
  if (interrupted_by_ != 0) console_.GiveUp();
  console_.Finish();
  return interrupted_by_ == 0 ? kFailureStatus : kSignalStatus + interrupted_by_;
}

bool ClusterRun::IsStranger(const std::string& program) const {
  return end_ && end_->never_attached() && interrupted_by_ == 0 &&
         LinkedWithLibbsp(program) == Linked::kNo;
}

void ClusterRun::Report(JobsStub& jobs, const std::string& program) {
  console_.PrintTiming(end_->totals(), options_);
  if (!console_.wants_profile()) return;
  proto::ReadProfileRequest request;
  request.set_job(end_->job());
  ProfileSink sink;
  const absl::Status read = jobs.ReadProfile(request, sink);
  if (!read.ok()) return console_.SayNoReport(std::string(read.message()));
  console_.WriteProfile(sink.profile(), *end_, program, options_);
}

int ClusterRun::Run() {
  const absl::StatusOr<std::string> program =
      FindProgram(options_.program.front(), options_.misplaced);
  if (!program.ok()) {
    Fail(program.status());
    return StatusOfFailure(program.status());
  }
  if (const std::string wrong = console_.OpenReports(options_); !wrong.empty()) {
    return Fail(absl::FailedPreconditionError(wrong));
  }
  if (absl::Status s = console_.TakeOutputFile(options_.output, 0); !s.ok()) return Fail(s);
  const absl::StatusOr<std::string> address = CoordinatorAddress(options_.coordinator);
  if (!address.ok()) return Fail(address.status());
  reconnection_.emplace(*address, options_.reconnect_s * kMsPerS);
  const absl::StatusOr<JobStart::Accepted> accepted = start_.Run(
      {.place = {.address = *address,
                 .tls_dir = NamedTls(options_.tls_dir),
                 .proof = ProofOf(options_.tls_dir)},
       .patience_ms = 0,
       .reconnect_ms = options_.reconnect_s * kMsPerS,
       .make = [options = options_, program] { return MakeAttachedSubmission(options, *program); },
       .unseen = "the coordinator does not answer; if it accepts the job, it cancels it, since "
                 "this program has left"});
  if (!accepted.ok()) return Fail(accepted.status());
  JobsStub& jobs = *accepted->jobs;
  const std::uint64_t job = accepted->reply.job();
  key_ = accepted->key;
  if (absl::Status s = console_.TakeOutputFile(options_.output, job); !s.ok()) {
    proto::CancelJobRequest request;
    request.set_job(job);
    s.Update(jobs.Cancel(request).status());
    return Fail(s);
  }
  Follow(jobs, job);
  loop_.Run();
  SayThatItLeaves();
  if (IsStranger(*program)) {
    console_.SayNotLinked(*program);
    if (end_->exit_status() == 0) status_ = kFailureStatus;
  }
  console_.Finish();
  if (end_) Report(jobs, *program);
  console_.Finish();
  stream_.reset();
  if (status_) return *status_;
  const bool ended_badly = end_->state() != proto::SUCCEEDED && end_->exit_status() == 0;
  return console_.StatusWithReports(ended_badly ? kFailureStatus : end_->exit_status());
}

}  // namespace

int RunOnCluster(const JobOptions& options) {
  PrepareStandardStreams();
  return ClusterRun(options).Run();
}

}  // namespace bspnow::client
