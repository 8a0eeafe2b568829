#include "coordinator/core/printed_bytes.h"

namespace bspnow::coordinator {

void PrintedBytes::OnPrinted(const LogStream& stream, std::uint64_t end) {
  std::uint64_t& known = ends_[stream];
  if (end <= known) return;
  of_streams_ += end - known;
  known = end;
}

void PrintedBytes::OnCut(const StreamEnds& kept) {
  *this = {};
  for (const auto& [stream, end] : kept) OnPrinted(stream, end);
}

}  // namespace bspnow::coordinator
