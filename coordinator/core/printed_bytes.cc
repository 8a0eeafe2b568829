#include "coordinator/core/printed_bytes.h"

#include <utility>

namespace bspnow::coordinator {

void PrintedBytes::OnPrinted(const LogStream& stream, std::uint64_t end) {
  std::uint64_t& known = ends_[stream];
  if (end <= known) return;
  of_streams_ += end - known;
  known = end;
}

void PrintedBytes::OnCut(const std::vector<LogPosition>& positions) {
  const StreamEnds earlier = std::exchange(ends_, {});
  before_ = 0;
  of_streams_ = 0;
  for (const LogPosition& position : positions) {
    for (const auto& [origin, bytes] : {std::pair(LogOrigin::kStdout, position.stdout_bytes),
                                        std::pair(LogOrigin::kStderr, position.stderr_bytes)}) {
      const LogStream stream{position.pid, origin};
      OnPrinted(stream, bytes);
      const auto found = earlier.find(stream);
      if (position.left && found != earlier.end()) OnPrinted(stream, found->second);
    }
  }
}

}  // namespace bspnow::coordinator
