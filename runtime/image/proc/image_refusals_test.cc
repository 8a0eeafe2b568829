#include "runtime/image/proc/image_refusals.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "base/mapped_region.h"
#include "runtime/testing/saved_process.h"

namespace bspnow::runtime {
namespace {

/// The image is refused, for this reason; and once it is gone there is an image.
void ExpectRefused(SavedProcess& process, const std::string& reason) {
  const LinkImageReport report = process.Save(1, 0);
  EXPECT_EQ(report.written, 0u);
  EXPECT_NE(std::string(report.reason).find(reason), std::string::npos) << report.reason;
}

/// A descriptor refuses the image by its number and what it is; closed, it does so no longer.
void ExpectDescriptorRefused(SavedProcess& process, UniqueFd file, const std::string& what) {
  ASSERT_TRUE(file.valid()) << errno;
  ExpectRefused(process, "descriptor " + std::to_string(file.get()) + " is " + what);
  file.Reset();
  process.SaveAndRead(2, 0);
}

TEST(ImageRefusalsTest, SocketIsNamed) {
  InProcess([](SavedProcess& process) {
    ExpectDescriptorRefused(process, UniqueFd(socket(AF_INET, SOCK_STREAM, 0)), "a socket");
  });
}

TEST(ImageRefusalsTest, PipeIsNamed) {
  InProcess([](SavedProcess& process) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    UniqueFd(ends[1]).Reset();
    ExpectDescriptorRefused(process, UniqueFd(ends[0]), "a pipe");
  });
}

TEST(ImageRefusalsTest, DescriptorsOfTheKernelAreNamed) {
  InProcess([](SavedProcess& process) {
    ExpectDescriptorRefused(process, UniqueFd(eventfd(0, 0)), "an eventfd");
    ExpectDescriptorRefused(process, UniqueFd(epoll_create1(0)), "an epoll descriptor");
    ExpectDescriptorRefused(process, UniqueFd(timerfd_create(CLOCK_MONOTONIC, 0)), "a timerfd");
    ExpectDescriptorRefused(process, UniqueFd(memfd_create("numbers", 0)), "a memfd (/memfd:num");
  });
}

TEST(ImageRefusalsTest, IoUringIsNamed) {
  InProcess([](SavedProcess& process) {
    char parameters[120] = {};
    UniqueFd ring(static_cast<int>(syscall(SYS_io_uring_setup, 1, parameters)));
    if (!ring.valid()) GTEST_SKIP() << "no io_uring here";
    ExpectDescriptorRefused(process, static_cast<UniqueFd&&>(ring), "an io_uring");
  });
}

TEST(ImageRefusalsTest, FileOfAControlGroupIsNamed) {
  InProcess([](SavedProcess& process) {
    for (const char* const path :
         {"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/cgroup.procs"}) {
      UniqueFd file(open(path, O_RDONLY));
      if (!file.valid()) continue;
      ExpectDescriptorRefused(process, static_cast<UniqueFd&&>(file),
                              std::string("a file of a control group of this node (") + path);
      return;
    }
    GTEST_SKIP() << "no control groups here";
  });
}

// Also one whose name /proc/self/maps has otherwise.
TEST(ImageRefusalsTest, FileThatIsMappedSharedAndOpenForWritingIsNamed) {
  for (const char* const name : {"/plain", "/two\nlines", "/back\\012slash"}) {
    InProcess([name](SavedProcess& process) {
      const std::string path = process.directory() + name;
      UniqueFd written(open(path.c_str(), O_RDWR | O_CREAT, 0600));
      ASSERT_EQ(ftruncate(written.get(), kImagePageBytes), 0);
      const UniqueFd read(open(path.c_str(), O_RDONLY));
      ASSERT_NE(mmap(nullptr, kImagePageBytes, PROT_READ, MAP_SHARED, read.get(), 0), MAP_FAILED);
      ExpectRefused(process, "memory mapped shared from a file that is open for writing");
      written.Reset();
      process.SaveAndRead(2, 0);
    });
  }
}

TEST(ImageRefusalsTest, TerminalIsNamed) {
  InProcess([](SavedProcess& process) {
    UniqueFd controller(posix_openpt(O_RDWR | O_NOCTTY));
    if (!controller.valid()) GTEST_SKIP() << "no terminals here";
    ExpectDescriptorRefused(process, static_cast<UniqueFd&&>(controller), "a terminal");
  });
}

TEST(ImageRefusalsTest, DeletedFileIsNamedByItsPath) {
  InProcess([](SavedProcess& process) {
    const std::string path = process.directory() + "/scratch";
    UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT, 0600));
    unlink(path.c_str());
    ExpectDescriptorRefused(process, static_cast<UniqueFd&&>(file),
                            "a file that was deleted or renamed (" + path);
  });
}

TEST(ImageRefusalsTest, ReplacedFileIsNamed) {
  InProcess([](SavedProcess& process) {
    const std::string path = process.directory() + "/scratch";
    UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT, 0600));
    const UniqueFd other(open((path + "2").c_str(), O_RDWR | O_CREAT, 0600));
    rename((path + "2").c_str(), path.c_str());
    ExpectDescriptorRefused(process, static_cast<UniqueFd&&>(file), "a file that was deleted");
  });
}

TEST(ImageRefusalsTest, LockIsNamed) {
  InProcess([](SavedProcess& process) {
    const std::string path = process.directory() + "/locked";
    UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT, 0600));
    ASSERT_EQ(flock(file.get(), LOCK_EX), 0);
    ExpectDescriptorRefused(process, static_cast<UniqueFd&&>(file), "a file with a lock");
  });
}

TEST(ImageRefusalsTest, SharedMemoryIsNamedByItsPlace) {
  InProcess([](SavedProcess& process) {
    const std::string path = process.directory() + "/shared";
    UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT, 0600));
    ASSERT_EQ(ftruncate(file.get(), kImagePageBytes), 0);
    MappedRegion shared = MappedRegion::Shared(file.get(), kImagePageBytes);
    ExpectRefused(process, "memory shared with others at ");
    ExpectRefused(process, "(" + path + ")");
    shared.Reset();
    process.SaveAndRead(2, 0);
  });
}

TEST(ImageRefusalsTest, AnonymousSharedMemoryIsRefused) {
  InProcess([](SavedProcess& process) {
    void* const at =
        mmap(nullptr, kImagePageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    ExpectRefused(process, "memory shared with others at ");
  });
}

TEST(ImageRefusalsTest, MemoryThatChildrenLackIsRefused) {
  InProcess([](SavedProcess& process) {
    MappedRegion region = MappedRegion::Private(kImagePageBytes);
    madvise(region.data(), region.bytes(), MADV_DONTFORK);
    ExpectRefused(process, "(MADV_DONTFORK) at ");
    region.Reset();
    process.SaveAndRead(2, 0);
  });
}

// The writer of an image is a child: it would write zeroes.
TEST(ImageRefusalsTest, MemoryThatChildrenFindEmptyIsRefused) {
  InProcess([](SavedProcess& process) {
    MappedRegion region = MappedRegion::Private(kImagePageBytes);
    if (madvise(region.data(), region.bytes(), MADV_WIPEONFORK) != 0)
      GTEST_SKIP() << "no MADV_WIPEONFORK here";
    ExpectRefused(process, "(MADV_WIPEONFORK) at ");
    region.Reset();
    process.SaveAndRead(2, 0);
  });
}

// Its owner finds it empty at any time. Newer C libraries have some, once random numbers were asked
// for.
TEST(ImageRefusalsTest, MemoryThatTheKernelMayDropIsSaved) {
  constexpr int kDroppable = 0x08;  // MAP_DROPPABLE, not in Debian 12's headers.
  InProcess([](SavedProcess& process) {
    void* const at =
        mmap(nullptr, kImagePageBytes, PROT_READ | PROT_WRITE, kDroppable | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) GTEST_SKIP() << "no droppable memory here";
    *static_cast<volatile char*>(at) = 1;
    process.SaveAndRead(1, 0);
  });
}

TEST(ImageRefusalsTest, FileThatMayBecomeWritableIsShared) {
  InProcess([](SavedProcess& process) {
    const std::string path = process.directory() + "/shared";
    UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT, 0600));
    ASSERT_EQ(ftruncate(file.get(), kImagePageBytes), 0);
    MappedRegion shared = MappedRegion::Shared(file.get(), kImagePageBytes);
    file.Reset();
    mprotect(shared.data(), shared.bytes(), PROT_READ);
    ExpectRefused(process, "memory shared with others at ");
  });
}

TEST(ImageRefusalsTest, HugePageFilesAreRefused) {
  InProcess([](SavedProcess& process) {
    constexpr std::size_t kHuge = std::size_t{2} << 20;
    void* const at = mmap(nullptr, kHuge, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) GTEST_SKIP() << "no huge pages here";
    ExpectRefused(process, "memory of huge pages at ");
  });
}

TEST(ImageRefusalsTest, RunningChildIsNamed) {
  InProcess([](SavedProcess& process) {
    const pid_t child = fork();
    if (child == 0) {
      pause();
      _exit(0);
    }
    ExpectRefused(process, "a child that was not waited for: ");
    ExpectRefused(process, "process " + std::to_string(child));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    process.SaveAndRead(2, 0);
  });
}

TEST(ImageRefusalsTest, ChildThatHasEndedIsRefusedUntilItIsWaitedFor) {
  InProcess([](SavedProcess& process) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
    ExpectRefused(process, "a child that was not waited for");
    waitpid(child, nullptr, 0);
    process.SaveAndRead(2, 0);
  });
}

TEST(ImageRefusalsTest, WriterIsNoChildOfTheProgram) {
  InProcess([](SavedProcess& process) {
    process.SaveAndRead(1, 0);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    process.SaveAndRead(2, 0);
  });
}

TEST(ImageRefusalsTest, OtherThreadsAreCounted) {
  InProcess([](SavedProcess& process) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const auto wait = [](int file) {
      char byte;
      EXPECT_EQ(read(file, &byte, 1), 0);
    };
    {
      const UniqueFd end(ends[0]);
      std::jthread first(wait, ends[0]);
      std::jthread second(wait, ends[0]);
      ExpectRefused(process, "the process has 2 other threads");
      UniqueFd(ends[1]).Reset();
    }
    process.SaveAndRead(2, 0);
  });
}

TEST(ImageRefusalsTest, PosixTimerIsNamed) {
  InProcess([](SavedProcess& process) {
    timer_t timer;
    sigevent event{};
    event.sigev_notify = SIGEV_NONE;
    ASSERT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    ExpectRefused(process, "a POSIX timer");
    timer_delete(timer);
    process.SaveAndRead(2, 0);
  });
}

TEST(ImageRefusalsTest, RobustMutexIsRefusedWhileItIsHeld) {
  InProcess([](SavedProcess& process) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_t mutex;
    pthread_mutex_init(&mutex, &kind);
    pthread_mutex_lock(&mutex);
    ExpectRefused(process, "a robust mutex");
    pthread_mutex_unlock(&mutex);
    process.SaveAndRead(2, 0);
  });
}

TEST(ImageRefusalsTest, DeletedDirectoryIsRefused) {
  InProcess([](SavedProcess& process) {
    const std::string path = process.directory() + "/here";
    ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
    ASSERT_EQ(chdir(path.c_str()), 0);
    rmdir(path.c_str());
    ExpectRefused(process, "working directory was deleted");
  });
}

}  // namespace
}  // namespace bspnow::runtime
