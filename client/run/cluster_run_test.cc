#include "client/run/cluster_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

#include "base/testing/file_text.h"
#include "base/unique_fd.h"
#include "client/cluster/testing/fake_jobs_service.h"
#include "client/options/output_file.h"

namespace bspnow::client {
namespace {

/// For its lifetime descriptor `fd` is the file `path`.
class Redirected {
 public:
  Redirected(int fd, const std::string& path, int flags)
      : fd_(fd), saved_(fcntl(fd, F_DUPFD_CLOEXEC, 3)) {
    const UniqueFd file(open(path.c_str(), flags | O_CLOEXEC, 0600));
    dup2(file.get(), fd_);
  }
  ~Redirected() { dup2(saved_.get(), fd_); }

 private:
  int fd_;
  UniqueFd saved_;
};

/// A terminal, and what is printed on it.
class Terminal {
 public:
  Terminal() : other_end_(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)) {
    grantpt(other_end_.get());
    unlockpt(other_end_.get());
  }

  std::string path() const { return ptsname(other_end_.get()); }

  std::string Printed() const {
    char text[4096];
    const ssize_t n = read(other_end_.get(), text, sizeof text);
    return n > 0 ? std::string(text, static_cast<std::size_t>(n)) : "";
  }

 private:
  UniqueFd other_end_;
};

class ClusterRunTest : public testing::Test {
 protected:
  ClusterRunTest() {
    jobs_.end.set_state(proto::SUCCEEDED);
    options_.nprocs = 2;
    options_.coordinator = service_.address();
    options_.program = {"/bin/true"};
  }

  int Run(const std::string& input) {
    std::ofstream(Path("input")) << input;
    int status;
    {
      const Redirected in(STDIN_FILENO, Path("input"), O_RDONLY);
      const Redirected out(STDOUT_FILENO, Path("output"), O_WRONLY | O_CREAT | O_TRUNC);
      const Redirected error(STDERR_FILENO, Path("error"), O_WRONLY | O_CREAT | O_TRUNC);
      status = RunOnCluster(options_);
    }
    output_ = FileText(Path("output"));
    error_ = FileText(Path("error"));
    return status;
  }

  void AddLine(std::uint32_t pid, proto::OutputStream stream, const std::string& text) {
    proto::LogLine line;
    line.set_pid(pid);
    line.set_stream(stream);
    line.set_text(text);
    jobs_.log.push_back(line);
  }

  static std::string Path(const std::string& name) { return testing::TempDir() + "/" + name; }

  FakeJobs jobs_;
  FakeJobsService service_{jobs_};
  JobOptions options_;
  std::string output_;
  std::string error_;
};

TEST_F(ClusterRunTest, GivesAllInputAndPrintsAllOutput) {
  std::string input;
  for (int i = 0; i < 40'000; ++i) input += "line " + std::to_string(i) + "\n";
  EXPECT_EQ(Run(input), 0);
  EXPECT_TRUE(output_ == input) << output_.size() << " of " << input.size() << " bytes";
  EXPECT_EQ(error_, "");
}

TEST_F(ClusterRunTest, LosesNothingAndRepeatsNothingWhenTheStreamBreaks) {
  AddLine(1, proto::STDERR, "warning\n");
  jobs_.breaks = 2;
  std::string input;
  for (int i = 0; i < 40'000; ++i) input += "line " + std::to_string(i) + "\n";
  EXPECT_EQ(Run(input), 0);
  EXPECT_TRUE(output_ == input) << output_.size() << " of " << input.size() << " bytes";
  const std::string lost =
      "bsprun: lost the coordinator " + service_.address() + ": cut; trying again\n";
  EXPECT_EQ(error_, "warning\n" + lost + lost);
}

TEST_F(ClusterRunTest, GivesUpAtOnceIfItIsNotToComeAgain) {
  options_.reconnect_s = 0;
  jobs_.breaks = 1;
  EXPECT_EQ(Run("line\n"), 1);
  EXPECT_NE(error_.find("no answer from the coordinator"), std::string::npos) << error_;
}

TEST_F(ClusterRunTest, SaysThatItLeavesWhenItsOutputIsLost) {
  AddLine(0, proto::STDOUT, "line\n");
  const Redirected in(STDIN_FILENO, "/dev/zero", O_RDONLY);
  const Redirected out(STDOUT_FILENO, "/dev/full", O_WRONLY);
  EXPECT_EQ(RunOnCluster(options_), 1);
  EXPECT_TRUE(jobs_.left);
}

TEST_F(ClusterRunTest, GivesNoPartOfAnInputThatCannotBeReadForTheWhole) {
  int status;
  {
    const Redirected in(STDIN_FILENO, testing::TempDir(), O_RDONLY | O_DIRECTORY);
    const Redirected error(STDERR_FILENO, Path("error"), O_WRONLY | O_CREAT | O_TRUNC);
    status = RunOnCluster(options_);
  }
  EXPECT_EQ(status, 1);
  EXPECT_EQ(FileText(Path("error")), "bsprun: reading standard input: Is a directory\n");
}

TEST_F(ClusterRunTest, InputOfNohupIsEmpty) {
  const Redirected in(STDIN_FILENO, "/dev/null", O_WRONLY);
  EXPECT_EQ(RunOnCluster(options_), 0);
}

TEST_F(ClusterRunTest, GivesTheExitStatusOfTheJob) {
  jobs_.end.set_state(proto::FAILED);
  jobs_.end.set_exit_status(6);
  EXPECT_EQ(Run(""), 6);
}

TEST_F(ClusterRunTest, KeepsOutputAndErrorApart) {
  AddLine(0, proto::STDOUT, "result\n");
  AddLine(1, proto::STDERR, "warning\n");
  EXPECT_EQ(Run(""), 0);
  EXPECT_EQ(output_, "result\n");
  EXPECT_EQ(error_, "warning\n");
}

TEST_F(ClusterRunTest, WritesItsOutputToTheFileThatIsNamedAlsoFromATerminal) {
  AddLine(0, proto::STDOUT, "result\n");
  std::ofstream(Path("input")) << "";
  for (const char* name : {"results", "results-%j"}) {
    const Terminal terminal;
    options_.output = Path(name);
    {
      const Redirected in(STDIN_FILENO, Path("input"), O_RDONLY);
      const Redirected out(STDOUT_FILENO, terminal.path(), O_RDWR | O_NOCTTY);
      EXPECT_EQ(RunOnCluster(options_), 0);
    }
    EXPECT_EQ(FileText(OutputPath(options_.output, jobs_.jobs.size())), "result\n");
    EXPECT_EQ(terminal.Printed(), "");
  }
}

TEST_F(ClusterRunTest, PrefixesEachLineOnceHoweverItComes) {
  options_.prefix_output = true;
  AddLine(1, proto::STDOUT, "one\ntwo");
  AddLine(1, proto::STDOUT, " and more\n");
  AddLine(0, proto::STDOUT, "three");
  AddLine(1, proto::STDOUT, "four\n");
  EXPECT_EQ(Run(""), 0);
  EXPECT_EQ(output_, "[1] one\n[1] two and more\n[0] three\n[1] four\n");
}

TEST_F(ClusterRunTest, SaysThatAProgramIsNotLinkedWithLibbsp) {
  jobs_.end.set_never_attached(true);
  EXPECT_EQ(Run(""), 1);
  EXPECT_NE(error_.find("/bin/true is not linked with libbsp"), std::string::npos) << error_;
}

TEST_F(ClusterRunTest, PrintsTheTimingOfTheJob) {
  options_.json = true;
  jobs_.end.mutable_totals()->set_processes(2);
  jobs_.end.mutable_totals()->set_supersteps(5);
  EXPECT_EQ(Run(""), 0);
  EXPECT_EQ(error_.find("{\""), 0u) << error_;
  EXPECT_NE(error_.find("\"processes\":2,"), std::string::npos) << error_;
  EXPECT_NE(error_.find("\"supersteps\":5,"), std::string::npos) << error_;
}

TEST_F(ClusterRunTest, HandsASignalToTheJob) {
  // An input that never ends: what ends the job is the signal, pending when the run begins.
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  const UniqueFd saved(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  dup2(read_end.get(), STDIN_FILENO);
  AddLine(0, proto::STDOUT, "begun\n");
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  raise(SIGUSR1);
  EXPECT_EQ(RunOnCluster(options_), 128 + SIGUSR1);  // Of the fake job; a real one might go on.
  dup2(saved.get(), STDIN_FILENO);
}

TEST_F(ClusterRunTest, IsNotStoppedSinceThatWouldCancelTheJob) {
  signal(SIGTSTP, SIG_DFL);  // Whatever started this test.
  jobs_.submitting = [thread = pthread_self()] { pthread_kill(thread, SIGTSTP); };
  EXPECT_EQ(Run("input\n"), 0);
  EXPECT_EQ(output_, "input\n");
  EXPECT_NE(error_.find("bsprun: Ctrl-Z does not stop bsprun"), std::string::npos) << error_;
}

TEST_F(ClusterRunTest, CancelsAJobThatIsAcceptedAfterAnInterruption) {
  jobs_.submitting = [thread = pthread_self()] { pthread_kill(thread, SIGTERM); };
  EXPECT_EQ(Run(""), 128 + SIGTERM);
  EXPECT_EQ(jobs_.cancelled, (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(error_, "bsprun: cancelled job 1\n");
}

TEST_F(ClusterRunTest, FailsAtOnceWhereThereIsNoProgram) {
  options_.program = {"./no_such_program"};
  EXPECT_EQ(Run(""), 127);
  EXPECT_NE(error_.find("no_such_program not found"), std::string::npos) << error_;
}

}  // namespace
}  // namespace bspnow::client
