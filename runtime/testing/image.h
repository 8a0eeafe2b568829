// Stands for process_image.h in tests of libbsp: the image of a process is a forked child, which
// waits for the news that it has been restored; that of areas is a memfd. Either reaches the
// test over the socket that it gives out as the directory of images.
#ifndef RUNTIME_TESTING_IMAGE_H_
#define RUNTIME_TESTING_IMAGE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "base/unique_fd.h"

namespace bspnow::runtime {

/// Over the socket, once. Of kind kAreas it carries the memfd.
struct ImageForTest {
  std::uint32_t kind;  ///< ImageKind.
  std::uint32_t pid;
  std::uint32_t nprocs;
  pid_t os_pid;  ///< Of the child; 0 for areas.
  std::uint64_t checkpoint;
  std::uint64_t base;
  std::uint64_t superstep;
};

/// One message with a descriptor, or without if `fd` is -1.
void SendWithFd(int socket, const void* message, std::size_t bytes, int fd);

/// The same from the other end. Ends this process if there is none.
UniqueFd ReceiveWithFd(int socket, void* message, std::size_t bytes);

/// In a process: how many images it has taken, and how often it has been restored.
int ImagesTaken();
int TimesRestored();

/// In a restored process: whether nobody closed or unmapped what lies where its doorbell, the
/// directory of images and its segment were before.
bool StrangersAreIntact();

}  // namespace bspnow::runtime

#endif  // RUNTIME_TESTING_IMAGE_H_
