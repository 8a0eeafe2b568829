#include "worker/host/link_answer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/check.h"

namespace bspnow::worker {

LinkAnswer::LinkAnswer(std::span<const std::byte> text, std::span<const int> descriptors)
    : text_(text.begin(), text.end()) {
  for (const int descriptor : descriptors)
    if (descriptor >= 0) descriptors_.emplace_back(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
}

bool LinkAnswer::Send(int link) const {
  std::vector<int> numbers;
  for (const UniqueFd& descriptor : descriptors_) {
    if (!descriptor.valid()) {  // It could not even be copied; without it the answer is another.
      errno = EMFILE;
      return false;
    }
    numbers.push_back(descriptor.get());
  }
  return Send(link, text_, numbers);
}

bool LinkAnswer::Send(int link, std::span<const std::byte> text, std::span<const int> descriptors) {
  const auto invalid = std::find(descriptors.begin(), descriptors.end(), -1);
  const auto bytes = sizeof(int) * static_cast<std::size_t>(invalid - descriptors.begin());
  alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))] = {};
  BSP_CHECK_OP(CMSG_SPACE(bytes), <=, sizeof control);
  iovec part{const_cast<std::byte*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (bytes > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(header), descriptors.data(), bytes);
  }
  if (sendmsg(link, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return true;
  return errno == EPIPE || errno == ECONNRESET || errno == EBADF;
}

}  // namespace bspnow::worker
