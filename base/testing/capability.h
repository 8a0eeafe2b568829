// For tests of what root does where it may not do all.
#ifndef BASE_CAPABILITY_FOR_TEST_H_
#define BASE_CAPABILITY_FOR_TEST_H_

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bspnow {

/// This thread has it no more (capabilities(7)): CAP_SYS_ADMIN, say. For good.
inline bool DropCapability(int capability) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, sets) != 0) return false;
  __user_cap_data_struct& set = sets[CAP_TO_INDEX(capability)];
  set.effective &= ~CAP_TO_MASK(capability);
  set.permitted &= ~CAP_TO_MASK(capability);
  set.inheritable &= ~CAP_TO_MASK(capability);
  return syscall(SYS_capset, &header, sets) == 0;
}

}  // namespace bspnow

#endif  // BASE_CAPABILITY_FOR_TEST_H_
