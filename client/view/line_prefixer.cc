#include "client/view/line_prefixer.h"

#include <cstddef>

namespace bspnow::client {

std::string LinePrefixer::Add(std::string_view text) {
  std::string out;
  out.reserve(text.size() + prefix_.size());
  while (!text.empty()) {
    if (!inside_line_) out += prefix_;
    const std::size_t newline = text.find('\n');
    inside_line_ = newline == std::string_view::npos;
    const std::size_t bytes = inside_line_ ? text.size() : newline + 1;
    out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace bspnow::client
