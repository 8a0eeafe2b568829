// A terminal taken over for a while: keys as they are pressed, another screen; then given back.
#ifndef CLIENT_VIEW_TERMINAL_SCREEN_H_
#define CLIENT_VIEW_TERMINAL_SCREEN_H_

#include <termios.h>

#include <string>

namespace bspnow::client {

/// Of the terminal of standard input.
class TerminalKeys {
 public:
  TerminalKeys();
  ~TerminalKeys();
  TerminalKeys(const TerminalKeys&) = delete;
  TerminalKeys& operator=(const TerminalKeys&) = delete;

  /// The key that was pressed, or 0 at the end of the input.
  char Read();

 private:
  termios before_{};
};

/// Of the terminal of standard output.
class TerminalScreen {
 public:
  TerminalScreen();
  ~TerminalScreen();
  TerminalScreen(const TerminalScreen&) = delete;
  TerminalScreen& operator=(const TerminalScreen&) = delete;

  /// Shows the lines of a text, as many and as much of each as fit.
  void Draw(const std::string& text);
};

/// The first `lines` lines of a text, each cut to `columns` characters (colours count nothing).
std::string CutToSize(const std::string& text, int lines, int columns);

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_TERMINAL_SCREEN_H_
