// Puts a prefix before each line of a text that comes in pieces.
#ifndef CLIENT_VIEW_LINE_PREFIXER_H_
#define CLIENT_VIEW_LINE_PREFIXER_H_

#include <string>
#include <string_view>

namespace bspnow::client {

class LinePrefixer {
 public:
  explicit LinePrefixer(std::string prefix) : prefix_(std::move(prefix)) {}

  /// The text with its prefixes; a line that an earlier piece has begun is continued.
  std::string Add(std::string_view text);

  /// The line begun has been ended by somebody else: what follows is a new line.
  void BeginAnew() { inside_line_ = false; }

 private:
  std::string prefix_;
  bool inside_line_ = false;
};

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_LINE_PREFIXER_H_
