// Output exactly once, whatever happens: any order of printing, repeating, going back to a
// checkpoint, restarting and reading.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include "coordinator/output/job_log_fixture.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint32_t kPids = 3;
constexpr std::uint64_t kAllBytes = 20'000;  ///< Beyond what any step prints.

/// What this process prints, always the same.
char ByteAt(std::uint32_t pid, std::uint64_t offset) {
  const std::uint64_t mixed = (offset + 1) * 2654435761u + pid * 40503u;
  return mixed % 7 == 0 ? '\n' : static_cast<char>('a' + mixed % 26);
}

std::string TextOf(std::uint32_t pid, std::uint64_t from, std::uint64_t to) {
  std::string text;
  while (from < to) text += ByteAt(pid, from++);
  return text;
}

class RandomLogTest : public JobLogTest, public testing::WithParamInterface<std::uint32_t> {
 protected:
  struct Follower {
    LogReader reader;
    std::string text[kPids];
    bool ended = false;

    void Catch() {
      while (true) {
        const auto next = reader.Read();
        ASSERT_TRUE(next.ok()) << next.status();
        ended = std::holds_alternative<LogReader::End>(*next);
        if (std::holds_alternative<LogReader::Again>(*next)) continue;
        if (!std::holds_alternative<LogRecord>(*next)) return;
        const auto& record = std::get<LogRecord>(*next);
        ASSERT_EQ(record.offset, text[record.pid].size());
        text[record.pid] += record.text;
      }
    }
  };

  std::uint64_t Below(std::uint64_t bound) { return random_() % bound; }

  void Start() {
    followers_.clear();  // A new coordinator: its clients attach anew.
    logs_ = nullptr;
    logs_ = std::make_unique<JobLogs>(state_, kNoLimit, AtOnce);
    logs_->Begin(kJob);
  }

  /// As a worker does that repeats what was not acknowledged.
  void Print() {
    const auto pid = static_cast<std::uint32_t>(Below(kPids));
    const std::uint64_t from = printed_to_[pid] - std::min(printed_to_[pid], Below(40));
    const std::uint64_t to = from + Below(60);
    ASSERT_TRUE(AppendAt(*logs_, Stdout(pid, from, TextOf(pid, from, to))).ok());
    printed_to_[pid] = std::max(printed_to_[pid], to);
  }

  void GoBack() {
    std::vector<LogPosition> positions;
    for (std::uint32_t pid = 0; pid < kPids; ++pid) {
      checkpoint_[pid] = std::min(checkpoint_[pid], printed_to_[pid]);
      printed_to_[pid] = checkpoint_[pid];
      positions.push_back({.pid = pid, .stdout_bytes = checkpoint_[pid], .stderr_bytes = 0});
    }
    ASSERT_TRUE(Cut(*logs_, positions).ok());
  }

  /// The run comes to its end.
  void ExpectToPrintAll(std::uint32_t pid) {
    const std::uint64_t from = printed_to_[pid];
    EXPECT_TRUE(AppendAt(*logs_, Stdout(pid, from, TextOf(pid, from, kAllBytes))).ok());
  }

  void TakeCheckpoint() { std::copy_n(printed_to_, kPids, checkpoint_); }

  std::mt19937 random_{GetParam()};
  std::unique_ptr<JobLogs> logs_;
  std::deque<Follower> followers_;
  std::uint64_t printed_to_[kPids] = {};
  std::uint64_t checkpoint_[kPids] = {};
};

TEST_P(RandomLogTest, EveryReaderSeesEachByteOnce) {
  Start();
  for (int step = 0; step < 400; ++step) {
    switch (Below(16)) {
      case 0:
        GoBack();
        break;
      case 1:
        TakeCheckpoint();
        break;
      case 2:
        Below(4) == 0 ? Start() : GoBack();
        break;
      case 3:
        followers_.push_back({.reader = logs_->Read(kJob), .text = {}, .ended = false});
        break;
      case 4:
      case 5:
        if (!followers_.empty()) followers_[Below(followers_.size())].Catch();
        break;
      default:
        Print();
    }
  }
  for (std::uint32_t pid = 0; pid < kPids; ++pid) ExpectToPrintAll(pid);
  followers_.push_back({.reader = logs_->Read(kJob), .text = {}, .ended = false});
  for (Follower& follower : followers_) {
    follower.Catch();
    for (std::uint32_t pid = 0; pid < kPids; ++pid)
      EXPECT_EQ(follower.text[pid], TextOf(pid, 0, kAllBytes)) << "seed " << GetParam();
  }
}

TEST_P(RandomLogTest, FollowerBesideTheWriterSeesEachByteOnce) {
  Start();
  Follower follower{.reader = logs_->Read(kJob), .text = {}, .ended = false};
  {
    const std::jthread reader([&follower] {
      while (true) {
        follower.Catch();
        if (follower.ended) return;
        std::promise<void> more;
        follower.reader.WhenMore([&more] { more.set_value(); });
        more.get_future().wait();
      }
    });
    for (int step = 0; step < 200; ++step) {
      const std::uint64_t choice = Below(10);
      if (choice == 0) GoBack();
      if (choice == 1) TakeCheckpoint();
      if (choice > 1) Print();
    }
    for (std::uint32_t pid = 0; pid < kPids; ++pid) ExpectToPrintAll(pid);
    logs_->End(kJob);
  }
  for (std::uint32_t pid = 0; pid < kPids; ++pid)
    EXPECT_EQ(follower.text[pid], TextOf(pid, 0, kAllBytes)) << "seed " << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLogTest, testing::Range(1u, 26u));

}  // namespace
}  // namespace bspnow::coordinator
