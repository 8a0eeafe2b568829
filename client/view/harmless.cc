#include "client/view/harmless.h"

#include <cstddef>
#include <string_view>

namespace bspnow::client {
namespace {

unsigned char ByteOf(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

/// In UTF-8: U+061C is D8 9C; U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069 begin with E2.
std::size_t BytesOfDirection(std::string_view text) {
  const unsigned char second = ByteOf(text, 1);
  const unsigned char third = ByteOf(text, 2);
  if (ByteOf(text, 0) == 0xd8 && second == 0x9c) return 2;
  if (ByteOf(text, 0) != 0xe2) return 0;
  const bool mark = second == 0x80 && (third == 0x8e || third == 0x8f);
  const bool embedding = second == 0x80 && third >= 0xaa && third <= 0xae;
  const bool isolate = second == 0x81 && third >= 0xa6 && third <= 0xa9;
  return mark || embedding || isolate ? 3 : 0;
}

}  // namespace

// In UTF-8 the second half of the control characters is C2 80 to C2 9F.
std::string Harmless(std::string text) {
  std::string harmless;
  unsigned char before = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const unsigned char c = ByteOf(text, at);
    const bool second_half = before == 0xc2 && c >= 0x80 && c < 0xa0;
    const std::size_t turns = BytesOfDirection(std::string_view(text).substr(at));
    before = c;
    if (turns > 0) at += turns - 1;
    harmless += c < ' ' || c == 0x7f || second_half || turns > 0 ? '?' : text[at];
  }
  return harmless;
}

}  // namespace bspnow::client
