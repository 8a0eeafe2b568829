#include "client/run/run_console.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <utility>

#include "base/exit_status.h"
#include "base/write_all.h"
#include "client/options/output_file.h"
#include "client/profile/call_names.h"
#include "client/profile/job_profile.h"
#include "client/profile/profile_file.h"
#include "client/profile/trace_json.h"
#include "client/run/terminal.h"
#include "client/view/timing_report.h"

namespace bspnow::client {

RunConsole::RunConsole(EventLoop& loop, ConsoleEvents events)
    : loop_(loop),
      events_(std::move(events)),
      output_(loop, STDOUT_FILENO, events_.drained,
              [this](int error) { OnLost(STDOUT_FILENO, error); }),
      error_(loop, STDERR_FILENO, events_.drained,
             [this](int error) { OnLost(STDERR_FILENO, error); }) {}

// A reader that has left is no error worth a word (`| head`); a full disk is, and standard output
// that was closed from the start. Who closes standard error wants to see none.
void RunConsole::OnLost(int fd, int error) {
  if (error == EBADF && fd == STDERR_FILENO) return;
  if (error == EPIPE) return events_.reader_left(SIGPIPE);
  if (error == EIO && IsOrWasTerminal(fd))
    return events_.reader_left(SIGHUP);  // The signal may not have come yet.
  const char* const stream = fd == STDOUT_FILENO ? "standard output" : "standard error";
  events_.failed(absl::StrCat("writing ", stream, ": ", strerror(error)));
}

void RunConsole::Say(const std::string& line) {
  error_.Add(kOwnSource, absl::StrCat("bsprun: ", line, "\n"));
}

void RunConsole::SayAwaited(const std::string& line, const AwaitedProcesses& awaited) {
  Say(line);
  for (const std::string& process : AwaitedLines(awaited)) Say("  " + process);
}

void RunConsole::SayNotLinked(const std::string& program) {
  Say(absl::StrCat(program,
                   " is not linked with libbsp, and no process called bsp_begin;"
                   " compile it with bspcc"));
}

absl::Status RunConsole::TakeOutputFile(const std::string& pattern, std::uint64_t job) {
  if (pattern.empty() || HasJobId(pattern) != (job != 0)) return absl::OkStatus();
  const absl::Status taken = RedirectOutput(OutputPath(pattern, job));
  if (taken.ok()) output_.TakeAnew();  // It may have been a terminal, which is printed to apart.
  return taken;
}

// Before the job starts: it is not to run for hours for a report that nobody gets.
std::string RunConsole::OpenReports(const JobOptions& options) {
  const struct {
    const char* option;
    const std::string& path;
    UniqueFd& file;
  } reports[] = {{"--timing-file ", options.timing_file, timing_file_},
                 {"--profile ", options.profile_file, profile_file_},
                 {"--trace ", options.trace_file, trace_file_}};
  for (const auto& report : reports) {
    if (report.path.empty()) continue;
    report.file =
        UniqueFd(open(report.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!report.file.valid())
      return absl::StrCat(report.option, report.path, ": ", strerror(errno));
  }
  return "";
}

void RunConsole::Write(const UniqueFd& file, const std::string& text, const std::string& what) {
  if (const absl::Status written = WriteAll(file.get(), text, what); !written.ok())
    SayNoReport(std::string(written.message()));
}

void RunConsole::SayNoReport(const std::string& why) {
  Say(why);
  lacks_report_ = true;
}

int RunConsole::StatusWithReports(int status) const {
  return status == 0 && lacks_report_ ? kFailureStatus : status;
}

void RunConsole::PrintTiming(const proto::JobTotals& totals, const JobOptions& options) {
  if (!options.timing && !options.json && !timing_file_.valid()) return;
  Report(options.json ? TimingAsJson(totals) : TimingAsText(totals), options);
}

void RunConsole::Report(const std::string& report, const JobOptions& options) {
  if (!timing_file_.valid()) {
    error_.Add(kOwnSource, report);
  } else {
    Write(timing_file_, report, "--timing-file " + options.timing_file);
  }
}

void RunConsole::WriteProfile(const proto::Profile& profile, const proto::Job& job,
                              const std::string& program, const JobOptions& options) {
  absl::StatusOr<JobProfile> made = MakeJobProfile(profile, job);
  if (!made.ok()) return SayNoReport(std::string(made.status().message()));
  NameCalls(program, job.spec().name(), *made);
  if (options.simulation && made->p != 0) {
    Simulate(*options.simulation, *made);
    const ProfileForm form = options.json ? ProfileForm::kJson : ProfileForm::kText;
    Report(*ProfileText(form, *made, std::nullopt), options);
  }
  if (profile_file_.valid()) {
    const auto text = ProfileText(FormOf(options.profile_file), *made, std::nullopt);
    Write(profile_file_, *text, "--profile " + options.profile_file);
  }
  if (trace_file_.valid()) Write(trace_file_, TraceJson(*made), "--trace " + options.trace_file);
}

void RunConsole::Finish() {
  while (!(output_.idle() && error_.idle()) && !gave_up_) loop_.RunOnce();
}

}  // namespace bspnow::client
