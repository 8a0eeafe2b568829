#include "worker/job/input_pipe.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <vector>

namespace bspnow::worker {
namespace {

using Bytes = std::vector<std::uint64_t>;

class InputPipeTest : public testing::Test {
 protected:
  InputPipeTest() : pipe_(loop_, [this](std::uint64_t bytes) { taken_.push_back(bytes); }) {
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
  Bytes taken_;  ///< As it was called, each time.
  InputPipe pipe_;
  UniqueFd reader_;
};

TEST_F(InputPipeTest, HandsOnWhatIsWritten) {
  EXPECT_TRUE(pipe_.Write(0, "hello"));
  EXPECT_EQ(taken_, Bytes({5}));
  EXPECT_EQ(ReadSome(), "hello");
}

TEST_F(InputPipeTest, SaysTakenOnlyWhenAllIsInThePipe) {
  const std::string much(300'000, 'x');
  EXPECT_TRUE(pipe_.Write(0, much));
  EXPECT_TRUE(taken_.empty());
  std::size_t bytes = 0;
  while (bytes < much.size()) {
    bytes += ReadSome().size();
    if (taken_.empty()) loop_.RunOnce();
  }
  EXPECT_EQ(taken_, Bytes({much.size()}));
}

TEST_F(InputPipeTest, HandsOnOnceWhatComesAgainAndSaysThatItIsTaken) {
  EXPECT_TRUE(pipe_.Write(0, "hello"));
  EXPECT_TRUE(pipe_.Write(0, "hello"));
  EXPECT_TRUE(pipe_.Write(2, "llo, you"));
  EXPECT_EQ(taken_, Bytes({5, 5, 10}));
  EXPECT_EQ(ReadSome(), "hello, you");
}

TEST_F(InputPipeTest, WhatComesAgainBeforeItIsInThePipeIsTakenOnce) {
  const std::string much(300'000, 'x');
  EXPECT_TRUE(pipe_.Write(0, much));
  EXPECT_TRUE(pipe_.Write(0, much));
  std::size_t bytes = 0;
  while (bytes < much.size()) {
    bytes += ReadSome().size();
    if (taken_.empty()) loop_.RunOnce();
  }
  EXPECT_EQ(taken_, Bytes({much.size()}));
  EXPECT_EQ(bytes, much.size());
}

TEST_F(InputPipeTest, RefusesInputWithAGapBeforeIt) {
  EXPECT_TRUE(pipe_.Write(0, "hello"));
  EXPECT_FALSE(pipe_.Write(6, "you"));
  EXPECT_EQ(ReadSome(), "hello");
}

TEST_F(InputPipeTest, EndsBehindWhatIsWritten) {
  EXPECT_TRUE(pipe_.Write(0, "last"));
  pipe_.Close();
  EXPECT_EQ(ReadSome(), "last");
  EXPECT_EQ(ReadSome(), "");
}

TEST_F(InputPipeTest, LosesInputThatNobodyReads) {
  reader_.Reset();
  EXPECT_TRUE(pipe_.Write(0, "lost"));
  EXPECT_TRUE(pipe_.Write(4, "lost, too"));
  EXPECT_EQ(taken_, Bytes({4, 13}));
}

}  // namespace
}  // namespace bspnow::worker
