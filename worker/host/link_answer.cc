#include "worker/host/link_answer.h"

#include <errno.h>
#include <fcntl.h>

#include <algorithm>

#include "base/send_descriptors.h"

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
  const auto valid = descriptors.first(static_cast<std::size_t>(invalid - descriptors.begin()));
  if (SendDescriptors(link, text, valid, IfFull::kFail) >= 0) return true;
  return errno == EPIPE || errno == ECONNRESET || errno == EBADF;
}

}  // namespace bspnow::worker
