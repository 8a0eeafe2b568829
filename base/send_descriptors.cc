#include "base/send_descriptors.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

namespace bspnow {

ssize_t SendDescriptors(int socket, std::span<const std::byte> bytes,
                        std::span<const int> descriptors, IfFull if_full) {
  constexpr std::size_t kDescriptorsMax = 253;  // SCM_MAX_FD of Linux.
  if (descriptors.size() > kDescriptorsMax) {
    errno = EINVAL;  // As the system says it.
    return -1;
  }
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kDescriptorsMax * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL | (if_full == IfFull::kFail ? MSG_DONTWAIT : 0));
}

}  // namespace bspnow
