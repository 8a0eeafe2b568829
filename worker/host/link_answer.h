// What a process is answered over its link (runtime/link/link.h), with descriptors. A user may have
// as many of these on their way, over all his processes, as one process may have open: so there may
// be no room for a while.
#ifndef WORKER_HOST_LINK_ANSWER_H_
#define WORKER_HOST_LINK_ANSWER_H_

#include <cstddef>
#include <span>
#include <vector>

#include "base/unique_fd.h"

namespace bspnow::worker {

class LinkAnswer {
 public:
  /// Keeps copies of those descriptors that are valid. They come first.
  LinkAnswer(std::span<const std::byte> text, std::span<const int> descriptors);

  /// False, and errno: there is no room now. Of a receiver that is gone its exit tells.
  [[nodiscard]] bool Send(int link) const;

  static bool Send(int link, std::span<const std::byte> text, std::span<const int> descriptors);

 private:
  std::vector<std::byte> text_;
  std::vector<UniqueFd> descriptors_;
};

}  // namespace bspnow::worker

#endif  // WORKER_HOST_LINK_ANSWER_H_
