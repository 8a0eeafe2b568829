#include "base/bidi_control.h"

namespace bspnow {
namespace {

unsigned char ByteOf(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

}  // namespace

// U+061C is D8 9C; U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069 begin with E2.
std::size_t BidiControlBytes(std::string_view text) {
  const unsigned char second = ByteOf(text, 1);
  const unsigned char third = ByteOf(text, 2);
  if (ByteOf(text, 0) == 0xd8 && second == 0x9c) return 2;
  if (ByteOf(text, 0) != 0xe2) return 0;
  const bool mark = second == 0x80 && (third == 0x8e || third == 0x8f);
  const bool embedding = second == 0x80 && third >= 0xaa && third <= 0xae;
  const bool isolate = second == 0x81 && third >= 0xa6 && third <= 0xa9;
  return mark || embedding || isolate ? 3 : 0;
}

}  // namespace bspnow
