#ifndef BASE_NO_DESCRIPTORS_FOR_TEST_H_
#define BASE_NO_DESCRIPTORS_FOR_TEST_H_

#include <fcntl.h>
#include <sys/resource.h>

#include "base/unique_fd.h"

namespace bspnow {

/// For tests: no file can be opened in this process while it lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const UniqueFd next(open("/dev/null", O_RDONLY | O_CLOEXEC));
    const rlimit full{static_cast<rlim_t>(next.get()), before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &full);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace bspnow

#endif  // BASE_NO_DESCRIPTORS_FOR_TEST_H_
