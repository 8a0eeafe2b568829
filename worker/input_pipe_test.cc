#include "worker/input_pipe.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace bspnow {
namespace {

class InputPipeTest : public testing::Test {
 protected:
  InputPipeTest() : pipe_(loop_, [this] { taken_ += 1; }) {
    signal(SIGPIPE, SIG_IGN);  // As the worker does.
    reader_ = pipe_.TakeReadEnd();
  }

  std::string ReadSome() {
    std::string bytes(1 << 16, '\0');
    const ssize_t n = read(reader_.get(), bytes.data(), bytes.size());
    bytes.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    return bytes;
  }

  EventLoop loop_;
  int taken_ = 0;
  InputPipe pipe_;
  UniqueFd reader_;
};

TEST_F(InputPipeTest, HandsOnWhatIsWritten) {
  pipe_.Write("hello");
  EXPECT_EQ(taken_, 1);
  EXPECT_EQ(ReadSome(), "hello");
}

TEST_F(InputPipeTest, SaysTakenOnlyWhenAllIsInThePipe) {
  const std::string much(300'000, 'x');
  pipe_.Write(much);
  EXPECT_EQ(taken_, 0);
  std::size_t bytes = 0;
  while (bytes < much.size()) {
    bytes += ReadSome().size();
    if (taken_ == 0) loop_.RunOnce();
  }
  EXPECT_EQ(taken_, 1);
}

TEST_F(InputPipeTest, EndsBehindWhatIsWritten) {
  pipe_.Write("last");
  pipe_.Close();
  EXPECT_EQ(ReadSome(), "last");
  EXPECT_EQ(ReadSome(), "");
}

TEST_F(InputPipeTest, LosesInputThatNobodyReads) {
  reader_.Reset();
  pipe_.Write("lost");
  EXPECT_EQ(taken_, 1);
  pipe_.Write("lost, too");
  EXPECT_EQ(taken_, 2);
}

}  // namespace
}  // namespace bspnow
