#include "coordinator/access/audit_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include <absl/strings/match.h>
#include "base/testing/scratch_directory.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

class AuditLogTest : public testing::Test {
 protected:
  void Open() {
    auto log = AuditLog::Open(path_, [this] { return now_ns_; });
    ASSERT_TRUE(log.ok()) << log.status();
    log_ = *std::move(log);
  }

  std::vector<std::string> Lines() const {
    std::ifstream file(path_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  const ScratchDirectory scratch_;
  const std::string path_ = scratch_.path() + "/audit.log";
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
  log_->Write({.user = "eve\"\n2026 user=\"anna",
               .from = {},
               .call = "SubmitJob",
               .what = std::string(100'000, 'x'),
               .outcome = absl::PermissionDeniedError("no\nno")});
  ASSERT_EQ(Lines().size(), 1u);
  EXPECT_TRUE(absl::StrContains(Lines()[0], R"(user="eve\"\n2026 user=\"anna")"));
  EXPECT_TRUE(absl::EndsWith(Lines()[0], R"(outcome=permission_denied reason="no\nno")"));
  EXPECT_LT(Lines()[0].size(), 1000u);
}

TEST_F(AuditLogTest, WhoIsRefusedAllTheTimeIsCounted) {
  Open();
  const AuditEntry refused{.user = {},
                           .from = "unix:",
                           .call = "ListJobs",
                           .what = {},
                           .outcome = absl::UnauthenticatedError("no token")};
  for (int i = 0; i < 1000; ++i) log_->Write(refused);
  EXPECT_EQ(Lines().size(), 100u);
  const AuditEntry permitted{
      .user = "anna", .from = {}, .call = "DrainNode", .what = {}, .outcome = absl::OkStatus()};
  log_->Write(permitted);
  EXPECT_EQ(Lines().size(), 101u) << "others are heard all the same";
  now_ns_ += kSecondNs;
  log_->Write(refused);
  ASSERT_EQ(Lines().size(), 103u);
  EXPECT_TRUE(absl::EndsWith(Lines()[101], "more_refused=900"));
  EXPECT_EQ(log_->refused(), 1001u);
}

}  // namespace
}  // namespace bspnow::coordinator
