// Characters that turn the direction of text: by one of them in a name the rest of its line reads
// otherwise, on a terminal or in a log.
#ifndef BASE_BIDI_CONTROL_H_
#define BASE_BIDI_CONTROL_H_

#include <cstddef>
#include <string_view>

namespace bspnow {

/// Of the one with which this text begins, in UTF-8; 0: it begins otherwise.
std::size_t BidiControlBytes(std::string_view text);

}  // namespace bspnow

#endif  // BASE_BIDI_CONTROL_H_
