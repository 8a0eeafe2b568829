#include "coordinator/access/audit_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

class AuditLogTest : public testing::Test {
 protected:
  void Open() {
    auto log =
        AuditLog::Open({.acts = path_, .refused = refused_path_}, [this] { return now_ns_; });
    ASSERT_TRUE(log.ok()) << log.status();
    log_ = *std::move(log);
  }

  std::vector<std::string> LinesOf(const std::string& path) const {
    if (log_) log_->Flush();
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  std::vector<std::string> Lines() const { return LinesOf(path_); }
  std::vector<std::string> Refused() const { return LinesOf(refused_path_); }

  const ScratchDirectory scratch_;
  const std::string path_ = scratch_.path() + "/audit.log";
  const std::string refused_path_ = scratch_.path() + "/refused.log";
  std::uint64_t now_ns_ = 0;
  std::unique_ptr<AuditLog> log_;
};

TEST_F(AuditLogTest, ALineACallIsAddedToWhatIsThere) {
  for (int run = 0; run < 2; ++run) {
    Open();
    log_->Write({.user = "anna",
                 .from = "ipv4:10.0.0.3:4711",
                 .call = "CancelJob",
                 .what = "job 3",
                 .outcome = absl::OkStatus()});
  }
  ASSERT_EQ(Lines().size(), 2u);
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_TRUE(absl::EndsWith(
      Lines()[1],
      R"( user="anna" from="ipv4:10.0.0.3:4711" call=CancelJob what="job 3" outcome=ok)"))
      << Lines()[1];
}

TEST_F(AuditLogTest, NobodyMakesALineOfHisOwn) {
  Open();
  for (const std::string& what : {std::string(100'000, 'x'), std::string(100'000, '\x01')}) {
    log_->Write({.user = "eve\"\n2026 user=\"anna",
                 .from = {},
                 .call = "SubmitJob",
                 .what = what,
                 .outcome = absl::PermissionDeniedError("no\nno")});
  }
  ASSERT_EQ(Refused().size(), 2u);
  for (const std::string& line : Refused()) {
    EXPECT_TRUE(absl::StrContains(line, R"(user="eve\"\n2026 user=\"anna")"));
    EXPECT_TRUE(absl::EndsWith(line, R"(" outcome=permission_denied reason="no\nno")"));
    EXPECT_FALSE(absl::StrContains(line, R"(\" outcome)")) << "an escape that was cut in two";
    EXPECT_LT(line.size(), 1000u);
  }
}

AuditEntry RefusedTo(const std::string& user, const std::string& from) {
  return {.user = user,
          .from = from,
          .call = "ListJobs",
          .what = {},
          .outcome = absl::UnauthenticatedError("no token")};
}

TEST_F(AuditLogTest, WhoIsRefusedAllTheTimeIsCountedAndHidesNobody) {
  Open();
  for (int i = 0; i < 1000; ++i)
    log_->Write(RefusedTo("", "ipv4:10.0.0.3:" + std::to_string(4000 + i)));
  EXPECT_EQ(Refused().size(), AuditLog::kRefusedOfCaller);
  log_->Write(RefusedTo("", "ipv4:10.0.0.4:4000"));
  log_->Write(RefusedTo("bob", "ipv4:10.0.0.3:4000"));
  EXPECT_EQ(Refused().size(), AuditLog::kRefusedOfCaller + 2);
  now_ns_ += kSecondNs;
  log_->Write(RefusedTo("", "ipv4:10.0.0.3:4000"));
  ASSERT_EQ(Refused().size(), AuditLog::kRefusedOfCaller + 4);
  EXPECT_TRUE(absl::EndsWith(Refused()[AuditLog::kRefusedOfCaller + 2], "more_refused=950"));
  EXPECT_EQ(log_->refused(), 1003u);
  EXPECT_TRUE(Lines().empty()) << "what was done has a file of its own";
}

TEST_F(AuditLogTest, RefusalsOfManyAddressesHaveALimitTogether) {
  Open();
  for (int i = 0; i < 1000; ++i)
    log_->Write(RefusedTo("", "ipv6:[2001:db8::" + std::to_string(i) + "]:4000"));
  EXPECT_EQ(Refused().size(), AuditLog::kRefusedInAll);
}

TEST_F(AuditLogTest, WhatIsDoneAgainAndAgainIsCountedAndHidesNothing) {
  Open();
  const auto act = [](const std::string& call, const std::string& what) {
    return AuditEntry{.user = "eve",
                      .from = "ipv4:10.0.0.3:4711",
                      .call = call,
                      .what = what,
                      .outcome = absl::OkStatus()};
  };
  for (int i = 0; i < 1000; ++i) log_->Write(act("OpenPage", ""));
  for (int job = 0; job < 1000; ++job) log_->Write(act("CancelJob", "job " + std::to_string(job)));
  EXPECT_EQ(Lines().size(), 1001u);
  log_.reset();
  ASSERT_EQ(Lines().size(), 1002u);
  EXPECT_TRUE(absl::EndsWith(
      Lines().back(), R"(user="eve" from="ipv4:10.0.0.3" call=OpenPage outcome=ok repeated=999)"))
      << Lines().back();
}

// The loop that renews the leases of all workers writes such lines.
TEST_F(AuditLogTest, NobodyWaitsForADiskThatHangs) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const UniqueFd disk(open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(disk.valid());
  Open();
  const std::size_t acts = 2 * AuditLog::kWaitingMax + 5000;  // One half is being written.
  for (std::size_t i = 0; i < acts; ++i)
    log_->Write({.user = "anna",
                 .from = {},
                 .call = "CancelJob",
                 .what = absl::StrCat("job ", i),
                 .outcome = absl::OkStatus()});
  std::jthread ends([this] { log_.reset(); });
  ASSERT_EQ(fcntl(disk.get(), F_SETFL, 0), 0);
  std::string written;
  char bytes[4096];
  for (ssize_t n; (n = read(disk.get(), bytes, sizeof bytes)) > 0;)
    written.append(bytes, static_cast<std::size_t>(n));
  const auto lines = std::count(written.begin(), written.end(), '\n');
  EXPECT_GT(lines, AuditLog::kWaitingMax);
  EXPECT_LT(lines, acts);
  EXPECT_TRUE(absl::StrContains(written, " lost=")) << "nothing is lost in silence";
}

}  // namespace
}  // namespace bspnow::coordinator
