#include "net/login/login.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/testing/scratch_directory.h"

namespace bspnow {
namespace {

class LoginTest : public testing::Test {
 protected:
  LoginTest() {
    setenv("HOME", scratch_.path().c_str(), 1);
    setenv("XDG_RUNTIME_DIR", scratch_.path().c_str(), 1);
  }

  std::string FileWith(const std::string& name, const std::string& text, mode_t mode) const {
    const std::string path = scratch_.path() + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  static absl::StatusOr<std::string> TokenOf(const std::string& coordinator,
                                             const LoginSettings& settings) {
    return TokenSource(coordinator, settings).Token();
  }

  const ScratchDirectory scratch_;
};

TEST_F(LoginTest, TakesTheTokenOfTheFileThatIsNamed) {
  const std::string file = FileWith("token", "secret\n", 0600);
  EXPECT_EQ(*TokenOf("far.example:7000", {.login_socket = "/none", .token_file = file}), "secret");
}

TEST_F(LoginTest, RefusesATokenThatOthersCanRead) {
  const std::string file = FileWith("token", "secret\n", 0640);
  const auto token = TokenOf("far.example:7000", {.login_socket = "", .token_file = file});
  EXPECT_EQ(token.status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_NE(token.status().message().find("chmod 600"), std::string::npos);
}

TEST_F(LoginTest, NamesAFileThatHoldsNone) {
  const std::string file = FileWith("token", "\n", 0600);
  EXPECT_NE(TokenOf("h:1", {.login_socket = "", .token_file = file}).status().message().find(file),
            std::string::npos);
  EXPECT_EQ(TokenOf("h:1", {.login_socket = "", .token_file = file + "x"}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(LoginTest, LeavesWhatIsNotNamedToACertificateThatIs) {
  FileWith(".config/bspnow/token", "usual", 0600);
  const std::string file = FileWith("token", "secret", 0600);
  LoginSettings settings;
  settings.unnamed = LoginSettings::Unnamed::kLeft;
  EXPECT_EQ(TokenOf("127.0.0.1:7000", settings).status().code(),
            absl::StatusCode::kUnauthenticated);
  settings.token_file = file;
  EXPECT_EQ(*TokenOf("127.0.0.1:7000", settings), "secret");
}

TEST_F(LoginTest, TakesTheUsualFileForAnotherMachine) {
  FileWith(".config/bspnow/token", "usual", 0600);
  EXPECT_EQ(*TokenOf("192.0.2.1:7000", {}), "usual");
}

TEST_F(LoginTest, SaysWhatWasTriedAndWhatToDo) {
  const auto token = TokenOf("127.0.0.1:7000", {});
  EXPECT_EQ(token.status().code(), absl::StatusCode::kUnauthenticated);
  for (const char* part : {"127.0.0.1:7000", "/login-7000.sock", "/.config/bspnow/token",
                           "BSP_LOGIN_SOCKET", "BSP_TOKEN_FILE"})
    EXPECT_NE(token.status().message().find(part), std::string::npos) << part << token.status();
}

// A user's own coordinator goes there when his last session ends.
TEST_F(LoginTest, APlaceInTmpComesAfterTheRuntimeDirectory) {
  if (geteuid() == 0) GTEST_SKIP() << "root's is in /run";
  const std::vector<std::string> sockets = LoginSocketsOf(7000);
  ASSERT_EQ(sockets.size(), 2u);
  EXPECT_EQ(sockets[0], scratch_.path() + "/bspnow/login-7000.sock");
  EXPECT_EQ(sockets[1].rfind("/tmp/bspnow-", 0), 0u);
}

TEST_F(LoginTest, ADirectoryThatOthersMayWriteToIsNotTrusted) {
  const std::string socket = scratch_.path() + "/own/login";
  ASSERT_TRUE(MakeLoginDirectory(socket).ok());
  ASSERT_TRUE(MakeLoginDirectory(socket).ok()) << "again";
  chmod((scratch_.path() + "/own").c_str(), 0777);
  EXPECT_EQ(MakeLoginDirectory(socket).code(), absl::StatusCode::kPermissionDenied);
}

// As /run/bspnow of a system service: its own directory, in one that only root may write to.
TEST_F(LoginTest, TrustsADirectoryOfAServiceWhereNobodyElseCouldHaveMadeIt) {
  constexpr uid_t kService = 65534;
  FileWith("bspnow/login-7000.sock", "", 0600);  // No socket: who tries it is refused.
  const std::string directory = scratch_.path() + "/bspnow";
  if (chown(directory.c_str(), kService, kService) != 0) GTEST_SKIP() << "takes root";
  EXPECT_EQ(TokenOf("127.0.0.1:7000", {}).status().code(), absl::StatusCode::kUnavailable);
  chmod(scratch_.path().c_str(), 0777);
  EXPECT_EQ(TokenOf("127.0.0.1:7000", {}).status().code(), absl::StatusCode::kUnauthenticated);
}

}  // namespace
}  // namespace bspnow
