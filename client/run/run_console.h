// What a user sees of a job in the foreground: the output of its processes, this program's own
// lines between them, and at the end what the supersteps took.
#ifndef CLIENT_RUN_RUN_CONSOLE_H_
#define CLIENT_RUN_RUN_CONSOLE_H_

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/unique_fd.h"
#include "client/options/job_options.h"
#include "client/run/output_printer.h"
#include "client/view/barrier_view.h"
#include "net/event_loop.h"
#include "proto/jobs.pb.h"
#include "proto/profile.pb.h"

namespace bspnow::client {

struct ConsoleEvents {
  /// A full queue of output has been printed.
  std::function<void()> drained;

  /// The reader has left, which ends the job as this signal would: SIGPIPE, or SIGHUP of a terminal
  /// that was hung up.
  std::function<void(int signal)> reader_left;

  /// Output cannot be written, and why: "writing standard output: No space left on device".
  std::function<void(const std::string& why)> failed;
};

class RunConsole {
 public:
  /// The source of this program's own lines, and the service's, among those of processes.
  static constexpr int kOwnSource = -2;

  RunConsole(EventLoop& loop, ConsoleEvents events);

  OutputPrinter& output() { return output_; }
  OutputPrinter& error() { return error_; }

  bool full() const { return output_.full() || error_.full(); }

  /// A line of bsprun's own.
  void Say(const std::string& line);

  /// Whom the job waits for, after a line that says so.
  void SayAwaited(const std::string& line, const AwaitedProcesses& awaited);

  /// For a job that ran `program`, of whose processes none called bsp_begin.
  void SayNotLinked(const std::string& program);

  /// The file of --output takes the place of standard output, if one is named and the name known:
  /// where that has the job's id in it, once there is a job, which is 0 before.
  absl::Status TakeOutputFile(const std::string& pattern, std::uint64_t job);

  /// Opens the files of --timing-file, --profile and --trace; a message if that fails.
  std::string OpenReports(const JobOptions& options);

  /// If --timing or --json asks for it, or --timing-file.
  void PrintTiming(const proto::JobTotals& totals, const JobOptions& options);

  /// If --profile or --trace asks for it, and what a simulation has found, where PrintTiming
  /// prints. `program`: the file that was run; empty: not to be had.
  bool wants_profile() const { return profile_file_.valid() || trace_file_.valid(); }
  void WriteProfile(const proto::Profile& profile, const proto::Job& job,
                    const std::string& program, const JobOptions& options);

  /// That one of them is not to be had.
  void SayNoReport(const std::string& why);

  /// What this program ends with where the job ends with `status`: no success without its reports.
  int StatusWithReports(int status) const;

  /// Runs the loop until everything is printed, or nobody waits for that any more.
  void Finish();

  /// A reader may have stopped for good: Finish does not wait for it.
  void GiveUp() { gave_up_ = true; }

 private:
  void OnLost(int fd, int error);
  void Report(const std::string& report, const JobOptions& options);
  void Write(const UniqueFd& file, const std::string& text, const std::string& what);

  EventLoop& loop_;
  ConsoleEvents events_;
  OutputPrinter output_;
  OutputPrinter error_;
  UniqueFd timing_file_;
  UniqueFd profile_file_;
  UniqueFd trace_file_;
  bool lacks_report_ = false;
  bool gave_up_ = false;
};

}  // namespace bspnow::client

#endif  // CLIENT_RUN_RUN_CONSOLE_H_
