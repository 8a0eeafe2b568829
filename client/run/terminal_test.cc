#include "client/run/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace bspnow::client {
namespace {

TEST(TerminalTest, IsOneAlsoAfterItWasHungUp) {
  UniqueFd other_end(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_EQ(grantpt(other_end.get()), 0);
  ASSERT_EQ(unlockpt(other_end.get()), 0);
  const UniqueFd terminal(open(ptsname(other_end.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(terminal.valid());
  EXPECT_TRUE(IsOrWasTerminal(terminal.get()));
  other_end.Reset();
  EXPECT_FALSE(isatty(terminal.get()));
  EXPECT_TRUE(IsOrWasTerminal(terminal.get()));
}

TEST(TerminalTest, AFileOrADeviceIsNone) {
  const UniqueFd file(memfd_create("file", MFD_CLOEXEC));
  const UniqueFd device(open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {file.get(), device.get(), -1}) EXPECT_FALSE(IsOrWasTerminal(fd)) << fd;
}

}  // namespace
}  // namespace bspnow::client
