// Whose line is open on a file to which the pieces of several sources go: text of another one
// begins on a line of its own.
#ifndef CLIENT_VIEW_OPEN_LINE_H_
#define CLIENT_VIEW_OPEN_LINE_H_

#include <optional>
#include <string_view>

namespace bspnow::client {

class OpenLine {
 public:
  /// Text of this source, any number, comes next. If the line of another one is open, a newline
  /// must come first: returns that source.
  std::optional<int> Next(int source, std::string_view text);

 private:
  std::optional<int> source_;  ///< Of a line that has no newline yet.
};

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_OPEN_LINE_H_
