// A table for a terminal: columns as wide as they need, a heading, states in colour if wanted.
#ifndef CLIENT_VIEW_TEXT_TABLE_H_
#define CLIENT_VIEW_TEXT_TABLE_H_

#include <string>
#include <vector>

namespace bspnow::client {

enum class Align { kLeft, kRight };
enum class Colour { kNone, kGood, kBusy, kBad, kFaint };
enum class Colours { kOff, kOn };

/// On if `fd` is a terminal that shows them and NO_COLOR is not set.
Colours ColoursFor(int fd);

struct TableColumn {
  std::string heading;
  Align align;
};

struct TableCell {
  std::string text;
  Colour colour = Colour::kNone;
};

class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns);

  void AddRow(std::vector<TableCell> cells);

  /// Lines with newlines; no blanks at their ends. All cells and headings are harmless.
  std::string Text(Colours colours) const;

 private:
  std::vector<TableColumn> columns_;
  std::vector<std::vector<TableCell>> rows_;
};

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_TEXT_TABLE_H_
