#include "net/systemd_notify.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>
#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"

namespace bspnow {
namespace {

TEST(SystemdNotifyTest, WithoutSocketDoesNothing) {
  unsetenv("NOTIFY_SOCKET");
  EXPECT_TRUE(NotifySystemd("READY=1").ok());
}

TEST(SystemdNotifyTest, SendsOneDatagramToAbstractSocket) {
  const ScratchDirectory scratch;  // Its name is nobody else's, in no sandbox either.
  const std::string path = "@" + scratch.path();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path + 1, path.data() + 1, path.size() - 1);
  const UniqueFd listener(socket(AF_UNIX, SOCK_DGRAM, 0));
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), bytes), 0);
  setenv("NOTIFY_SOCKET", path.c_str(), 1);
  ASSERT_TRUE(NotifySystemd("READY=1").ok());
  char text[64];
  const ssize_t n = recv(listener.get(), text, sizeof(text), MSG_DONTWAIT);
  ASSERT_GT(n, 0);
  EXPECT_EQ(std::string(text, n), "READY=1");
}

TEST(SystemdNotifyTest, NamesSocketThatIsNotThere) {
  setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1);
  const absl::Status status = NotifySystemd("READY=1");
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.ToString().find("/nonexistent/notify"), std::string::npos);
}

}  // namespace
}  // namespace bspnow
