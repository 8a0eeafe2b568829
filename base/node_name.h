// What a node may be called. The worker asks before it goes to the coordinator, which asks again.
#ifndef BASE_NODE_NAME_H_
#define BASE_NODE_NAME_H_

#include <cstddef>
#include <string>

namespace bspnow {

inline constexpr std::size_t kNodeNameBytesMax = 64;
inline constexpr char kNodeNameRule[] = "a node's name is 1 to 64 of A-Z a-z 0-9 . _ -";

inline bool IsNodeName(const std::string& name) {
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !name.empty() && name.size() <= kNodeNameBytesMax &&
         name.find_first_not_of(kLetters) == std::string::npos;
}

}  // namespace bspnow

#endif  // BASE_NODE_NAME_H_
