// top: looks again and again.
#include <stdio.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "client/cluster/reconnection.h"
#include "client/commands.h"
#include "client/run/signal_watch.h"
#include "client/view/job_json.h"
#include "client/view/terminal_screen.h"
#include "client/view/top_screen.h"
#include "files/duration.h"

namespace bspnow::client {
namespace {

constexpr std::uint64_t kIntervalMinMs = 100;

struct TopOptions {
  bool batch = false;
  std::uint64_t interval_ms = 1000;
  std::uint64_t count = 0;  ///< 0: until interrupted.
  bool json = false;
};

absl::StatusOr<TopSample> TakeSample(JobsStub& jobs) {
  TopSample sample;
  absl::StatusOr<std::vector<proto::Job>> job_list = jobs.ListJobs(proto::ListJobsRequest(), 0);
  if (!job_list.ok()) return job_list.status();
  absl::StatusOr<proto::ListNodesReply> node_list = jobs.ListNodes();
  if (!node_list.ok()) return node_list.status();
  sample.jobs = std::move(*job_list);
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

class Top {
 public:
  Top(JobsStub& jobs, const TopOptions& options)
      : jobs_(jobs),
        options_(options),
        reconnection_(jobs.coordinator(), kReconnectUsualMs),
        signals_(loop_, [this](int) { loop_.Stop(); }) {
    if (options.batch || options.json) return;
    screen_.emplace();
    loop_.OnReadable(STDIN_FILENO, [this] {
      const char key = screen_->ReadKey();
      if (key == 'q' || key == 'Q' || key == '\0') loop_.Stop();
    });
  }

  ~Top() { loop_.Forget(STDIN_FILENO); }

  absl::Status Run() {
    Look();
    if (failure_.ok() && !done_) loop_.Run();
    return failure_;
  }

 private:
  void Look() {
    const absl::StatusOr<TopSample> sample = TakeSample(jobs_);
    if (reconnection_.MayComeBack(sample.status())) return LookAgain(sample.status());
    reconnection_.OnBack();
    if (sample.ok()) {
      Show(*sample);
    } else {
      failure_ = sample.status();
    }
    looks_ += 1;
    done_ = options_.count != 0 && looks_ >= options_.count;
    if (done_ || !failure_.ok()) {
      loop_.Stop();
      return;
    }
    loop_.SetTimer(options_.interval_ms, [this] { Look(); });
  }

  void LookAgain(const absl::Status& why) {
    const auto retry = reconnection_.OnLost(why, NowNs());
    if (!retry) {
      failure_ = reconnection_.GaveUp(why);
      loop_.Stop();
      return;
    }
    if (screen_ && !retry->say.empty()) screen_->Draw(retry->say);
    if (!screen_ && !retry->say.empty()) std::cerr << "bsp: " << retry->say << std::endl;
    loop_.SetTimer(retry->after_ms, [this] { Look(); });
  }

  void Show(const TopSample& sample) {
    if (options_.json) {
      std::cout << SampleJson(sample) << std::flush;
    } else if (screen_) {
      screen_->Draw(top_.Show(sample, ColoursFor(STDOUT_FILENO)) + "\nq quits");
    } else {
      std::cout << (looks_ > 0 ? "\n" : "") << top_.Show(sample, Colours::kOff) << std::flush;
    }
    if (!std::cout) failure_ = absl::DataLossError("writing standard output failed");
  }

  JobsStub& jobs_;
  const TopOptions& options_;
  Reconnection reconnection_;
  EventLoop loop_;
  SignalWatch signals_;
  std::optional<TerminalScreen> screen_;
  TopScreen top_;
  std::uint64_t looks_ = 0;
  bool done_ = false;
  absl::Status failure_;
};

absl::StatusOr<int> RunTop(JobsStub& jobs, TopOptions options) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) options.batch = true;
  if (absl::Status run = Top(jobs, options).Run(); !run.ok()) return run;
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
  command->add_option("--count", options->count, "End after this many looks")->type_name("N");
  command->add_flag("--json", options->json, "Print JSON, an object for each look");
  SetConnectedAction(line, command, [options](JobsStub& jobs) { return RunTop(jobs, *options); });
}

}  // namespace bspnow::client
