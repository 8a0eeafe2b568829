// Who writes an image is a child of its process, beside those that the program has made.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "worker/host/checkpoint_host_fixture.h"

namespace bspnow::worker {
namespace {

class CheckpointWritersTest : public CheckpointHostTest {};

/// As libbsp makes who writes an image: its parent gets no signal at its end.
pid_t CloneWriter() {
  return static_cast<pid_t>(syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr));
}

TEST_F(CheckpointWritersTest, NoticesThatAWriterWasKilled) {
  AskBoth();
  AwaitArchiver();
  host_.OnReported(Pid{2}, Written(7));
  writer_ = getpid();
  const pid_t child = CloneWriter();
  if (child == 0) {
    pause();
    _exit(0);
  }
  host_.CheckWaits(kSecondNs);
  host_.CheckWaits(2 * kSecondNs);
  EXPECT_TRUE(host_.under_way());
  kill(child, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info,
         WEXITED | WNOWAIT | __WALL);  // It stays a zombie.
  host_.CheckWaits(3 * kSecondNs);     // The report may be on its way.
  EXPECT_TRUE(host_.under_way());
  host_.CheckWaits(4 * kSecondNs);
  EXPECT_FALSE(host_.under_way());
  EXPECT_EQ(Failure(), "pid 3: the writer of its image was killed");
  waitpid(child, nullptr, __WALL);
}

/// A child that computes for some ticks of the clock, once it is made and after each GoOn.
class Computing {
 public:
  Computing() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    end_ = UniqueFd(ends[0]);
    const UniqueFd its_end(ends[1]);
    child_ = CloneWriter();
    if (child_ != 0) return;
    end_.Reset();
    const int end = its_end.get();
    for (char byte = 0; write(end, &byte, 1) == 1 && read(end, &byte, 1) == 1;)
      for (const std::uint64_t until_ns = ProcessorNs() + kTicksNs; ProcessorNs() < until_ns;) {
      }
    _exit(0);
  }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;
  ~Computing() {
    end_.Reset();
    waitpid(child_, nullptr, __WALL);
  }

  /// Returns when it has.
  void GoOn() {
    char byte = 0;
    EXPECT_EQ(read(end_.get(), &byte, 1), 1);
    EXPECT_EQ(write(end_.get(), &byte, 1), 1);
    EXPECT_EQ(recv(end_.get(), &byte, 1, MSG_PEEK), 1);
  }

 private:
  static constexpr std::uint64_t kTicksNs = 50'000'000;
  UniqueFd end_;
  pid_t child_ = 0;
};

// Hundreds of GB on a file server that others use, too.
TEST_F(CheckpointWritersTest, WaitsForAnImageAsLongAsItsWriterGoesOn) {
  AskBoth();
  AwaitArchiver();
  host_.OnReported(Pid{2}, Written(7));
  writer_ = getpid();
  Computing writer;
  host_.CheckWaits(kSecondNs);
  for (const std::uint64_t minutes : {9, 18, 27}) {
    writer.GoOn();
    host_.CheckWaits(minutes * 60 * kSecondNs);
    ASSERT_TRUE(host_.under_way()) << minutes;
  }
  host_.CheckWaits(36 * 60 * kSecondNs);
  EXPECT_TRUE(host_.under_way());
  host_.CheckWaits(38 * 60 * kSecondNs);
  EXPECT_FALSE(host_.under_way());
  EXPECT_EQ(Failure(), "pid 3: its image did not get on for 10 min: does the disk answer?");
}

// Its process would wait for it.
TEST_F(CheckpointWritersTest, BeginsNoneWhileAWriterThatWasGivenUpIsThere) {
  AskBoth();
  AwaitArchiver();
  writer_ = getpid();
  const pid_t child = CloneWriter();
  if (child == 0) {
    pause();
    _exit(0);
  }
  host_.CheckWaits(kSecondNs);
  host_.CheckWaits(602 * kSecondNs);
  ASSERT_EQ(reports_.size(), 1u);
  header_->image.checkpoint = 8;
  AskBoth();
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, false}, {Pid{3}, false}}));
  ASSERT_EQ(reports_.size(), 2u);
  EXPECT_EQ(reports_[1].checkpoint_failed().reason(), "pid 2: checkpoint 7 is still being written");
  kill(child, SIGKILL);
  waitpid(child, nullptr, __WALL);
  header_->image.checkpoint = 9;
  AskBoth();
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, true}, {Pid{3}, true}}));
  AwaitArchiver();
}

// That of a program which names its areas.
TEST_F(CheckpointWritersTest, TakesNoChildOfTheProgramForAWriter) {
  AskBoth();
  AwaitArchiver();
  host_.OnReported(Pid{2}, Written(7));
  writer_ = getpid();
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const pid_t writer = CloneWriter();
  if (writer == 0) {
    pause();
    _exit(0);
  }
  host_.CheckWaits(kSecondNs);
  kill(writer, SIGKILL);
  waitpid(writer, nullptr, __WALL);
  host_.CheckWaits(2 * kSecondNs);
  host_.CheckWaits(3 * kSecondNs);
  EXPECT_EQ(Failure(), "pid 3: the writer of its image was killed");
  header_->image.checkpoint = 8;
  AskBoth();
  AwaitArchiver();
  host_.CheckWaits(4 * kSecondNs);
  host_.CheckWaits(700 * kSecondNs);
  EXPECT_FALSE(host_.under_way());
  answers_.clear();
  header_->image.checkpoint = 9;
  AskBoth();
  EXPECT_EQ(answers_, (std::map<Pid, bool>{{Pid{2}, true}, {Pid{3}, true}}));
  AwaitArchiver();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace bspnow::worker
