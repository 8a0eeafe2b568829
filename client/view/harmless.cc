#include "client/view/harmless.h"

namespace bspnow::client {

// In UTF-8 the second half of the control characters is C2 80 to C2 9F.
std::string Harmless(std::string text) {
  unsigned char before = 0;
  for (char& each : text) {
    const auto c = static_cast<unsigned char>(each);
    const bool second_half = before == 0xc2 && c >= 0x80 && c < 0xa0;
    before = c;
    if (c < ' ' || c == 0x7f || second_half) each = '?';
  }
  return text;
}

}  // namespace bspnow::client
