#include "coordinator/access/login_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/clock.h"
#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"
#include "net/login/login.h"
#include "net/login/unix_address.h"

namespace bspnow::coordinator {
namespace {

using enum LoginServer::Directories;

class LoginServerTest : public testing::Test {
 protected:
  /// What a client gets, in a process of this user.
  absl::StatusOr<std::string> LogIn() {
    return TokenSource("127.0.0.1:1", {.login_socket = path_, .token_file = ""}).Token();
  }

  /// For ten seconds at most.
  static void Await(const std::function<bool()>& done) {
    EventLoop loop;
    const std::function<void()> look = [&] {
      done() ? loop.Stop() : static_cast<void>(loop.AddTimer(10, look));
    };
    loop.AddTimer(10'000, [&loop] { loop.Stop(); });
    loop.AddTimer(0, look);
    loop.Run();
  }

  const ScratchDirectory scratch_;
  std::string path_ = scratch_.path() + "/login";
  const std::shared_ptr<const LoginTokens> tokens_ = std::make_shared<const LoginTokens>();
};

TEST_F(LoginServerTest, GivesATokenThatNamesWhoConnected) {
  const auto server = LoginServer::Listen(tokens_, {path_}, kAreThere);
  ASSERT_TRUE(server.ok()) << server.status();
  const auto token = LogIn();
  ASSERT_TRUE(token.ok()) << token.status();
  const auto caller = tokens_->CallerOf(*token, NowNs());
  ASSERT_TRUE(caller.has_value());
  EXPECT_EQ(caller->user, CallerOfUser(geteuid())->user);
  EXPECT_EQ(caller->scopes, kAllScopes) << "he runs the coordinator";
}

TEST_F(LoginServerTest, OtherUsersMaySubmitAndNoMore) {
  constexpr uid_t kUnknown = 4'000'000;
  EXPECT_EQ(CallerOfUser(kUnknown)->user, "uid-4000000");
  EXPECT_EQ(CallerOfUser(kUnknown)->scopes, kScopesOfUser);
  EXPECT_EQ(CallerOfUser(0)->scopes, kAllScopes);
}

TEST_F(LoginServerTest, TakesThePlaceOfOneThatIsGoneAndLeavesNothing) {
  {
    const UniqueFd left(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = UnixAddress::Of(path_);
    ASSERT_EQ(bind(left.get(), address->get(), address->size()), 0);
  }
  {
    const auto server = LoginServer::Listen(tokens_, {path_}, kAreThere);
    ASSERT_TRUE(server.ok()) << server.status();
    struct stat found {};
    ASSERT_EQ(stat(path_.c_str(), &found), 0);
    EXPECT_TRUE(S_ISSOCK(found.st_mode));
    EXPECT_EQ(found.st_mode & 0777, 0666u) << "all users of the machine may connect";
  }
  EXPECT_NE(access(path_.c_str(), F_OK), 0);
}

TEST_F(LoginServerTest, LeavesTheSocketOfOneThatServes) {
  const auto server = LoginServer::Listen(tokens_, {path_}, kAreThere);
  ASSERT_TRUE(server.ok()) << server.status();
  const auto of_another = std::make_shared<const LoginTokens>();
  EXPECT_TRUE(
      absl::IsFailedPrecondition(LoginServer::Listen(of_another, {path_}, kAreThere).status()));
  const auto token = LogIn();
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_TRUE(tokens_->CallerOf(*token, NowNs()).has_value());
}

TEST_F(LoginServerTest, LeavesAFileThatIsNoSocket) {
  std::ofstream(path_) << "mine";
  EXPECT_TRUE(
      absl::IsFailedPrecondition(LoginServer::Listen(tokens_, {path_}, kAreThere).status()));
  EXPECT_EQ(std::filesystem::file_size(path_), 4u);
}

TEST_F(LoginServerTest, SaysWhereItCannotListen) {
  const auto nowhere = LoginServer::Listen(tokens_, {scratch_.path() + "/none/login"}, kAreThere);
  EXPECT_NE(nowhere.status().message().find("/none/login"), std::string::npos) << nowhere.status();
}

// /tmp is cleaned; or the last session of the user ends, and his runtime directory with it.
TEST_F(LoginServerTest, ListensAnewWhereItsSocketIsGone) {
  const std::string first = scratch_.path() + "/first";
  ASSERT_EQ(mkdir(first.c_str(), S_IRWXU), 0);
  const std::string second = path_;
  path_ = first + "/login";
  const auto server = LoginServer::Listen(tokens_, {path_, second}, kAreThere);
  ASSERT_TRUE(server.ok()) << server.status();
  const auto can_log_in = [this] {
    Await([this] { return LogIn().ok(); });
    return LogIn();
  };
  unlink(path_.c_str());
  EXPECT_TRUE(can_log_in().ok());
  std::filesystem::remove_all(first);
  std::ofstream{first} << "nobody makes a directory here";
  path_ = second;
  EXPECT_TRUE(can_log_in().ok());
  std::filesystem::remove(first);
  ASSERT_EQ(mkdir(first.c_str(), S_IRWXU), 0);
  path_ = first + "/login";
  EXPECT_TRUE(can_log_in().ok()) << "where others look";
}

TEST_F(LoginServerTest, IsReleasedWithoutItsSocket) {
  auto server = LoginServer::Listen(tokens_, {path_}, kAreThere);
  ASSERT_TRUE(server.ok()) << server.status();
  LoginServer::Release(*std::move(server));
  const auto is_gone = [this] { return access(path_.c_str(), F_OK) != 0; };
  Await(is_gone);
  EXPECT_TRUE(is_gone());
}

TEST_F(LoginServerTest, ItsPathMayBeLong) {
  path_ = scratch_.path();
  for (int i = 0; i < 3; ++i) {
    path_ += "/" + std::string(60, 'x');
    ASSERT_EQ(mkdir(path_.c_str(), S_IRWXU), 0);
  }
  path_ += "/login";
  const auto server = LoginServer::Listen(tokens_, {path_}, kAreThere);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_TRUE(LogIn().ok());
}

}  // namespace
}  // namespace bspnow::coordinator
