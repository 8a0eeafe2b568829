#include "client/view/open_line.h"

namespace bspnow::client {

std::optional<int> OpenLine::Next(int source, std::string_view text) {
  if (text.empty()) return std::nullopt;
  const std::optional<int> broken_off = source_ == source ? std::nullopt : source_;
  source_ = text.back() == '\n' ? std::nullopt : std::optional(source);
  return broken_off;
}

}  // namespace bspnow::client
