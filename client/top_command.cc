// top: looks again and again.
#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/start_thread.h"
#include "client/cluster/reconnection.h"
#include "client/commands.h"
#include "client/run/letterbox.h"
#include "client/run/signal_watch.h"
#include "client/view/job_json.h"
#include "client/view/terminal_screen.h"
#include "client/view/top_screen.h"
#include "files/duration.h"
#include "files/whole_number.h"

namespace bspnow::client {
namespace {

constexpr std::uint64_t kIntervalMinMs = 100;

struct TopOptions {
  bool batch = false;
  std::uint64_t interval_ms = 1000;
  std::uint64_t count = 0;  ///< 0: until interrupted.
  bool json = false;
};

/// Used by one look at a time.
struct Asked {
  const CoordinatorPlace place;
  std::optional<JobsStub> jobs;  ///< Once a look has connected.
};

absl::StatusOr<TopSample> TakeSample(Asked& asked) {
  if (!asked.jobs) {
    absl::StatusOr<JobsStub> connected = JobsStub::Connect(asked.place, Say, 0);
    if (!connected.ok()) return connected.status();
    asked.jobs.emplace(*std::move(connected));
  }
  TopSample sample;
  absl::StatusOr<JobList> job_list = asked.jobs->ListJobs(proto::ListJobsRequest(), 0);
  if (!job_list.ok()) return job_list.status();
  absl::StatusOr<proto::ListNodesReply> node_list = asked.jobs->ListNodes();
  if (!node_list.ok()) return node_list.status();
  sample.jobs = std::move(job_list->jobs);
  sample.nodes = std::move(*node_list);
  sample.taken_ns = NowNs();
  sample.taken_unix_ms = UnixMs();
  return sample;
}

std::string SampleJson(const TopSample& sample) {
  return JsonText({{"taken_unix_ms", sample.taken_unix_ms},
                   {"jobs", JobsJson(sample.jobs)},
                   {"nodes", NodesJson(sample.nodes)}});
}

/// Looks on a thread, for a coordinator may be silent for long: the loop hears keys and signals
/// meanwhile. It blocks these before there is any thread, of gRPC either: one that did not would
/// take a signal, and with it the program, from a terminal that is not given back.
class Top {
 public:
  Top(const CoordinatorPlace& place, const TopOptions& options)
      : options_(options),
        reconnection_(place.address, kReconnectUsualMs),
        signals_(loop_, [this](int signal) { OnSignal(signal); }),
        letterbox_(std::make_shared<Letterbox>(loop_)),
        asked_(std::make_shared<Asked>(Asked{.place = place, .jobs = std::nullopt})) {
    signals_.LetPipesEnd();
    if (TakesScreen()) signals_.Watch(SIGTSTP);
  }

  ~Top() {
    letterbox_->Close();
    loop_.Forget(STDIN_FILENO);
  }

  absl::Status Run() {
    if (TakesScreen()) TakeKeys();  // The first look may take long.
    Look();
    if (failure_.ok()) loop_.Run();
    return failure_;
  }

 private:
  bool TakesScreen() const { return !options_.batch && !options_.json; }

  void Look() {
    auto thread = StartThread([this, asked = asked_, letterbox = letterbox_] {
      const auto sample = std::make_shared<absl::StatusOr<TopSample>>(TakeSample(*asked));
      letterbox->Post([this, sample] { OnSample(*sample); });
    });
    if (!thread) return Fail(absl::ResourceExhaustedError("there is no thread to be had"));
    thread->detach();
  }

  void OnSample(const absl::StatusOr<TopSample>& sample) {
    const bool connected = asked_->jobs.has_value();
    if (connected && reconnection_.MayComeBack(sample.status())) return LookAgain(sample.status());
    if (!sample.ok()) return Fail(sample.status());
    reconnection_.OnBack();
    Show(*sample);
    looks_ += 1;
    if (looks_ == options_.count) return loop_.Stop();
    loop_.AddTimer(options_.interval_ms, [this] { Look(); });
  }

  void LookAgain(const absl::Status& why) {
    const auto retry = reconnection_.OnLost(why, NowNs());
    if (!retry) return Fail(reconnection_.GaveUp(why));
    if (!retry->say.empty() && screen_) Draw(retry->say);
    if (!retry->say.empty() && !screen_) Say(retry->say);
    loop_.AddTimer(retry->after_ms, [this] { Look(); });
  }

  void Fail(const absl::Status& why) {
    failure_ = why;
    loop_.Stop();
  }

  void Show(const TopSample& sample) {
    if (options_.json) {
      std::cout << SampleJson(sample) << std::flush;
    } else if (TakesScreen()) {
      if (!screen_) screen_.emplace();
      Draw(top_.Show(sample, ColoursFor(STDOUT_FILENO)) + "\nq quits");
    } else {
      std::cout << (looks_ > 0 ? "\n" : "") << top_.Show(sample, Colours::kOff) << std::flush;
    }
    if (!std::cout) loop_.Stop();  // The reason is said at the end, as of all commands.
  }

  void TakeKeys() {
    keys_.emplace();
    loop_.OnReadable(STDIN_FILENO, [this] {
      const char key = keys_->Read();
      if (key == 'q' || key == 'Q' || key == '\0') loop_.Stop();
    });
  }

  void Draw(const std::string& text) {
    drawn_ = text;
    screen_->Draw(text);
  }

  // Whoever stops it gets the terminal back meanwhile.
  void OnSignal(int signal) {
    if (signal != SIGTSTP) return loop_.Stop();
    const bool had_screen = screen_.has_value();
    screen_.reset();
    keys_.reset();
    StopAsAsked();
    keys_.emplace();
    if (!had_screen) return;
    screen_.emplace();
    screen_->Draw(drawn_);
  }

  // By the signal itself, which the system leaves out where no shell could continue this process.
  static void StopAsAsked() {
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    raise(SIGTSTP);
    pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
    pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  }

  const TopOptions& options_;
  Reconnection reconnection_;
  EventLoop loop_;
  SignalWatch signals_;  ///< Before the first thread.
  const std::shared_ptr<Letterbox> letterbox_;
  const std::shared_ptr<Asked> asked_;
  std::optional<TerminalKeys> keys_;
  std::optional<TerminalScreen> screen_;  ///< Once there is something to see.
  std::string drawn_;
  TopScreen top_;
  std::uint64_t looks_ = 0;
  absl::Status failure_;
};

absl::StatusOr<int> RunTop(const CommandLine& line, TopOptions options) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) options.batch = true;
  const absl::StatusOr<CoordinatorPlace> place = PlaceOf(line);
  if (!place.ok()) return place.status();
  if (absl::Status run = Top(*place, options).Run(); !run.ok()) return run;
  return 0;
}

}  // namespace

void AddTopCommand(CommandLine& line) {
  CLI::App* command = AddCommand(line, "top", "Show what the jobs are doing, live");
  const auto options = std::make_shared<TopOptions>();
  command->add_flag("-b,--batch", options->batch, "Print one text after the other; no terminal");
  command->add_option("--interval", options->interval_ms, "From one look to the next [1s]")
      ->transform(files::AsMilliseconds(files::PlainNumber::kSeconds, kIntervalMinMs))
      ->type_name("TIME");
  command->add_option("--count", options->count, "End after this many looks")
      ->transform(files::AsWholeNumber(files::Sign::kNone))
      ->type_name("N");
  command->add_flag("--json", options->json, "Print JSON, an object for each look");
  SetAction(line, command, [&line, options] { return RunTop(line, *options); });
}

}  // namespace bspnow::client
