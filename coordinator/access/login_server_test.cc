#include "coordinator/access/login_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"
#include "net/login/login.h"
#include "net/login/unix_address.h"

namespace bspnow::coordinator {
namespace {

class LoginServerTest : public testing::Test {
 protected:
  /// What a client gets, in a process of this user.
  absl::StatusOr<std::string> LogIn() {
    std::optional<absl::StatusOr<std::string>> token;
    std::thread client([&] {
      token = TokenSource("127.0.0.1:1", {.login_socket = path_, .token_file = ""}).Token();
      loop_.Post([this] { loop_.Stop(); });
    });
    loop_.Run();
    client.join();
    return *token;
  }

  const ScratchDirectory scratch_;
  std::string path_ = scratch_.path() + "/login";
  EventLoop loop_;
  const LoginTokens tokens_;
};

TEST_F(LoginServerTest, GivesATokenThatNamesWhoConnected) {
  const auto server = LoginServer::Listen(loop_, tokens_, path_);
  ASSERT_TRUE(server.ok()) << server.status();
  const auto token = LogIn();
  ASSERT_TRUE(token.ok()) << token.status();
  const auto caller = tokens_.CallerOf(*token, NowNs());
  ASSERT_TRUE(caller.has_value());
  EXPECT_EQ(caller->user, CallerOfUser(geteuid()).user);
  EXPECT_EQ(caller->scopes, kAllScopes) << "he runs the coordinator";
}

TEST_F(LoginServerTest, OtherUsersMaySubmitAndNoMore) {
  constexpr uid_t kUnknown = 4'000'000;
  EXPECT_EQ(CallerOfUser(kUnknown).user, "uid-4000000");
  EXPECT_EQ(CallerOfUser(kUnknown).scopes, kScopesOfUser);
  EXPECT_EQ(CallerOfUser(0).scopes, kAllScopes);
}

TEST_F(LoginServerTest, TakesThePlaceOfOneThatIsGoneAndLeavesNothing) {
  {
    const UniqueFd left(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = UnixAddress::Of(path_);
    ASSERT_EQ(bind(left.get(), address->get(), address->size()), 0);
  }
  {
    const auto server = LoginServer::Listen(loop_, tokens_, path_);
    ASSERT_TRUE(server.ok()) << server.status();
    struct stat found {};
    ASSERT_EQ(stat(path_.c_str(), &found), 0);
    EXPECT_TRUE(S_ISSOCK(found.st_mode));
    EXPECT_EQ(found.st_mode & 0777, 0666u) << "all users of the machine may connect";
  }
  EXPECT_NE(access(path_.c_str(), F_OK), 0);
}

TEST_F(LoginServerTest, LeavesTheSocketOfOneThatServes) {
  const auto server = LoginServer::Listen(loop_, tokens_, path_);
  ASSERT_TRUE(server.ok()) << server.status();
  const LoginTokens of_another;
  EXPECT_TRUE(absl::IsFailedPrecondition(LoginServer::Listen(loop_, of_another, path_).status()));
  const auto token = LogIn();
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_TRUE(tokens_.CallerOf(*token, NowNs()).has_value());
}

TEST_F(LoginServerTest, LeavesAFileThatIsNoSocket) {
  std::ofstream(path_) << "mine";
  EXPECT_TRUE(absl::IsFailedPrecondition(LoginServer::Listen(loop_, tokens_, path_).status()));
  EXPECT_EQ(std::filesystem::file_size(path_), 4u);
}

TEST_F(LoginServerTest, SaysWhereItCannotListen) {
  const auto nowhere = LoginServer::Listen(loop_, tokens_, scratch_.path() + "/none/login");
  EXPECT_NE(nowhere.status().message().find("/none/login"), std::string::npos) << nowhere.status();
}

TEST_F(LoginServerTest, ItsPathMayBeLong) {
  path_ = scratch_.path();
  for (int i = 0; i < 3; ++i) {
    path_ += "/" + std::string(60, 'x');
    ASSERT_EQ(mkdir(path_.c_str(), S_IRWXU), 0);
  }
  path_ += "/login";
  const auto server = LoginServer::Listen(loop_, tokens_, path_);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_TRUE(LogIn().ok());
}

}  // namespace
}  // namespace bspnow::coordinator
