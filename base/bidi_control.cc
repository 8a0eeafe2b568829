#include "base/bidi_control.h"

namespace bspnow {
namespace {

constexpr std::string_view kControls[] = {
    "\xd8\x9c",                                                                      // U+061C
    "\xe2\x80\x8e", "\xe2\x80\x8f",                                                  // U+200E, F
    "\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad", "\xe2\x80\xae",  // U+202A to E
    "\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8", "\xe2\x81\xa9",                  // U+2066 to 9
};

}  // namespace

std::size_t BidiControlBytes(std::string_view text) {
  for (const std::string_view control : kControls)
    if (text.starts_with(control)) return control.size();
  return 0;
}

}  // namespace bspnow
