#include "worker/host/line_assembler.h"

#include <utility>

namespace bspnow::worker {

std::string LineAssembler::Add(std::string_view bytes) {
  std::string lines;
  for (;;) {
    const std::size_t newline = bytes.find('\n');
    if (newline == std::string_view::npos) break;
    if (!line_begun_) lines += prefix_;
    lines += std::exchange(partial_, {});
    lines += bytes.substr(0, newline + 1);
    line_begun_ = false;
    bytes.remove_prefix(newline + 1);
  }
  partial_ += bytes;
  if (partial_.size() > kLineBytesMax) lines += TakePartial();
  return lines;
}

std::string LineAssembler::TakePartial() {
  std::string text = line_begun_ ? std::string() : prefix_;
  text += std::exchange(partial_, {});
  line_begun_ = true;
  return text;
}

std::string LineAssembler::Finish() {
  if (partial_.empty()) return {};
  return TakePartial();
}

}  // namespace bspnow::worker
