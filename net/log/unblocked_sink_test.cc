#include "net/log/unblocked_sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/unique_fd.h"

namespace bspnow {
namespace {

class UnblockedSinkTest : public testing::Test {
 protected:
  UnblockedSinkTest() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    reader_ = UniqueFd(ends[0]);
    writer_ = UniqueFd(ends[1]);
    log_ = std::make_unique<spdlog::logger>("test", std::make_shared<UnblockedSink>(ends[1]));
    log_->set_pattern("%v");
  }

  /// All that is in the pipe.
  std::string Read() {
    std::string all;
    char piece[4096];
    for (ssize_t n; (n = read(reader_.get(), piece, sizeof piece)) > 0;)
      all.append(piece, static_cast<std::size_t>(n));
    return all;
  }

  UniqueFd reader_;
  UniqueFd writer_;
  std::unique_ptr<spdlog::logger> log_;
};

TEST_F(UnblockedSinkTest, WritesLinesOfAnyLength) {
  const std::string line(10'000, 'x');
  log_->info(line);
  log_->info("short");
  EXPECT_EQ(Read(), line + "\nshort\n");
}

TEST_F(UnblockedSinkTest, WaitsForNobodyAndCountsWhatIsLost) {
  const std::string line(999, 'x');
  constexpr int kLines = 200;  // A pipe holds 64 KiB.
  for (int i = 0; i < kLines; ++i) log_->info(line);
  const std::size_t written = Read().size() / (line.size() + 1);
  EXPECT_GT(written, 0u);
  EXPECT_LT(written, static_cast<std::size_t>(kLines));
  log_->info("read again");
  EXPECT_EQ(Read(),
            "event=log_lines_lost lines=" + std::to_string(kLines - written) + "\nread again\n");
}

TEST_F(UnblockedSinkTest, ALineThatIsCutEndsAllTheSame) {
  log_->info(std::string(100'000, 'x'));
  const std::size_t taken = Read().size();
  EXPECT_GT(taken, 0u);
  log_->info("next");
  EXPECT_EQ(Read(), "\nevent=log_lines_lost lines=1\nnext\n");
}

TEST_F(UnblockedSinkTest, OutlivesItsReader) {
  signal(SIGPIPE, SIG_IGN);  // As the daemons do.
  reader_ = UniqueFd();
  log_->info("to nobody");
}

}  // namespace
}  // namespace bspnow
