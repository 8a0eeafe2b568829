#include "base/disk_room.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"

namespace bspnow {
namespace {

constexpr int kNoDisk = 77;

/// In a child, which alone sees the small disk: 0 if a lack of inodes there is told from one of
/// bytes.
int OnASmallDisk(const std::string& directory) {
  const bool own = unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
  if (!own || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", directory.c_str(), "tmpfs", 0, "size=1m,nr_inodes=100") != 0)
    return kNoDisk;
  if (!LackOfInodes(ENOSPC, directory).empty()) return 1;
  UniqueFd file;
  for (int number = 0; number == 0 || file.valid(); ++number)
    file = UniqueFd(
        open((directory + "/" + std::to_string(number)).c_str(), O_WRONLY | O_CREAT, 0600));
  if (errno != ENOSPC) return 2;
  if (LackOfInodes(ENOSPC, directory + "/none/below").find("inodes") == std::string::npos) return 3;
  if (!LackOfInodes(EACCES, directory).empty()) return 4;
  const auto room = RoomAt(directory);
  return room && room->inodes == 100 && room->free_inodes == 0 && room->lacks_inodes() ? 0 : 5;
}

TEST(DiskRoomTest, TellsALackOfInodesFromOneOfBytes) {
  const ScratchDirectory scratch;
  const pid_t child = fork();
  if (child == 0) _exit(OnASmallDisk(scratch.path()));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoDisk) GTEST_SKIP() << "no disk may be mounted here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace bspnow
