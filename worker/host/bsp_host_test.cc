// bsp-host itself, started by HostLink as bsp-worker does, with shell scripts as programs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/testing/scratch_directory.h"
#include "net/event_loop.h"
#include "runtime/link/link.h"
#include "worker/core/output_credit.h"
#include "worker/host/host_link.h"
#include "worker/host/process_host.h"

namespace bspnow::worker {
namespace {

constexpr std::uint64_t kPatienceMs = 100'000;
// The credit, less what the pieces are charged for.
constexpr std::uint64_t kEnough = kOutputCreditBytes / 2;
constexpr std::uint64_t kLinkFloodMs = 500;  // In which a bsp-host takes a hundred messages.
constexpr char kHostProgram[] = "worker/host/bsp-host";

char StateOf(pid_t os_pid) {
  std::ifstream file("/proc/" + std::to_string(os_pid) + "/stat");
  std::string number;
  std::string name;
  char state = 'X';
  file >> number >> name >> state;
  return state;
}

bool Lives(pid_t os_pid) { return StateOf(os_pid) != 'X' && StateOf(os_pid) != 'Z'; }

class BspHostTest : public testing::Test {
 protected:
  BspHostTest() : segment_(memfd_create("segment", MFD_CLOEXEC)) {}

  std::string WriteScript(const std::string& text) {
    const std::string path = directory_ + "/script";
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    chmod(path.c_str(), 0755);
    return path;
  }

  proto::HostPlan PlanFor(const std::string& program, const std::vector<Pid>& pids) {
    proto::HostPlan plan;
    plan.set_program(program);
    plan.add_arguments("program");
    plan.add_environment("PATH=/usr/bin:/bin");
    plan.set_directory(directory_);
    for (const Pid pid : pids) plan.add_processes()->set_pid(Value(pid));
    plan.set_processors(1);
    plan.set_segment_bytes(4096);
    return plan;
  }

  void Start(const proto::HostPlan& plan, int input) {
    absl::StatusOr<StartedHost> started =
        StartHost({.path = kHostProgram, .name = "test", .limits = limits_}, plan,
                  {.segment = segment_.get(), .doorbell = -1, .mailbox = -1, .input = input});
    ASSERT_TRUE(started.ok()) << started.status();
    started->kill_grace_ms = kill_grace_ms_;
    host_ = std::make_unique<HostLink>(
        loop_, std::move(*started), [this](const proto::WorkerEvent& event) { OnEvent(event); },
        [this] { gone_ = true; });
  }

  void OnEvent(const proto::WorkerEvent& event) {
    const proto::ProcessOutput& output = event.output();
    output_bytes_ += output.text().size();
    outputs_ += event.has_output() ? 1 : 0;
    if (keep_output_ && event.has_output()) {
      output_[{Pid{output.pid()}, static_cast<Stream>(output.stream())}] += output.text();
    }
    if (event.has_started()) started_ = true;
    begun_ += event.has_begun() ? 1 : 0;
    failed_checkpoints_ += event.has_checkpoint_failed() ? 1 : 0;
    if (event.has_not_started()) {
      not_started_status_ = event.not_started().exit_status();
      reason_ = event.not_started().reason();
    }
    if (event.has_restore_failed()) reason_ = event.restore_failed().reason();
    if (event.has_exited()) exited_[Pid{event.exited().pid()}] = event.exited();
  }

  void StartScript(const std::string& text, const std::vector<Pid>& pids) {
    Start(PlanFor(WriteScript(text), pids), -1);
  }

  void StartFlood(LinkHello::Kind kind, int messages) {
    proto::HostPlan plan = PlanFor("worker/host/link_flood", {Pid{0}});
    plan.set_program(std::filesystem::absolute(plan.program()));
    plan.add_arguments(std::to_string(kind));
    plan.add_arguments(std::to_string(messages));
    // One process takes part.
    NodeHeader header{};
    header.participants.value = 1;
    header.image.checkpoint = 1;
    ASSERT_EQ(pwrite(segment_.get(), &header, sizeof header, 0), ssize_t{sizeof header});
    Start(plan, -1);
  }

  void KillAll() {
    proto::HostOrder order;
    order.set_kill_all(true);
    host_->Send(order);
  }

  template <typename Condition>
  bool RunUntil(Condition condition) {
    bool late = false;
    const TimerId limit = loop_.AddTimer(kPatienceMs, [&late] { late = true; });
    while (!condition() && !late) loop_.RunOnce();
    loop_.CancelTimer(limit);
    return !late;
  }
  bool RunUntilGone() {
    return RunUntil([this] { return gone_; });
  }
  void RunFor(std::uint64_t ms) {
    bool over = false;
    loop_.AddTimer(ms, [&over] { over = true; });
    while (!over) loop_.RunOnce();
  }
  bool RunUntilItIsStopped() {
    for (std::uint64_t ms = 0; ms < kPatienceMs; ms += 10) {
      if (StateOf(host_->os_pid()) == 'T') return true;
      RunFor(10);
    }
    return false;
  }
  std::string output(Pid pid) { return output_[{pid, Stream::kOutput}]; }

  const RaisedLimits limits_;
  UniqueFd segment_;
  const ScratchDirectory scratch_;
  const std::string directory_ = scratch_.path();
  EventLoop loop_;
  std::unique_ptr<HostLink> host_;
  std::uint64_t kill_grace_ms_ = kKillGraceMs;
  bool started_ = false;
  int begun_ = 0;
  int failed_checkpoints_ = 0;
  bool gone_ = false;
  bool keep_output_ = true;
  int not_started_status_ = 0;
  std::string reason_;
  std::uint64_t output_bytes_ = 0;
  int outputs_ = 0;
  std::map<std::pair<Pid, Stream>, std::string> output_;
  std::map<Pid, proto::ProcessExited> exited_;
};

TEST_F(BspHostTest, ReportsOutputAndEndOfEachProcess) {
  StartScript("echo out; echo err >&2; exit 3", {Pid{2}, Pid{5}});
  ASSERT_TRUE(RunUntilGone());
  EXPECT_TRUE(started_);
  ASSERT_EQ(exited_.size(), 2u);
  for (const Pid pid : {Pid{2}, Pid{5}}) {
    EXPECT_EQ(exited_.at(pid).exit_status(), 3);
    EXPECT_EQ(output(pid), "out\n");
    EXPECT_EQ((output_[{pid, Stream::kError}]), "err\n");
  }
}

TEST_F(BspHostTest, ALastLineWithoutItsEndIsPrintedBeforeTheProcessEnds) {
  StartScript("printf out; printf error >&2", {Pid{2}});
  ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(output(Pid{2}), "out");
  EXPECT_EQ(exited_.at(Pid{2}).output_bytes(), 3u);
  EXPECT_EQ(exited_.at(Pid{2}).error_bytes(), 5u);
}

// So nobody's line can come into it.
TEST_F(BspHostTest, ReportsALineOfAMebibyteAtOnce) {
  StartScript("head -c 1048575 /dev/zero | tr '\\0' x; echo", {Pid{2}, Pid{5}});
  proto::HostOrder order;
  order.set_credit_bytes(kOutputCreditBytes);
  host_->Send(order);
  ASSERT_TRUE(RunUntilGone());
  const std::string line = std::string(kOutputTextBytesMax - 1, 'x') + "\n";
  EXPECT_TRUE(output(Pid{2}) == line);
  EXPECT_TRUE(output(Pid{5}) == line);
  EXPECT_EQ(outputs_, 2);
}

TEST_F(BspHostTest, ReportsTheSignalThatEndedAProcess) {
  StartScript("kill -SEGV $$", {Pid{0}});
  ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(exited_.at(Pid{0}).signal(), SIGSEGV);
}

TEST_F(BspHostTest, ReportsWhatAProcessHasUsed) {
  StartScript("i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done", {Pid{0}});
  ASSERT_TRUE(RunUntilGone());
  EXPECT_GT(exited_.at(Pid{0}).cpu_ns(), 1'000'000u);
  EXPECT_GT(exited_.at(Pid{0}).peak_memory_bytes(), 500'000u);
}

TEST_F(BspHostTest, SaysThatThereIsNoSuchProgram) {
  Start(PlanFor(directory_ + "/missing", {Pid{0}}), -1);
  ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(not_started_status_, 127);
  EXPECT_NE(reason_.find("No such file"), std::string::npos) << reason_;
  EXPECT_TRUE(exited_.empty());
}

TEST_F(BspHostTest, SaysThatAFileIsNoProgram) {
  const std::string path = WriteScript("exit 0");
  chmod(path.c_str(), 0644);
  Start(PlanFor(path, {Pid{0}}), -1);
  ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(not_started_status_, 126);
}

TEST_F(BspHostTest, WaitsForWhoStillHoldsTheProgramOpenForWriting) {
  const std::string program = WriteScript("echo done");
  UniqueFd writer(open(program.c_str(), O_WRONLY | O_CLOEXEC));
  Start(PlanFor(program, {Pid{0}}), -1);
  RunFor(300);
  EXPECT_FALSE(started_);
  ASSERT_EQ(reason_, "");
  writer.Reset();
  ASSERT_TRUE(RunUntil([this] { return output(Pid{0}) == "done\n"; }));
}

TEST_F(BspHostTest, GivesExactlyTheEnvironmentAndTheLimit) {
  proto::HostPlan plan = PlanFor(WriteScript("env; echo LIMIT=$(ulimit -d); pwd"), {Pid{0}});
  plan.set_environment(0, "ONLY=this");
  plan.add_environment("BSPNOW_LINK=forged");
  plan.set_memory_bytes(std::uint64_t{1} << 30);
  Start(plan, -1);
  ASSERT_TRUE(RunUntilGone());
  const std::string text = output(Pid{0});
  EXPECT_NE(text.find("ONLY=this\n"), std::string::npos) << text;
  EXPECT_NE(text.find("BSPNOW_LINK=3\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("forged"), std::string::npos) << text;
  EXPECT_EQ(text.find("HOME="), std::string::npos) << text;
  EXPECT_NE(text.find("LIMIT=1048576\n"), std::string::npos) << text;
  EXPECT_NE(text.find(directory_ + "\n"), std::string::npos) << text;
}

TEST_F(BspHostTest, GivesInputToPidZeroAlone) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  ASSERT_EQ(write(write_end.get(), "hello\n", 6), 6);
  write_end.Reset();
  Start(PlanFor(WriteScript("cat; echo end"), {Pid{0}, Pid{1}}), read_end.get());
  ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(output(Pid{0}), "hello\nend\n");
  EXPECT_EQ(output(Pid{1}), "end\n");
}

TEST_F(BspHostTest, SaysWhatTheRestorerSaysAndNothingOfItIsOutput) {
  proto::HostPlan plan = PlanFor(WriteScript("echo $1 >&2; exit 125"), {Pid{0}});
  proto::ResumedProcess& resumed = *plan.mutable_processes(0)->mutable_resumed();
  resumed.add_arguments("bsp-restore");
  resumed.add_arguments("no room");
  Start(plan, -1);
  ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(reason_, "pid 0: no room");
  EXPECT_EQ(output_bytes_, 0u);
  EXPECT_EQ(exited_.at(Pid{0}).exit_status(), 125);
}

TEST_F(BspHostTest, SurvivesAProcessThatClosesItsDescriptors) {
  StartScript("exec 0<&- 1>&- 2>&- 3>&-; exit 7", {Pid{0}});
  ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(exited_.at(Pid{0}).exit_status(), 7);
}

TEST_F(BspHostTest, PassesSignalsOn) {
  StartScript("trap 'echo caught; exit 0' USR1; echo ready; while :; do sleep 0.01; done",
              {Pid{0}});
  ASSERT_TRUE(RunUntil([this] { return output(Pid{0}) == "ready\n"; }));
  proto::HostOrder order;
  order.set_signal(SIGUSR1);
  host_->Send(order);
  ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(output(Pid{0}), "ready\ncaught\n");
}

TEST_F(BspHostTest, KillsDescendantsThatBecameDaemons) {
  StartScript("setsid sleep 1000 </dev/null >/dev/null 2>&1 3>&- & echo $!; exit 0", {Pid{0}});
  ASSERT_TRUE(RunUntilGone());
  const pid_t descendant = atoi(output(Pid{0}).c_str());
  ASSERT_GT(descendant, 0);
  EXPECT_FALSE(Lives(descendant));
}

TEST_F(BspHostTest, KillsEverythingOnOrder) {
  StartScript("setsid sleep 1000 & echo $!; sleep 1000", {Pid{0}});
  ASSERT_TRUE(RunUntil([this] { return !output(Pid{0}).empty(); }));
  KillAll();
  ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(exited_.at(Pid{0}).signal(), SIGKILL);
  EXPECT_FALSE(Lives(atoi(output(Pid{0}).c_str())));
}

TEST_F(BspHostTest, EndsThoughAProcessHasStoppedIt) {
  StartScript("trap '' TERM; kill -STOP $PPID; sleep 1000", {Pid{0}});
  ASSERT_TRUE(RunUntilItIsStopped());
  KillAll();
  ASSERT_TRUE(RunUntilGone());
  EXPECT_EQ(exited_.at(Pid{0}).signal(), SIGKILL);
}

TEST_F(BspHostTest, IsKilledIfAProcessStopsItAgainAndAgain) {
  kill_grace_ms_ = 200;
  StartScript("while :; do kill -STOP $PPID; done", {Pid{0}});
  ASSERT_TRUE(RunUntilItIsStopped());
  KillAll();
  EXPECT_TRUE(RunUntilGone());
}

TEST_F(BspHostTest, DoesNotKeepTheWorkerWhenItIsStopped) {
  kill_grace_ms_ = 200;
  StartScript("while :; do kill -STOP $PPID; done", {Pid{0}});
  ASSERT_TRUE(RunUntilItIsStopped());
  const pid_t host = host_->os_pid();
  host_.reset();
  EXPECT_FALSE(Lives(host));
}

// A link carries a few messages in a job's life and a few at each checkpoint.
TEST_F(BspHostTest, ReportsABeginOnce) {
  StartFlood(LinkHello::kBegin, 100);
  ASSERT_TRUE(RunUntil([this] { return begun_ > 0 && output(Pid{0}) == "done\n"; }));
  RunFor(kLinkFloodMs);
  EXPECT_EQ(begun_, 1);
}

TEST_F(BspHostTest, ReportsACheckpointThatIsAskedForAgainOnce) {
  StartFlood(LinkHello::kSaving, 100);
  ASSERT_TRUE(RunUntil([this] { return failed_checkpoints_ > 0 && output(Pid{0}) == "done\n"; }));
  RunFor(kLinkFloodMs);
  EXPECT_EQ(failed_checkpoints_, 1);
}

TEST_F(BspHostTest, TakesAFloodOfMessagesSlowly) {
  const std::uint64_t start_ns = NowNs();
  StartFlood(LinkHello::kHello, 2000);
  ASSERT_TRUE(RunUntil([this] { return output(Pid{0}) == "done\n"; }));
  EXPECT_GE(NowNs() - start_ns, 1'000'000'000u);
}

TEST_F(BspHostTest, KillsEverythingWhenTheWorkerIsGone) {
  StartScript("setsid sleep 1000 & echo $!; echo $$; sleep 1000", {Pid{0}});
  ASSERT_TRUE(RunUntil([this] {
    const std::string text = output(Pid{0});
    return std::count(text.begin(), text.end(), '\n') == 2;
  }));
  const pid_t host = host_->os_pid();
  host_.reset();  // As its end would, this closes the socket.
  const std::string text = output(Pid{0});
  EXPECT_FALSE(Lives(host));
  EXPECT_FALSE(Lives(atoi(text.c_str())));
  EXPECT_FALSE(Lives(atoi(text.substr(text.find('\n')).c_str())));
}

TEST_F(BspHostTest, HoldsAFloodUntilThereIsCredit) {
  // Beyond the credit there may be what one read gave.
  constexpr std::uint64_t kMost = kOutputCreditBytes + (64 << 10);
  keep_output_ = false;
  StartScript("exec yes", {Pid{0}});
  ASSERT_TRUE(RunUntil([this] { return output_bytes_ >= kEnough; }));
  RunFor(50);
  EXPECT_LE(output_bytes_, kMost);
  const std::uint64_t before = output_bytes_;
  proto::HostOrder order;
  order.set_credit_bytes(kOutputCreditBytes);
  host_->Send(order);
  ASSERT_TRUE(RunUntil([&] { return output_bytes_ >= before + kEnough; }));
  EXPECT_LE(output_bytes_, kMost + kOutputCreditBytes);
}

TEST_F(BspHostTest, EndsAProgramThatIsHeldForOutput) {
  keep_output_ = false;
  StartScript("exec yes", {Pid{0}});
  ASSERT_TRUE(RunUntil([this] { return output_bytes_ >= kEnough; }));
  KillAll();
  EXPECT_TRUE(RunUntilGone());
}

}  // namespace
}  // namespace bspnow::worker
