#include "runtime/link/known_descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>

#include "runtime/link/link.h"

namespace bspnow::runtime {
namespace {

constexpr rlim_t kNumbersMax = 1024;  // Higher ones would cost memory for the table of descriptors.
constexpr rlim_t kOurNumbers = 64;    // The highest of them.
static_assert(kLanesMax + kBulkLanesMax + 3 <= kOurNumbers, "link, doorbell, mailbox");

}  // namespace

KnownDescriptor::KnownDescriptor(int number) : number_(number) {
  struct stat status;
  if (number < 0 || fstat(number, &status) != 0) return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

KnownDescriptor KnownDescriptor::OutOfTheWay(UniqueFd descriptor) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t end = std::min(limit.rlim_cur, kNumbersMax);
  const int first = static_cast<int>(end - std::min(kOurNumbers, end / 2));
  UniqueFd moved(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, first));
  return KnownDescriptor(moved.valid() ? moved.Release() : descriptor.Release());
}

bool KnownDescriptor::StillOurs() const {
  struct stat status;
  return number_ >= 0 && fstat(number_, &status) == 0 && status.st_dev == device_ &&
         status.st_ino == inode_;
}

}  // namespace bspnow::runtime
