#include "client/view/text_table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "client/view/harmless.h"

namespace bspnow::client {
namespace {

// Code points; a table of names needs no more exact measure.
std::size_t Width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

const char* Code(Colour colour) {
  switch (colour) {
    case Colour::kGood:
      return "\033[32m";
    case Colour::kBusy:
      return "\033[33m";
    case Colour::kBad:
      return "\033[31m";
    case Colour::kFaint:
      return "\033[2m";
    case Colour::kNone:
      return "";
  }
  return "";
}

std::string Coloured(const TableCell& cell, Colours colours) {
  if (colours == Colours::kOff || cell.colour == Colour::kNone) return cell.text;
  return Code(cell.colour) + cell.text + "\033[0m";
}

}  // namespace

Colours ColoursFor(int fd) {
  const char* no_color = getenv("NO_COLOR");
  const char* terminal = getenv("TERM");
  const bool wanted = no_color == nullptr || *no_color == '\0';
  const bool able = terminal != nullptr && strcmp(terminal, "dumb") != 0;
  return wanted && able && isatty(fd) ? Colours::kOn : Colours::kOff;
}

TextTable::TextTable(std::vector<TableColumn> columns) : columns_(std::move(columns)) {
  for (TableColumn& column : columns_) column.heading = Harmless(std::move(column.heading));
}

void TextTable::AddRow(std::vector<TableCell> cells) {
  BSP_CHECK_OP(cells.size(), ==, columns_.size());
  for (TableCell& cell : cells) cell.text = Harmless(std::move(cell.text));
  rows_.push_back(std::move(cells));
}

std::string TextTable::Text(Colours colours) const {
  std::vector<std::vector<TableCell>> rows(1);
  for (const TableColumn& column : columns_) rows[0].push_back({column.heading, Colour::kNone});
  rows.insert(rows.end(), rows_.begin(), rows_.end());
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], Width(row[i].text));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - Width(row[i].text), ' ');
      if (i > 0) line += "  ";
      if (columns_[i].align == Align::kRight) line += padding;
      line += Coloured(row[i], colours);
      if (columns_[i].align == Align::kLeft) line += padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace bspnow::client
