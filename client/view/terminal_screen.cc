#include "client/view/terminal_screen.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace bspnow::client {
namespace {

constexpr char kOtherScreen[] = "\033[?1049h\033[?25l";  // And no cursor.
constexpr char kOwnScreen[] = "\033[?25h\033[?1049l";
constexpr char kHome[] = "\033[H";
constexpr char kClearLine[] = "\033[K";
constexpr char kClearRest[] = "\033[J";
constexpr int kUsualLines = 24;
constexpr int kUsualColumns = 80;

void Put(const std::string& text) {
  fputs(text.c_str(), stdout);
  fflush(stdout);
}

}  // namespace

TerminalKeys::TerminalKeys() {
  tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

TerminalKeys::~TerminalKeys() { tcsetattr(STDIN_FILENO, TCSANOW, &before_); }

char TerminalKeys::Read() {
  char key = 0;
  return read(STDIN_FILENO, &key, 1) == 1 ? key : '\0';
}

TerminalScreen::TerminalScreen() { Put(kOtherScreen); }

TerminalScreen::~TerminalScreen() { Put(kOwnScreen); }

void TerminalScreen::Draw(const std::string& text) {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  std::string screen = kHome;
  for (const char c :
       CutToSize(text, known ? size.ws_row : kUsualLines, known ? size.ws_col : kUsualColumns)) {
    if (c == '\n') screen += kClearLine;
    screen += c;
  }
  Put(screen + kClearLine + kClearRest);
}

std::string CutToSize(const std::string& text, int lines, int columns) {
  std::string out;
  int line = 1;
  int column = 0;
  bool in_escape = false;
  for (const char c : text) {
    if (c == '\033') in_escape = true;
    const bool continues = (c & 0xc0) == 0x80;  // Of a character of several bytes.
    if (c == '\n') {
      if (++line > lines) break;
      column = 0;
      out += c;
    } else if (in_escape) {
      out += c;
    } else if ((continues ? column : ++column) <= columns) {
      out += c;
    }
    if (in_escape && c == 'm') in_escape = false;
  }
  return out;
}

}  // namespace bspnow::client
