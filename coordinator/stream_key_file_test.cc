#include "coordinator/stream_key_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/file_text.h"
#include "base/testing/scratch_directory.h"

namespace bspnow::coordinator {
namespace {

namespace fs = std::filesystem;

class StreamKeyFileTest : public testing::Test {
 protected:
  void Write(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    chmod(path_.c_str(), 0600);
  }
  std::string Read() const { return FileText(path_); }

  const ScratchDirectory scratch_;
  const std::string path_ = scratch_.path() + "/stream.key";
};

TEST_F(StreamKeyFileTest, IsMadeOnceAndForNobodyElse) {
  const auto made = OpenStreamKey(path_);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_FALSE(made->empty());
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const auto again = OpenStreamKey(path_);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->bytes(), made->bytes());
}

TEST_F(StreamKeyFileTest, NoTwoClustersHaveTheSame) {
  const auto one = OpenStreamKey(path_);
  const auto other = OpenStreamKey(path_ + "2");
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_NE(one->bytes(), other->bytes());
}

TEST_F(StreamKeyFileTest, DamagedOneIsAnErrorAndStays) {
  ASSERT_TRUE(OpenStreamKey(path_).ok());
  const std::string right = Read();
  std::string not_hexadecimal = right;
  not_hexadecimal[5] = 'x';
  for (const std::string& text : {std::string(), right.substr(0, 64), right.substr(1), right + "\n",
                                  right + right, not_hexadecimal, std::string(65, '\0')}) {
    Write(text);
    const auto opened = OpenStreamKey(path_);
    EXPECT_EQ(opened.status().code(), absl::StatusCode::kDataLoss) << opened.status();
    EXPECT_NE(opened.status().message().find(path_), std::string::npos);
    EXPECT_EQ(Read(), text);
  }
}

TEST_F(StreamKeyFileTest, OneThatOthersMayReadIsAnError) {
  ASSERT_TRUE(OpenStreamKey(path_).ok());
  for (const mode_t mode : {0640, 0604, 0620}) {
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    EXPECT_EQ(OpenStreamKey(path_).status().code(), absl::StatusCode::kFailedPrecondition);
  }
}

TEST_F(StreamKeyFileTest, WhatIsNoRegularFileIsAnErrorAtOnce) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const auto fifo = OpenStreamKey(path_);
  EXPECT_EQ(fifo.status().code(), absl::StatusCode::kFailedPrecondition) << fifo.status();
  fs::remove(path_);
  fs::create_directory(path_);
  fs::permissions(path_, fs::perms::owner_all);
  const auto directory = OpenStreamKey(path_);
  EXPECT_EQ(directory.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(directory.status().message().find(path_), std::string::npos);
}

}  // namespace
}  // namespace bspnow::coordinator
