#include "client/view/harmless.h"

#include <cstddef>
#include <string_view>

#include "base/bidi_control.h"

namespace bspnow::client {

// In UTF-8 the second half of the control characters is C2 80 to C2 9F.
std::string Harmless(std::string text) {
  std::string harmless;
  unsigned char before = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    const bool second_half = before == 0xc2 && c >= 0x80 && c < 0xa0;
    const std::size_t turns = BidiControlBytes(std::string_view(text).substr(at));
    before = c;
    if (turns > 0) at += turns - 1;
    harmless += c < ' ' || c == 0x7f || second_half || turns > 0 ? '?' : text[at];
  }
  return harmless;
}

}  // namespace bspnow::client
