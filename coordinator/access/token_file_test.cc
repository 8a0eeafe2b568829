#include "coordinator/access/token_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/file_text.h"
#include "base/testing/no_descriptors.h"
#include "base/testing/scratch_directory.h"

namespace bspnow::coordinator {
namespace {

constexpr std::int64_t kNow = 1'800'000'000;
constexpr std::int64_t kLater = kNow + 1000;

class TokenFileTest : public testing::Test {
 protected:
  static NewToken OfAlice(const std::string& name = "laptop") {
    return {
        .name = name, .caller = {.user = "alice", .scopes = kScopesOfUser}, .until_unix_s = kLater};
  }
  std::string Text() const { return FileText(path_); }
  /// As an editor would, with another time of change.
  void Write(const std::string& text) const {
    const auto before = std::filesystem::last_write_time(path_);
    std::ofstream(path_) << text;
    std::filesystem::last_write_time(path_, before + std::chrono::seconds(1));
  }

  const ScratchDirectory scratch_;
  const std::string path_ = scratch_.path() + "/tokens";
  const TokenFile file_{path_};
};

TEST_F(TokenFileTest, KnowsWhomATokenIsOfUntilItEnds) {
  const auto token = file_.Add(OfAlice());
  ASSERT_TRUE(token.ok()) << token.status();
  const auto caller = file_.CallerOf(*token, kNow);
  ASSERT_TRUE(caller.has_value());
  EXPECT_EQ(caller->user, "alice");
  EXPECT_EQ(caller->scopes, kScopesOfUser);
  EXPECT_FALSE(file_.CallerOf(*token, kLater).has_value());
  EXPECT_FALSE(file_.CallerOf(*token + "0", kNow).has_value());
  EXPECT_FALSE(file_.CallerOf("", kNow).has_value());
}

TEST_F(TokenFileTest, KeepsNoToken) {
  const auto token = file_.Add(OfAlice());
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(Text().find(token->substr(token->size() - 16)), std::string::npos);
  struct stat found {};
  ASSERT_EQ(stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0077, 0u);
}

TEST_F(TokenFileTest, ALineThatIsTakenOutRevokesItsTokenAtOnce) {
  const auto first = file_.Add(OfAlice());
  ASSERT_TRUE(file_.CallerOf(*first, kNow).has_value());
  const std::string only = Text();
  const auto second = file_.Add(OfAlice("desk"));
  ASSERT_TRUE(second.ok()) << second.status();
  ASSERT_TRUE(TokenFile(path_).CallerOf(*second, kNow).has_value()) << "a coordinator anew";
  Write(only);
  EXPECT_TRUE(file_.CallerOf(*first, kNow).has_value());
  EXPECT_FALSE(file_.CallerOf(*second, kNow).has_value());
}

TEST_F(TokenFileTest, ALineThatIsTakenOutInTheSameMomentRevokesItsToken) {
  const auto token = file_.Add(OfAlice());
  struct stat before {};
  ASSERT_EQ(stat(path_.c_str(), &before), 0);
  ASSERT_TRUE(file_.CallerOf(*token, kNow).has_value());
  Write("");
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
  EXPECT_FALSE(file_.CallerOf(*token, kNow).has_value());
}

TEST_F(TokenFileTest, AFileThatIsNotUnderstoodLetsNobodyIn) {
  const auto token = file_.Add(OfAlice());
  Write(Text() + "rubbish\n");
  EXPECT_FALSE(file_.CallerOf(*token, kNow).has_value());
  const auto more = file_.Add(OfAlice("desk"));
  EXPECT_NE(more.status().message().find(path_ + ":2: "), std::string::npos) << more.status();
}

TEST_F(TokenFileTest, AFileThatCannotBeReadForAMomentIsReadWhenItCan) {
  const auto token = file_.Add(OfAlice());
  ASSERT_TRUE(token.ok()) << token.status();
  {
    const NoDescriptors none;
    EXPECT_FALSE(file_.CallerOf(*token, kNow).has_value());
    EXPECT_FALSE(file_.Add(OfAlice("desk")).ok());
  }
  EXPECT_TRUE(file_.CallerOf(*token, kNow).has_value()) << "the file is what it was";
}

TEST_F(TokenFileTest, AFileThatOthersMayWriteLetsNobodyIn) {
  const auto token = file_.Add(OfAlice());
  ASSERT_EQ(chmod(path_.c_str(), 0606), 0);
  EXPECT_FALSE(file_.CallerOf(*token, kNow).has_value());
  const absl::Status more = file_.Add(OfAlice("desk")).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(more)) << more;
  EXPECT_NE(more.message().find("write to " + path_), std::string::npos) << more;
  ASSERT_EQ(chmod(path_.c_str(), 0660), 0);  // As a volume's fsGroup has it.
  EXPECT_TRUE(file_.CallerOf(*token, kNow).has_value());
}

TEST_F(TokenFileTest, AFileOfAUserWhoIsNotTheDirectorysOwnerLetsNobodyIn) {
  constexpr uid_t kService = 4711;
  const auto token = file_.Add(OfAlice());
  if (geteuid() != 0 || chown(path_.c_str(), kService, kService) != 0)
    GTEST_SKIP() << "nobody but root gives files away";
  EXPECT_FALSE(file_.CallerOf(*token, kNow).has_value());
  ASSERT_EQ(chown(scratch_.path().c_str(), kService, kService), 0);
  EXPECT_TRUE(file_.CallerOf(*token, kNow).has_value()) << "a service's, read by root";
}

TEST_F(TokenFileTest, AllWhoAddAtOnceHaveTheirTokens) {
  constexpr int kAdministrators = 8;
  std::array<absl::StatusOr<std::string>, kAdministrators> tokens;
  {
    std::vector<std::jthread> adding;
    for (int i = 0; i < kAdministrators; ++i)
      adding.emplace_back([&, i] { tokens[i] = file_.Add(OfAlice("of-" + std::to_string(i))); });
  }
  for (const auto& token : tokens) {
    ASSERT_TRUE(token.ok()) << token.status();
    EXPECT_TRUE(file_.CallerOf(*token, kNow).has_value());
  }
}

TEST_F(TokenFileTest, ANameIsOfOneToken) {
  ASSERT_TRUE(file_.Add(OfAlice()).ok());
  EXPECT_EQ(file_.Add(OfAlice()).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(file_.Add(OfAlice("two words")).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ScopesTest, AreWrittenAsWords) {
  EXPECT_EQ(*ParseScopes("submit,read"), kScopesOfUser);
  EXPECT_EQ(ScopesText(kAllScopes), "read,submit,join,admin");
  EXPECT_EQ(ParseScopes("read,all").status().message(),
            "\"all\" is no scope; there are read, submit, join and admin");
}

}  // namespace
}  // namespace bspnow::coordinator
